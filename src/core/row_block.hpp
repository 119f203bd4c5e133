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

/// Some rows of a tall matrix, all columns, where they lie.
struct RowBlock {
  /// As a column-major matrix: the rows themselves, or, if 'by_rows', their transpose.
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

/// Whether A's rows lie one after the other. A single column without gaps is both: by rows the
/// stride fits.
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

/// Reads rows for any thread. A function of the caller's is called by one thread at a time; what it
/// throws is kept until somebody can throw it on: jobs of a pool must not.
class RowReader {
 public:
  explicit RowReader(const TallMatrix& a) : a_(a) {}

  std::int64_t rows() const { return a_.rows; }
  std::int64_t cols() const { return a_.cols; }
  bool by_rows() const { return stored_by_rows(a_); }
  /// From now on column j is multiplied by 2^exponent[j] as it is read, which costs a copy.
  void scale(const std::vector<int>& exponent);
  /// Numbers of scratch that reading 'count' rows takes; none where they are in memory as they are.
  std::int64_t scratch(std::int64_t count) const {
    const bool copied = a_.data == nullptr || !power_.empty();
    return copied ? size_product(count, a_.cols, "rows of A") : 0;
  }
  /// Rows [first, first + count): where they are, or in 'scratch'. Zeros once reading has failed.
  RowBlock read(std::int64_t first, std::int64_t count, double* scratch);

  /// Says that these rows will be read soon: those of a mapped file are fetched meanwhile.
  void expect(std::int64_t first, std::int64_t count) const;

  bool failed() const { return error_.failed(); }
  /// Throws what A's function has thrown, if it has.
  void rethrow() const { error_.rethrow(); }

 private:
  RowBlock rows_as_given(std::int64_t first, std::int64_t count, double* scratch);

  const TallMatrix& a_;
  std::vector<std::array<double, 2>> power_;  ///< of each column; empty: as they are
  std::mutex mutex_;
  FirstError error_;
};

}  // namespace stepwell::core
