// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/graph.hpp"
#include "factor/cholesky/workspace.hpp"
#include "factor/distributed/process_context.hpp"
#include "stepwell/factor.hpp"

/// Decisions made before a factorization, which are also used to plan one.
namespace stepwell::factor {

/// The tiles of a factor of order n. Throws Error(invalid_argument).
tiles::Grid choose_grid(std::int64_t n, const FactorOptions& options);

/// Throws Error(invalid_argument) for invalid options.
void check_options(const FactorOptions& options);

/// The options of the graph that factors a map: workers only where there is enough parallel work.
engine::GraphOptions graph_for(const tiles::RungMap& map, const FactorOptions& options,
                               const ProcessContext& process, bool scratch_for_blocks);

/// Bytes of L and of all workspace of an attempt on a rank.
std::int64_t peak_bytes(const tiles::RungMap& map, const engine::GraphOptions& graph,
                        const tiles::Distribution& distribution, const Schedule& schedule,
                        int rank);

}  // namespace stepwell::factor
