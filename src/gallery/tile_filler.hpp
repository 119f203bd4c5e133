// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "gallery/recipe.hpp"
#include "stepwell/distributed.hpp"

namespace stepwell::gallery {

/// A function that fills tiles of a symmetric positive definite matrix, on any rank and thread.
///
/// A kind with a formula for its elements has the same bits as with fill(). A kind with a given
/// spectrum has not: fill() computes all of Q diag(d) first and then rows of A from it, which no
/// rank can store. Here column j is Q (diag(d) (Q' e_j)), so that the two differ by rounding; the
/// bits do not depend on the tiles. The first tile that is requested of a block column computes the
/// whole block column, at a cost of n log n per column, and the last two block columns are kept
/// (n x tile elements each): request tiles column by column.
///
/// Throws Error(invalid_argument) for an invalid recipe and for a general kind.
FillTile tile_filler(std::int64_t n, const Recipe& recipe);

}  // namespace stepwell::gallery
