// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/row_block.hpp"
#include "engine/threads/thread_pool.hpp"
#include "kernels/signatures.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/rung.hpp"

namespace stepwell::factor {

/// The Gram matrix of a tall matrix, and what else the pass over its rows computes.
struct Gram {
  /// diag(power) A'A diag(power), n x n, the lower triangle; sums in FP64.
  core::Buffer<double> c;
  core::Buffer<double> ab;            ///< diag(power) A'B, n x columns
  std::vector<kernels::Scan> column;  ///< scan of each column of A; bad_row is a row of A
  std::vector<double> power;          ///< powers of two that bring columns to a norm near 1
  bool cancelled = false;
};

/// Computes the Gram matrix with products at 'rung' (Higham & Pranesh, Algorithm 5.1, lines 1-4) in
/// one pass: rows are read, scaled, narrowed and multiplied while they are in the caches. A column
/// has its own scale in each chunk of rows, so that no element leaves a format's range; where the
/// first chunks are so much smaller than later ones that sums in FP64 overflow, a second pass is
/// made.
///
/// B: m x columns, may have none; products of its elements with A's are summed without scaling and
/// may overflow. A zero column has power 1 and zeros in C. Non-finite elements of A are reported in
/// 'column', and C is then undefined. Sums depend on chunks of rows that m and n determine, not on
/// the number of threads. Cost m n^2 products at the rung; memory gram_bytes(). A cancellation or a
/// failure (see RowReader) takes effect within a chunk.
Gram gram(engine::ThreadPool& pool, core::RowReader& a, Rung rung, MatrixView<const double> b,
          Progress* progress);

std::int64_t gram_bytes(std::int64_t m, std::int64_t n, std::int64_t columns, Rung rung,
                        bool in_memory);

}  // namespace stepwell::factor
