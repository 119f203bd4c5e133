// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/graph.hpp"
#include "factor/cholesky/row_copies.hpp"
#include "factor/cholesky/state.hpp"

/// The kinds of tasks of left_looking: one codelet for each operation and rung.
namespace stepwell::factor {

/// Arguments of sweep, diagonal and solve. Tile (i, j) is updated with the contributions of columns
/// k0..k1; if 'first', it is loaded from A before. Data, in this order:
///   sums of tile (i, j); L(i, j) if plain     read_write (write if first)
///   row j of L in rows order                  read; one or two pieces, see row_pieces
///   L(i, k), k0 <= k < k1                     read
///   L(j, k) for those k where it is plain     read; not if i == j: these are the same tiles
/// and then, for diagonal and solve only:
///   L(i, j)                                   write; not if plain: it is the first piece
///   the inverse of column j                   write (diagonal), read (solve); not if j is the last
struct TileTask {
  CholeskyState* state;
  std::int64_t i, j, k0, k1;
  bool first;
};
const engine::Codelet& sweep_codelet(Rung rung);
const engine::Codelet& diagonal_codelet(Rung rung);
const engine::Codelet& solve_codelet(Rung rung);

/// Copies L(j, k), k0 <= k < k1, into rows order. Data: the copies (write), the tiles (read).
struct RowsTask {
  const tiles::TileMatrix* l;
  std::int64_t j, k0, k1;
};
const engine::Codelet& rows_codelet();

/// The norm of one tile of the scaled matrix. Data: none, because A belongs to the caller.
struct NormTask {
  const BlockSource* source;
  Block at;
  const double* row;
  const double* col;
  double* norm;
};
const engine::Codelet& norm_codelet();

}  // namespace stepwell::factor
