// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/graph.hpp"
#include "factor/block_source.hpp"
#include "factor/cholesky/schedule.hpp"
#include "factor/cholesky/state.hpp"
#include "factor/scaling.hpp"
#include "tiles/distribution.hpp"

/// One attempt at the Cholesky factor, as a task graph on tiles.
namespace stepwell::factor {

/// Number of tasks that a rank inserts.
std::int64_t task_count(const tiles::RungMap& map, const tiles::Distribution& distribution,
                        const Schedule& schedule, int rank);

/// L L' = diag(scale.row) A diag(scale.col), shifted. Returns when all tasks are done, or when a
/// pivot has failed (state.results.pivot) or the caller has cancelled. Tiles in residues have then
/// been restored to FP64, each in its own memory. With several ranks it is
/// collective, and each rank runs the tasks on its own tiles.
void left_looking(engine::Graph& graph, CholeskyState& state, const Schedule& schedule);

/// The Frobenius norms of the tiles of the scaled matrix, in the grid's order; zero for the tiles
/// of other ranks.
std::vector<double> tile_norms(engine::Graph& graph, const BlockSource& source,
                               const tiles::Grid& grid, const Scale& scale,
                               const tiles::Distribution& distribution, int rank);

}  // namespace stepwell::factor
