// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/graph.hpp"
#include "factor/cholesky/row_copies.hpp"
#include "tiles/operations.hpp"

/// The kinds of tasks of trsm, in addition to rows_codelet() of the factorization. Their data comes
/// from the engine.
namespace stepwell::factor {

/// How to compute.
struct TrsmRules {
  const tiles::RungMap* map = nullptr;  ///< map of L
  tiles::Grid down;                     ///< grid of B's rows
  double gain = 1;                      ///< square root of the gain of L's scale

  const tiles::Grid& across() const { return map->grid(); }
  /// X(i, j) has the rung of the diagonal tile that it is solved with.
  tiles::TileShape shape(std::int64_t i, std::int64_t j) const {
    return {map->at(j, j), down.size(i), across().size(j)};
  }
};

/// Arguments of all tasks: block row i of B and block column j of L.
struct TrsmTask {
  const TrsmRules* rules;
  std::int64_t i, j;
};

/// The factors of block row i of B: powers of two that bring each row's largest element near 1.
/// Data: factors of block row i (write), factors of L's rows (read), B(i, j) for all j (read).
const engine::Codelet& trsm_scale_codelet();

/// Data: the inverse of column j (write), L(j, j) (read).
const engine::Codelet& trsm_invert_codelet();

/// Data, in this order:
///   B(i, j)                                  read_write
///   factors of block row i, of L's rows      read
///   row j of L in rows order                 read, if it exists
///   X(i, k), k < j                           read
///   L(j, k) for those k where it is plain    read
///   X(i, j)                                  write
///   the inverse of column j                  read
const engine::Codelet& trsm_tile_codelet();

}  // namespace stepwell::factor
