// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "stepwell/view.hpp"

namespace stepwell::core {

/// Part of a matrix: all of it, or a triangle including the diagonal.
enum class Part : unsigned char { all, lower, upper };

/// The rows of column j that belong to a part of a matrix with m rows.
struct RowRange {
  std::int64_t first = 0, end = 0;
};
inline RowRange rows_of(Part part, std::int64_t j, std::int64_t m) {
  return {part == Part::lower ? j : 0, part == Part::upper ? std::min(j + 1, m) : m};
}

/// out(i, j) = a(j, i) for (i, j) in 'part'. No other elements of 'a' are read or of 'out' written.
inline void transpose(MatrixView<const double> a, MatrixView<double> out, Part part = Part::all) {
  constexpr std::int64_t kBlock = 32;  // order of a block: the blocks of a and out stay in L1
  for (std::int64_t j0 = 0; j0 < out.cols; j0 += kBlock) {
    for (std::int64_t i0 = 0; i0 < out.rows; i0 += kBlock) {
      for (std::int64_t j = j0; j < std::min(j0 + kBlock, out.cols); ++j) {
        const auto [first, end] = rows_of(part, j, out.rows);
        const std::int64_t last = std::min(i0 + kBlock, end);
        for (std::int64_t i = std::max(i0, first); i < last; ++i) out(i, j) = a(j, i);
      }
    }
  }
}

}  // namespace stepwell::core
