// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/row_block.hpp"
#include "engine/thread_pool.hpp"
#include "kernels/signatures.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/rung.hpp"

namespace stepwell::factor {

/// The Gram matrix of a tall matrix, and what the pass over its rows has found on the way.
struct Gram {
  /// diag(power) A'A diag(power), n x n, the lower triangle; sums in FP64.
  core::Buffer<double> c;
  core::Buffer<double> ab;            ///< diag(power) A'B, n x columns
  std::vector<kernels::Scan> column;  ///< of each column of A; bad_row is a row of A
  std::vector<double> power;          ///< powers of two that bring columns to a norm near 1
  bool cancelled = false;
};

/// Forms it with products at 'rung' (Higham & Pranesh, Algorithm 5.1, lines 1-4) in one pass: rows
/// are read, scaled, narrowed and multiplied while they are in the caches. The scale of a column is
/// its own in each chunk of rows, so that none leaves a format's range; where the first chunks are
/// so much smaller than later ones that sums in FP64 overflow, a second pass is made.
///
/// B: m x columns, may have none; its numbers times A's are summed as they are, and may overflow.
/// A zero column has power 1 and zeros in C. What is not finite in A is in 'column', and C is then
/// undefined. Sums depend on chunks of rows that m and n fix, not on the number of threads.
/// Cost m n^2 products at the rung; memory gram_bytes(). Cancelled or failed (see RowReader) within
/// a chunk.
Gram gram(engine::ThreadPool& pool, core::RowReader& a, Rung rung, MatrixView<const double> b,
          Progress* progress);

std::int64_t gram_bytes(std::int64_t m, std::int64_t n, std::int64_t columns, Rung rung,
                        bool in_memory);

}  // namespace stepwell::factor
