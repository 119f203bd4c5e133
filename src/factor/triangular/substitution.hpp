// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "engine/threads/thread_pool.hpp"
#include "stepwell/view.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::factor {

/// x <- (F B')^-1 x with the tiles of a factor, in the factor's own scale: forward substitution
/// with the tiles of F, then backward substitution with the transpose of B (for Cholesky both are
/// L). x: n x r, V float or double (double if there are tiles at fp64). Each tile is read once for
/// all r columns together. Block row q of x is updated with the solved blocks in order, so the
/// bits do not depend on the number of threads. Allocates no vector of length n. Cost 2 n^2 r.
template <class V>
void substitute(engine::ThreadPool& pool, const tiles::TileMatrix& forward,
                const tiles::TileMatrix& backward, MatrixView<V> x);

/// Elements of the next block that one thread computes if there are many.
inline constexpr std::int64_t kSubstitutionPart = 128;

/// The triangles of a factor that many columns are solved with.
enum class Triangles : unsigned char { both, forward };

/// The same for many columns at once with a factor at fp64: x <- (F B')^-1 x, or F^-1 x. From
/// kWide columns on, tiles are applied by the BLAS's matrix products; it must be set to one thread.
/// 'before' and 'after', if set, are called for chunks of columns, on several threads, with the
/// first column of a chunk and the chunk itself. Cost 2 n^2 r, or half of that.
struct Chunks {
  std::function<void(std::int64_t first, MatrixView<double> x)> before, after;
};
void substitute_columns(engine::ThreadPool& pool, const tiles::TileMatrix& forward,
                        const tiles::TileMatrix& backward, Triangles triangles,
                        MatrixView<double> x, const Chunks& chunks = {});

/// Bytes of its workspace.
std::int64_t substitute_columns_bytes(const tiles::Grid& grid, std::int64_t columns, int threads);

}  // namespace stepwell::factor
