// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "factor/lu/codelets.hpp"

namespace stepwell::factor {

/// Bytes of the workspace of run_lu_graph in addition to G and L, without the workers' scratch.
std::int64_t lu_workspace_bytes(const tiles::RungMap& map);

/// Number of tasks that run_lu_graph inserts.
std::int64_t lu_task_count(const tiles::RungMap& map);

/// G L' = diag(scale.row) A diag(scale.col) P', block row by block row. Returns when all tasks are
/// done, or when a pivot has failed (state.pivot), an element has overflowed (state.largest_*) or
/// the caller has cancelled.
void run_lu_graph(engine::Graph& graph, LuState& state);

}  // namespace stepwell::factor
