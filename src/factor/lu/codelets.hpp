// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/graph.hpp"
#include "tiles/panel.hpp"

/// The tasks of an LU factorization. Their data comes from the engine; the pieces are those of
/// factor/lu/workspace.hpp.
namespace stepwell::factor {

/// How to compute.
struct LuRules {
  const tiles::RungMap* map = nullptr;
  bool pivoting = true;
};

/// Small results in the host's memory, which the caller reads after wait(). Each element is written
/// by one task.
struct LuResults {
  std::vector<double> largest_g, largest_l;  ///< largest of each tile; NaN: one is not finite
  tiles::Pivot pivot;
};

/// Bytes of a worker's scratch memory.
std::int64_t lu_scratch_bytes(const tiles::RungMap& map);

/// Arguments of all tasks: block row j and a block column i.
struct LuTask {
  const LuRules* rules;
  LuResults* results;
  std::int64_t j, i;
  bool divided;  ///< into smaller blocks of rows, for more threads
};

/// G(j, i) from A, i < j - 1: its columns are in their final positions. Data:
///   block row j of A, row factors, column factors, order of block i   read
///   results of panel i                                                read
///   row j of G                                                        read_write
///   row i of L                                                        read; not if i = 0
const engine::Codelet& lu_solve_codelet();

/// X(j, i) = A(j, i) - sum_{k < j-1} G(j, k) L(i, k)', i >= j - 1, with columns in the order before
/// block row j - 1 was factored. Data:
///   block row j of A, row factors, column factors, order of block i   read
///   X(j, i)                                                           write
///   row j of G, row i of L                                            read; not if j < 2
const engine::Codelet& lu_sweep_codelet();

/// Applies the exchanges of block row j - 1 = i to X, then computes G(j, j - 1). Data:
///   results of panel j - 1                                            read
///   row j of G                                                        read_write
///   X(j, j - 1); with pivoting also X(j, j), X(j, j + 1), ...         read_write
const engine::Codelet& lu_advance_codelet();

/// X(j, i) -= G(j, j - 1) L(i, j - 1)', i >= j. Data:
///   row j of G, row i of L                                            read
///   X(j, i)                                                           read_write
const engine::Codelet& lu_last_codelet();

/// X(j) Q = G(j, j) L'. Data:
///   results of panel j                                                write
///   row j of G                                                        read_write
///   L(j, j), the panel's L                                            write
///   X(j, j); with pivoting also X(j, j + 1), ...                      read_write
/// With pivoting it needs X in one piece, so it can only run in the memory where X was added.
const engine::Codelet& lu_panel_codelet();

/// L(i, j) from the panel's L, or from X and G(j, j) without pivoting. Data:
///   row i of L                                                        read_write
///   the panel's L; or X(j, j) and X(j, i) without pivoting            read
const engine::Codelet& lu_right_codelet();

/// Applies the exchanges of block row j = i to L and to the order. Data:
///   results of panel j                                                read
///   order of blocks j, j + 1, ...                                     read_write
///   rows j, j + 1, ... of L                                           read_write; not if j = 0,
///                                                                     nor without pivoting
const engine::Codelet& lu_exchange_codelet();

/// Converts row i of L to the layout for substitution. Data: row i of L (read_write), not if i = 0.
const engine::Codelet& lu_finish_codelet();

}  // namespace stepwell::factor
