// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "stepwell/export.hpp"
#include "stepwell/solve.hpp"
#include "stepwell/tall.hpp"
#include "stepwell/view.hpp"

/// Matrices stored by rows, as in C and NumPy.
namespace stepwell {

/// A non-owning view of a row-major matrix: element (i, j) is data[i * ld + j]. It checks nothing.
template <class T>
struct RowMajorView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;  ///< distance between rows in elements, at least cols

  T& operator()(std::int64_t i, std::int64_t j) const { return data[i * ld + j]; }

  /// The same memory read by columns: the transpose.
  MatrixView<T> transpose() const { return {data, cols, rows, ld}; }

  operator RowMajorView<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, cols, ld};
  }
  /// Least squares read a matrix in either order.
  operator TallMatrix() const { return by_rows(data, rows, cols, ld); }
};

/// The view of a contiguous row-major array (ld = cols).
template <class T>
RowMajorView<T> row_major(T* data, std::int64_t rows, std::int64_t cols) {
  return {data, rows, cols, cols > 0 ? cols : 1};
}

/// The view of a row-major array with a distance of 'ld' elements between rows.
template <class T>
RowMajorView<T> row_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return {data, rows, cols, ld};
}

/// The options with which A, stored by rows, is solved when its memory is read by columns: A is the
/// transpose of that matrix, and its triangles are exchanged. To reuse a factor:
///   Solver solver(a.transpose(), for_transpose(options, structure), structure);
/// The place (row, col) that its certificates name is then (col, row) of A.
inline SolveOptions for_transpose(SolveOptions options, Structure structure) {
  options.transposed = !options.transposed;
  if (structure == Structure::spd) {
    const bool lower = options.triangle == Triangle::lower;
    options.triangle = lower ? Triangle::upper : Triangle::lower;
  }
  return options;
}

/// solve() in solve.hpp for A stored by rows; B and X are stored by columns. A is not copied,
/// except for Structure::spd with Triangle::lower; if both triangles are filled, pass
/// Triangle::upper.
STEPWELL_API Certificate solve(RowMajorView<const double> a, MatrixView<const double> b,
                               MatrixView<double> x, const SolveOptions& options = {},
                               Structure structure = Structure::automatic);

/// The same with B and X stored by rows. They are copied: 16 bytes per element of X.
STEPWELL_API Certificate solve(RowMajorView<const double> a, RowMajorView<const double> b,
                               RowMajorView<double> x, const SolveOptions& options = {},
                               Structure structure = Structure::automatic);

}  // namespace stepwell
