// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "engine/threads/thread_pool.hpp"
#include "factor/blas3/block_gemm.hpp"
#include "stepwell/view.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::factor {

/// A triangular matrix T in square blocks, or one that is stored transposed.
struct BlockTriangle {
  tiles::Grid grid;
  bool upper = false;       ///< T is upper triangular: X is solved from its end
  bool transposed = false;  ///< block(i, k) is the transpose of T's block
  /// Block (i, k) of T, i > k, or i < k if T is upper triangular.
  std::function<MatrixView<const double>(std::int64_t i, std::int64_t k)> block;
  /// x <- T_ii^-1 x on one core, for a few columns.
  std::function<void(std::int64_t i, MatrixView<double> x)> solve;
};

/// The tiles of a factor at fp64 from tile (first, first) on: L, or L' if 'transposed'.
BlockTriangle block_triangle(const tiles::TileMatrix& l, bool transposed, std::int64_t first = 0);

/// X <- T^-1 X. The recursion halves T: solve for one half of X, subtract its product with the
/// off-diagonal block, solve for the other half. Diagonal blocks are solved by the BLAS, which must
/// be set to one thread. The residual of each row is that of FP64 substitution, of the order of u
/// ||t_i|| ||x||. The bits are the same for any number of threads.
/// Cost: n^2 columns; with exact products at up to three times dgemm's rate.
void substitute_blocks(engine::ThreadPool& pool, const BlockTriangle& t, MatrixView<double> x,
                       Products products);

/// The faster products: a matter of sizes and the instruction set.
Products fast_products(const tiles::Grid& grid, std::int64_t columns);

/// Bytes of the workspace: 4 n columns, and with exact products 8 n columns and 20 MB a thread for
/// 1,024 columns.
std::int64_t block_substitution_bytes(const tiles::Grid& grid, std::int64_t columns, int threads,
                                      Products products);

}  // namespace stepwell::factor
