// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/row_block.hpp"
#include "engine/thread_pool.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/view.hpp"

namespace stepwell::factor {

/// What least squares needs of a QR factorization: R and Q'B, never Q.
struct TallQr {
  std::int64_t rank = 0;                ///< numerical rank in FP64
  std::vector<std::int64_t> order;      ///< column k of R is column order[k] of A
  std::vector<std::int64_t> dependent;  ///< columns of A beyond the rank, ascending
  core::Buffer<double> r;               ///< n x n upper triangular, ld n: of (A diag(col)) P
  core::Buffer<double> qb;              ///< n x columns: the first n rows of Q'B
  bool cancelled = false;               ///< nothing else is said
  bool finite = false;                  ///< R and Q'B are; else nothing else is said
};

/// QR of [A diag(col); diag(tail)], by blocks of rows, then with column pivoting of R where it is
/// near to singular. 'col': powers of two, one a column, that bring the columns to norms of about 1
/// (1 for a column of zeros). 'tail': n numbers (ridge: sqrt(lambda d_j) * col_j) or empty. b: m x
/// columns (0 under the tail), or without columns.
///
/// The rank is the number of pivots above 2 max(m, n) 2^-53 of the first, NumPy's rule, and never
/// less than 16 2^-53. Of columns that depend on each other those are called dependent that
/// pivoting takes last.
///
/// The bits depend on the numbers alone, not on the number of threads or on how A is stored. The
/// BLAS has one thread meanwhile. Throws what A's function has thrown. Phase::factor counts blocks.
/// Cost: 2 m n^2, 2 m n for each column of b; A and b are read once.
TallQr tall_qr(engine::ThreadPool& pool, core::RowReader& a, const std::vector<double>& col,
               const std::vector<double>& tail, MatrixView<const double> b, Progress* progress);

/// The most memory that it takes, whatever the threads, the result included.
std::int64_t tall_qr_bytes(std::int64_t m, std::int64_t n, std::int64_t columns);

}  // namespace stepwell::factor
