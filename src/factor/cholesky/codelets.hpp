// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <vector>

#include "engine/graph.hpp"
#include "factor/block_source.hpp"
#include "factor/cholesky/row_copies.hpp"
#include "kernels/scan.hpp"
#include "stepwell/factor.hpp"
#include "tiles/operations.hpp"

/// The kinds of tasks of left_looking: one codelet for each operation and rung. Their data comes
/// from the engine.
namespace stepwell::factor {

/// How a task finds A(i, j).
struct LoadRules {
  /// Computes blocks of A, or collects them from it: code that runs on the host. Null if A is data.
  const BlockSource* computed = nullptr;
  bool by_columns = false;  ///< the data is not the tile but A(j, j), A(j + 1, j), ... in one piece
};

/// How to compute.
struct CholeskyRules {
  const tiles::RungMap* map = nullptr;
  LoadRules load;
  double diagonal_factor = 1;  ///< 1 + c u
  tiles::Rounding rounding = tiles::Rounding::nearest;
};

/// Small results in the host's memory, which the caller reads after wait(). Each scan is written by
/// one task; wrong sums by any; the pivot by that of the diagonal tile that fails, with several
/// ranks by at most one on each.
struct CholeskyResults {
  std::vector<kernels::Scan> scans;  ///< scans of A's tiles
  tiles::Pivot pivot;                ///< global index, in the source's order
  WrongSums wrong_sums;              ///< those that were found first
  std::mutex wrong_sums_mutex;
};

/// Arguments of sweep, diagonal and solve. Tile (i, j) is updated with the contributions of columns
/// k0..k1; if 'first', it is loaded from A before. Tiles in residues are loaded last, by diagonal
/// and solve. Data, in this order:
///   sums of tile (i, j); L(i, j) if plain     read_write (write if first)
///   A(i, j) or block column j of A            read; only if loaded, and not if it is computed
///   row factors, column factors               read; only if loaded
///   the scaled diagonal                       read; only if loaded in residues
///   row j of L in rows order                  read; one or two pieces, see row_pieces
///   L(i, k), k0 <= k < k1                     read
///   L(j, k) for those k where it is plain     read; not if i == j: these are the same tiles
///   L(i, j - 1)                               read; only if loaded in residues, and not yet there
/// and then, for diagonal and solve only:
///   L(i, j)                                   write; not if plain: it is the first piece
///   the inverse of column j, or what takes    write (diagonal), read (solve); not if j is the last
///     its place in residues
struct TileTask {
  const CholeskyRules* rules;
  CholeskyResults* results;
  std::int64_t i, j, k0, k1;
  bool first;
  bool divided;  ///< into smaller blocks of rows, for more threads
};
/// Tiles in residues hold the squares of their rows, which the next tile continues: it is one of
/// the operands of the task that finishes that tile, except at the beginning of a window.
inline bool reads_left_tile(std::int64_t j, std::int64_t k0, std::int64_t k1) {
  return k0 == k1 && j > 0;
}

const engine::Codelet& sweep_codelet(Rung rung);
const engine::Codelet& diagonal_codelet(Rung rung);
const engine::Codelet& solve_codelet(Rung rung);

/// Copies L(j, k), k0 <= k < k1, into rows order. Data: the copies (write), the tiles (read).
struct RowsTask {
  const tiles::RungMap* map;
  std::int64_t j, k0, k1;
  bool divided = false;  ///< among several threads
};
const engine::Codelet& rows_codelet();

/// Restores L(i, j) from residues to FP64, and verifies them if one is redundant. Data: L(i, j)
/// (read_write).
struct RestoreTask {
  const tiles::RungMap* map;
  CholeskyResults* results;
  std::int64_t i, j;
};
const engine::Codelet& restore_codelet();

/// Small results in the host's memory, which the caller reads after wait().
struct NormResults {
  std::vector<double> norms;  ///< in the grid's order
};

/// The norm of tile (i, j) of the scaled matrix. Data: A(i, j) or block column j of A (read; not if
/// it is computed), row factors, column factors (read).
struct NormTask {
  tiles::Grid grid;
  LoadRules load;
  NormResults* results;
  std::int64_t i, j;
};
const engine::Codelet& norm_codelet();

}  // namespace stepwell::factor
