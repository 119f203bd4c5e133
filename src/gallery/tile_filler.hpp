// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "gallery/recipe.hpp"
#include "stepwell/ranks.hpp"

namespace stepwell::gallery {

/// A function that fills tiles of a symmetric positive definite matrix, wherever it is called.
///
/// A kind with a rule for its elements has the bits of fill(). One with a given spectrum has not:
/// fill() makes all of Q diag(d) first and then rows of A from it, which no rank can have. Here
/// column j is Q (diag(d) (Q' e_j)), so the two differ by rounding; the bits are the same for any
/// tiles. A whole block column is made for the first tile of it that is asked for, n log n an
/// element's worth, and the last two of them are kept (n x tile numbers each): ask column by
/// column.
///
/// Throws Error(invalid_argument) for a recipe that makes no sense and for a general kind.
FillTile tile_filler(std::int64_t n, const Recipe& recipe);

}  // namespace stepwell::gallery
