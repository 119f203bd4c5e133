// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/graph.hpp"
#include "factor/lu/state.hpp"

namespace stepwell::factor {

/// Number of tasks that run_lu_graph inserts.
std::int64_t lu_task_count(const tiles::RungMap& map);

/// G L' = diag(scale.row) A diag(scale.col) P', block row by block row. Returns when all tasks are
/// done, or when a pivot has failed (results.pivot), an element has overflowed (results.largest_*)
/// or the caller has cancelled.
void run_lu_graph(engine::Graph& graph, LuState& state);

}  // namespace stepwell::factor
