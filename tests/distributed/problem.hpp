// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "core/buffer.hpp"
#include "factor/distributed/cholesky.hpp"
#include "gallery/recipe.hpp"

namespace stepwell::distributed::test {

/// A matrix of the gallery, complete on every rank and also available tile by tile.
class Problem {
 public:
  explicit Problem(std::int64_t n, gallery::Kind kind = gallery::Kind::arithmetic,
                   double condition = 1e2)
      : n_(n), memory_(n * n) {
    gallery::Recipe recipe;
    recipe.kind = kind;
    recipe.condition = condition;
    gallery::fill(a(), recipe);
  }
  MatrixView<double> a() const { return view(memory_.data(), n_, n_); }
  FillTile fill() const {
    return [a = a()](std::int64_t row, std::int64_t col, MatrixView<double> tile) {
      for (std::int64_t j = 0; j < tile.cols; ++j) {
        std::copy_n(a.column(col + j) + row, tile.rows, tile.column(j));
      }
    };
  }

 private:
  std::int64_t n_;
  core::Buffer<double> memory_;
};

}  // namespace stepwell::distributed::test
