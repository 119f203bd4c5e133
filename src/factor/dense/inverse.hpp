// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/threads/thread_pool.hpp"
#include "factor/blas3/block_gemm.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/view.hpp"

namespace stepwell::factor {

/// (L L')^-1 in place, as LAPACK's dpotri: L is inverted by halving it, X = L^-1, and X'X is
/// computed from the top, each block row of it where X is no longer needed.
/// Entry: 'a' has L, and zeros above the diagonal. Exit: the lower triangle of the inverse; above
/// the diagonal there is anything. Returns false if it was cancelled. The BLAS must be set to one
/// thread. The bits are the same for any number of threads. Cost: 2 n^3 / 3.
bool dense_inverse(engine::ThreadPool& pool, Products products, MatrixView<double> a,
                   Progress* progress);

/// Bytes of its workspace: 32 KiB n; with exact products 46 KiB n and 28 MB a thread.
std::int64_t dense_inverse_bytes(Products products, std::int64_t n, int threads);

}  // namespace stepwell::factor
