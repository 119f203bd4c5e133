// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "engine/graph.hpp"
#include "factor/cholesky/workspace.hpp"
#include "factor/distributed/process_context.hpp"
#include "stepwell/factor.hpp"

/// Decisions made before a factorization, which are also used to plan one.
namespace stepwell::factor {

/// Whether all tiles are in residues.
bool is_in_residues(const PrecisionMap& map);

/// The tiles of a factor of order n. Throws Error(invalid_argument).
tiles::Grid choose_grid(std::int64_t n, const FactorOptions& options);

/// Throws Error(invalid_argument) for invalid options.
void check_options(const FactorOptions& options);

/// From this order on a factor at fp64 is computed with exact sums, if there is an int8 matrix
/// engine and enough memory: the map fp64 stands for an accuracy. Measured on two cores of Emerald
/// Rapids: 0.95 of fp64's speed at n = 1536, 1.1 at 2048, 1.4 at 4096.
inline constexpr std::int64_t kExactFrom = 2048;

/// The rung of the tiles of a factor at fp64: int8x14 or fp64. With several ranks it is fp64.
Rung fp64_rung(const tiles::Grid& grid);

/// The tiles of a factor at fp64 or an int8 rung: with exact sums where they are asked for, or
/// where they are faster and the memory suffices. 'bytes' is the peak of a map; 'alone': on one
/// rank.
tiles::RungMap choose_fp64_map(const tiles::Grid& grid, const FactorOptions& options, bool alone,
                               const std::function<std::int64_t(const tiles::RungMap&)>& bytes);

/// The options of the graph that factors a map: workers only where there is enough parallel work.
engine::GraphOptions graph_for(const tiles::RungMap& map, const FactorOptions& options,
                               const ProcessContext& process, bool scratch_for_blocks);

/// Bytes of L and of all workspace of an attempt on a rank.
std::int64_t peak_bytes(const tiles::RungMap& map, const engine::GraphOptions& graph,
                        const tiles::Distribution& distribution, const Schedule& schedule,
                        int rank);

}  // namespace stepwell::factor
