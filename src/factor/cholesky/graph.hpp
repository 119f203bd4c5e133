// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/graph.hpp"
#include "factor/block_source.hpp"
#include "factor/cholesky/checkpointing.hpp"
#include "factor/cholesky/workspace.hpp"
#include "factor/scaling.hpp"
#include "kernels/scan.hpp"
#include "tiles/operations.hpp"
#include "tiles/tile_matrix.hpp"

/// One attempt at the Cholesky factor, as a task graph on tiles.
namespace stepwell::factor {

/// State shared by all tasks of an attempt. Tasks change only the scans (one for each tile) and the
/// pivot (written by the one diagonal tile that fails; with several ranks, by at most one on each).
struct CholeskyState {
  const BlockSource* source = nullptr;
  const Scale* scale = nullptr;  ///< in the source's order
  double diagonal_factor = 1;    ///< 1 + c u
  tiles::Rounding rounding = tiles::Rounding::nearest;
  const tiles::TileMatrix* l = nullptr;
  int rank = 0;                          ///< the rank whose tiles L holds
  Checkpointing* checkpoints = nullptr;  ///< null: none

  std::vector<kernels::Scan> scans;
  tiles::Pivot pivot;  ///< global index, in the source's order
};

/// Number of tasks that a rank inserts.
std::int64_t task_count(const tiles::RungMap& map, const tiles::Distribution& distribution,
                        const Schedule& schedule, int rank);

/// L L' = diag(scale.row) A diag(scale.col), shifted. Returns when all tasks are done, or when a
/// pivot has failed (state.pivot) or the caller has cancelled. With several ranks it is collective,
/// and each rank runs the tasks on its own tiles.
void left_looking(engine::Graph& graph, CholeskyState& state, const Schedule& schedule);

/// The Frobenius norms of the tiles of the scaled matrix, in the grid's order; zero for the tiles
/// of other ranks.
std::vector<double> tile_norms(engine::Graph& graph, const BlockSource& source,
                               const tiles::Grid& grid, const Scale& scale,
                               const tiles::Distribution& distribution, int rank);

}  // namespace stepwell::factor
