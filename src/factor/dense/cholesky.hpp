// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/threads/thread_pool.hpp"
#include "kernels/signatures.hpp"
#include "stepwell/view.hpp"

namespace stepwell::factor {

/// Below this order threads gain nothing.
inline constexpr std::int64_t kDenseCholeskyForThreads = 640;

/// A = L L' in FP64, lower, in place; A's strict upper triangle is neither read nor written.
/// Left-looking by block columns, whose rows are divided among the threads. Blocks and the order of
/// sums depend only on n, so the bits do not depend on the number of threads. Stops at the first
/// pivot that is not positive and finite, and returns it. The BLAS must be set to one thread. Cost
/// n^3/3.
kernels::Pivot dense_cholesky(engine::ThreadPool& pool, MatrixView<double> a);

}  // namespace stepwell::factor
