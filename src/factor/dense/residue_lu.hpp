// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/threads/thread_pool.hpp"
#include "kernels/blas/lapack.hpp"
#include "stepwell/view.hpp"

namespace stepwell::factor {

/// From this order on exact products are faster than the BLAS's, on a matrix engine for bytes: 1.05
/// times while the engine runs at a third of its speed.
inline constexpr std::int64_t kResidueLu = 4096;

/// Whether A is large enough, the CPU has that engine, and A's rows are comparable. The error of a
/// product is relative to the norms of a row of L and a column of U: columns may have any scale,
/// because each has its own, but if rows of A differ by orders of magnitude, those of U do, and the
/// small ones would lose digits that LAPACK keeps. Cost: two passes over A.
bool uses_residue_lu(engine::ThreadPool& pool, MatrixView<const double> a);

/// A = P L U in FP64, in place, as LAPACK's dgetrf leaves it: the recursion halves the columns.
/// Panels of 512 columns are dense_lu()'s; all products with more depth have exact sums
/// (tiles/residue_product.hpp), so their error is about 2^-54 ||l_i|| ||u_j||, where that of dgemm
/// grows with the depth. The same bits for any number of threads. 'pivots' and the result as of
/// dense_lu().
std::int64_t residue_lu(engine::ThreadPool& pool, MatrixView<double> a, int* pivots);

/// Bytes of its workspace: 15 KiB n, and 28 MB a thread. Zero where uses_residue_lu() is false for
/// any A.
std::int64_t residue_lu_bytes(std::int64_t n, int threads);

/// B <- T^-1 B, or T^-T B, with a triangle that residue_lu() leaves in A, on the threads of a pool
/// (triangular/block_substitution.hpp).
void residue_lu_solve(engine::ThreadPool& pool, MatrixView<const double> lu,
                      kernels::Triangle triangle, MatrixView<double> b);

/// Bytes of its workspace.
std::int64_t residue_lu_solve_bytes(std::int64_t n, std::int64_t columns, int threads);

}  // namespace stepwell::factor
