// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "factor/uses/open_factor.hpp"

namespace stepwell::factor {

/// A factor at fp64 during a call that changes it. Everything that can fail comes before the first
/// change.
class ChangingFactor {
 public:
  /// As OpenFactor.
  ChangingFactor(Factor& factor, const EngineOptions& with, const std::string& what);

  FactorData& data() { return data_; }
  OpenFactor& open() { return open_; }

  /// D P V with the scale of L. Throws Error(invalid_argument) if V has another number of rows, an
  /// element that is not finite, or one so large that L L' + V V' may overflow.
  core::Buffer<double> scaled(MatrixView<const double> v);

  /// Writes the new state to the report. 'columns': those of a rank-k change; 0: none.
  void report_change(std::int64_t columns);

 private:
  FactorData& data_;
  OpenFactor open_;
  const std::string what_;
};

/// S -= X'X in the lower triangle. X: n x k. Cost: n k^2.
void subtract_gram(engine::ThreadPool& pool, MatrixView<const double> x, MatrixView<double> s);

/// Copies the elements of a column of L in these rows, which are ascending and not above it.
void copy_column(const tiles::TileMatrix& l, std::int64_t column,
                 std::span<const std::int64_t> rows, double* out);

/// Rows and columns 'kept' of L, in ascending order, in a matrix of at least as many rows; further
/// rows have anything.
tiles::TileMatrix selected(engine::ThreadPool& pool, const tiles::TileMatrix& l,
                           std::span<const std::int64_t> kept, const tiles::Grid& grid);

}  // namespace stepwell::factor
