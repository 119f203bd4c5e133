// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

namespace stepwell {

/// A non-owning view of a column-major matrix: element (i, j) is data[i + j * ld].
///
/// Sizes are 64-bit everywhere: n = 46,341, whose square overflows a 32-bit int, is not special. A
/// view checks nothing; the functions of the library check their arguments. A view is four words
/// and cheap to copy.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;  ///< distance between columns in elements, at least rows

  T& operator()(std::int64_t i, std::int64_t j) const { return data[i + j * ld]; }

  T* column(std::int64_t j) const { return data + j * ld; }

  /// The m-by-n block whose first element is (i, j).
  MatrixView block(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) const {
    return {data + i + j * ld, m, n, ld};
  }

  bool empty() const { return rows == 0 || cols == 0; }

  operator MatrixView<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, cols, ld};
  }
};

/// The triangle of a symmetric matrix that is read and, in a batch, holds the factor: L in the
/// lower triangle or U = L' in the upper one.
enum class Triangle : unsigned char { lower, upper };

/// The view of a contiguous column-major array (ld = rows).
template <class T>
MatrixView<T> view(T* data, std::int64_t rows, std::int64_t cols) {
  return {data, rows, cols, rows > 0 ? rows : 1};
}

/// The view of a column-major array with leading dimension ld.
template <class T>
MatrixView<T> view(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return {data, rows, cols, ld};
}

static_assert(std::is_trivially_copyable_v<MatrixView<double>>);
static_assert(std::is_standard_layout_v<MatrixView<const float>>);

}  // namespace stepwell
