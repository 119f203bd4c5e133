// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include "stepwell/view.hpp"

namespace stepwell {

/// A non-owning view of a matrix with many rows: in memory by columns or by rows, mapped from a
/// file, or supplied by a function. It is read in blocks of rows, several times, and never written.
/// Plain data; the functions that take it check it.
struct TallMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  const double* data = nullptr;  ///< null: 'read' supplies the elements
  std::int64_t row_stride = 1;   ///< distance between elements (i, j) and (i + 1, j)
  std::int64_t col_stride = 0;   ///< distance between (i, j) and (i, j + 1); one stride must be 1
  /// Fills 'out' with the rows [first, first + count), one after the other, each of 'cols'
  /// elements. Called from any thread, but never concurrently, with any 'first'; it must return the
  /// same values in every pass. An exception that it throws ends the call and reaches the caller.
  std::function<void(std::int64_t first, std::int64_t count, double* out)> read;

  TallMatrix() = default;
  /// A matrix stored by columns.
  TallMatrix(MatrixView<const double> a)
      : rows(a.rows), cols(a.cols), data(a.data), col_stride(a.ld) {}
  TallMatrix(MatrixView<double> a) : TallMatrix(MatrixView<const double>(a)) {}
};

/// A matrix stored by rows, as in C and NumPy; 'stride' is the distance between two rows.
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

/// A matrix that a function supplies, see TallMatrix::read.
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
