// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/checked.hpp"
#include "core/first_error.hpp"
#include "stepwell/tall.hpp"
#include "stepwell/view.hpp"

namespace stepwell::core {

/// A view of some rows of a tall matrix, with all columns.
struct RowBlock {
  /// A column-major view of the rows, or of their transpose if 'by_rows'.
  MatrixView<const double> stored;
  bool by_rows = false;

  std::int64_t rows() const { return by_rows ? stored.cols : stored.rows; }
  std::int64_t cols() const { return by_rows ? stored.rows : stored.cols; }
  double operator()(std::int64_t i, std::int64_t j) const {
    return by_rows ? stored(j, i) : stored(i, j);
  }
  RowBlock block(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) const {
    return {by_rows ? stored.block(j, i, n, m) : stored.block(i, j, m, n), by_rows};
  }
};

/// Whether A is stored by rows. A single column whose strides are both 1 is treated as stored by
/// rows, because its row stride is then a valid leading dimension.
inline bool stored_by_rows(const TallMatrix& a) {
  return a.data == nullptr || (a.col_stride == 1 && (a.row_stride != 1 || a.cols == 1));
}

/// Rows [first, first + count) of a matrix in memory.
inline RowBlock rows_of(const TallMatrix& a, std::int64_t first, std::int64_t count) {
  if (stored_by_rows(a)) {
    return {{a.data + first * a.row_stride, a.cols, count, a.row_stride}, true};
  }
  return {{a.data + first, count, a.cols, a.col_stride}, false};
}

/// Reads rows of a tall matrix, from any thread. If A is given by a function of the caller, the
/// function is called by one thread at a time; an exception that it throws is kept for rethrow(),
/// because jobs of a thread pool must not throw.
class RowReader {
 public:
  explicit RowReader(const TallMatrix& a) : a_(a) {}

  std::int64_t rows() const { return a_.rows; }
  std::int64_t cols() const { return a_.cols; }
  bool by_rows() const { return stored_by_rows(a_); }
  /// From now on column j is multiplied by 2^exponent[j] when it is read; this needs a copy.
  void scale(const std::vector<int>& exponent);
  /// Elements of scratch memory needed to read 'count' rows; 0 if they can be used in place.
  std::int64_t scratch(std::int64_t count) const {
    const bool copied = a_.data == nullptr || !power_.empty();
    return copied ? size_product(count, a_.cols, "rows of A") : 0;
  }
  /// Rows [first, first + count), in place or copied to 'scratch'. Zeros after reading has failed.
  RowBlock read(std::int64_t first, std::int64_t count, double* scratch);

  /// Prefetch hint: these rows will be read soon. For a mapped file, they are fetched meanwhile.
  void expect(std::int64_t first, std::int64_t count) const;

  bool failed() const { return error_.failed(); }
  /// Rethrows the exception of A's function, if it has thrown one.
  void rethrow() const { error_.rethrow(); }

 private:
  RowBlock rows_as_given(std::int64_t first, std::int64_t count, double* scratch);

  const TallMatrix& a_;
  std::vector<std::array<double, 2>> power_;  ///< factors of each column; empty: not scaled
  std::mutex mutex_;
  FirstError error_;
};

}  // namespace stepwell::core
