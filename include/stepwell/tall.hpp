// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include "stepwell/view.hpp"

namespace stepwell {

/// A matrix of many rows that somebody else owns: in memory by columns or by rows, mapped from a
/// file, or given by a function. It is read in blocks of rows, several times over, and never
/// written. Plain data; the entry points check it.
struct TallMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  const double* data = nullptr;  ///< null: 'read' gives the numbers
  std::int64_t row_stride = 1;   ///< from a number to the one below it, in elements
  std::int64_t col_stride = 0;   ///< from a number to the one beside it; one of the two is 1
  /// Fills 'out' with the rows [first, first + count), one after the other, each of 'cols' numbers.
  /// Called from any thread, never from two at once, with any first, at each pass the same numbers.
  /// What it throws ends the call and reaches the caller.
  std::function<void(std::int64_t first, std::int64_t count, double* out)> read;

  TallMatrix() = default;
  /// By columns.
  TallMatrix(MatrixView<const double> a)
      : rows(a.rows), cols(a.cols), data(a.data), col_stride(a.ld) {}
  TallMatrix(MatrixView<double> a) : TallMatrix(MatrixView<const double>(a)) {}
};

/// A matrix stored by rows, as C and NumPy do; 'stride' from one row to the next.
inline TallMatrix by_rows(const double* data, std::int64_t rows, std::int64_t cols,
                          std::int64_t stride) {
  TallMatrix a;
  a.rows = rows;
  a.cols = cols;
  a.data = data;
  a.row_stride = stride;
  a.col_stride = 1;
  return a;
}
inline TallMatrix by_rows(const double* data, std::int64_t rows, std::int64_t cols) {
  return by_rows(data, rows, cols, cols);
}

/// A matrix that a function gives.
inline TallMatrix from_function(
    std::int64_t rows, std::int64_t cols,
    std::function<void(std::int64_t first, std::int64_t count, double* out)> read) {
  TallMatrix a;
  a.rows = rows;
  a.cols = cols;
  a.row_stride = cols;
  a.col_stride = 1;
  a.read = std::move(read);
  return a;
}

}  // namespace stepwell
