// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/threads/thread_pool.hpp"
#include "factor/blas3/block_gemm.hpp"
#include "stepwell/factor.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/view.hpp"

namespace stepwell::factor {

/// (L L')^-1 in place, as LAPACK's dpotri: L is inverted by halving it, X = L^-1, and X'X is
/// computed from the top, each block row of it where X is no longer needed.
/// Entry: a triangle of 'a' has L, or L' if it is the upper one. Exit: the same triangle has the
/// inverse; the other one has been used in diagonal blocks, and is as before. Returns false if it
/// was cancelled. The BLAS must be set to one thread. The bits are the same for any number of
/// threads. Cost: 2 n^3 / 3.
bool dense_inverse(engine::ThreadPool& pool, Products products, MatrixView<double> a,
                   Triangle triangle, Progress* progress);

/// The faster products for this order on this machine.
Products inverse_products(std::int64_t n);

/// Bytes of its workspace: 34 KiB n with exact products, and 36 MB a thread; 20 KiB n without, and
/// 8 MB a thread; and 34 MB.
std::int64_t dense_inverse_bytes(Products products, std::int64_t n, int threads);

}  // namespace stepwell::factor
