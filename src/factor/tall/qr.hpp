// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/row_block.hpp"
#include "engine/threads/thread_pool.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/view.hpp"

namespace stepwell::factor {

/// The parts of a QR factorization that least squares needs: R and Q'B, never Q.
struct TallQr {
  std::int64_t rank = 0;                ///< numerical rank in FP64
  std::vector<std::int64_t> order;      ///< column k of R is column order[k] of A
  std::vector<std::int64_t> dependent;  ///< columns of A beyond the rank, ascending
  core::Buffer<double> r;               ///< R of (A diag(col)) P: n x n upper triangular, ld n
  core::Buffer<double> qb;              ///< n x columns: the first n rows of Q'B
  bool cancelled = false;               ///< if true, no other member is valid
  bool finite = false;  ///< whether R and Q'B are finite; if not, no other member is valid
};

/// QR of [A diag(col); diag(tail)] by blocks of rows, followed by column pivoting of R where R is
/// nearly singular. 'col': powers of two, one for each column, that bring the columns to norms of
/// about 1 (1 for a column of zeros). 'tail': n elements (ridge: sqrt(lambda d_j) * col_j) or
/// empty. b: m x columns (0 under the tail), or without columns.
///
/// The rank is the number of pivots larger than 2 max(m, n) 2^-53 times the first pivot, NumPy's
/// rule, where the factor is at least 16 2^-53. Of columns that depend on each other, those that
/// pivoting takes last are called dependent.
///
/// The bits depend only on the elements, not on the number of threads or on how A is stored. The
/// BLAS has one thread during the call. Throws what A's function has thrown. Phase::factor counts
/// blocks. Cost: 2 m n^2, 2 m n for each column of b; A and b are read once.
TallQr tall_qr(engine::ThreadPool& pool, core::RowReader& a, const std::vector<double>& col,
               const std::vector<double>& tail, MatrixView<const double> b, Progress* progress);

/// Upper bound of the memory that tall_qr takes with any number of threads, including the result.
std::int64_t tall_qr_bytes(std::int64_t m, std::int64_t n, std::int64_t columns);

}  // namespace stepwell::factor
