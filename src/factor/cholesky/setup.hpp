// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/graph.hpp"
#include "factor/cholesky/workspace.hpp"
#include "factor/distributed/process_context.hpp"
#include "stepwell/factor.hpp"

/// What is settled before a factorization, and told to who plans one.
namespace stepwell::factor {

/// The tiles of a factor of order n. Throws Error(invalid_argument).
tiles::Grid choose_grid(std::int64_t n, const FactorOptions& options);

/// Throws Error(invalid_argument) for options that make no sense.
void check_options(const FactorOptions& options);

/// The graph that a map is factored with: workers only where there is enough to do side by side.
engine::GraphOptions graph_for(const tiles::RungMap& map, const FactorOptions& options,
                               const ProcessContext& process, bool scratch_for_blocks);

/// Bytes of L and all memory an attempt works in on a rank.
std::int64_t peak_bytes(const tiles::RungMap& map, const engine::GraphOptions& graph,
                        const tiles::Distribution& distribution, const Schedule& schedule,
                        int rank);

}  // namespace stepwell::factor
