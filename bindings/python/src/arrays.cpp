// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"

#include <algorithm>

#include "stepwell/error.hpp"

namespace stepwell::python {
namespace {

// The distance between 'count' lines of 'length' contiguous elements each. With at most one line,
// or with empty lines, NumPy's stride may have any value and is ignored.
std::int64_t distance(std::int64_t length, std::int64_t count, std::int64_t stride) {
  return count > 1 && length > 0 ? stride : std::max<std::int64_t>(length, 1);
}

void require(bool contiguous) {
  if (!contiguous) {
    throw Error(ErrorCode::invalid_argument,
                "the array's columns are not contiguous; use the functions of the package "
                "'stepwell', which copy such arrays");
  }
}

template <class T>
MatrixView<T> view_of(const Matrix<T>& a) {
  const auto rows = static_cast<std::int64_t>(a.shape(0));
  const auto cols = static_cast<std::int64_t>(a.shape(1));
  require(rows <= 1 || cols == 0 || a.stride(0) == 1);
  return {a.data(), rows, cols, distance(rows, cols, a.stride(1))};
}

}  // namespace

MatrixView<const double> columns_of(const Matrix<const double>& a) {
  return view_of(a);
}
MatrixView<double> columns_of(const Matrix<double>& a) {
  return view_of(a);
}

TallMatrix tall_of(const Matrix<const double>& a) {
  const auto rows = static_cast<std::int64_t>(a.shape(0));
  const auto cols = static_cast<std::int64_t>(a.shape(1));
  if (rows <= 1 || cols == 0 || a.stride(0) == 1) return view_of(a);
  require(cols <= 1 || a.stride(1) == 1);
  return by_rows(a.data(), rows, cols, distance(cols, rows, a.stride(0)));
}

template <class T>
BatchView<T> batch_of(const Matrices<T>& a) {
  const auto count = static_cast<std::int64_t>(a.shape(0));
  const auto rows = static_cast<std::int64_t>(a.shape(1));
  const auto cols = static_cast<std::int64_t>(a.shape(2));
  if (a.size() == 0) return batch(a.data(), count, rows, cols);
  require(rows <= 1 || a.stride(1) == 1);
  const std::int64_t ld = distance(rows, cols, a.stride(2));
  return batch(a.data(), count, rows, cols, ld, distance(ld * cols, count, a.stride(0)));
}

template BatchView<double> batch_of(const Matrices<double>& a);
template BatchView<const double> batch_of(const Matrices<const double>& a);
template BatchView<float> batch_of(const Matrices<float>& a);
template BatchView<const float> batch_of(const Matrices<const float>& a);

}  // namespace stepwell::python
