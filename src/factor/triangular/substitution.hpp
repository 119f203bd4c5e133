// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/thread_pool.hpp"
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

}  // namespace stepwell::factor
