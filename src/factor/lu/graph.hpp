// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "factor/lu/codelets.hpp"

namespace stepwell::factor {

/// Bytes that run_lu_graph works in beside G and L, without the workers' scratch.
std::int64_t lu_workspace_bytes(const tiles::RungMap& map);

/// How many tasks it inserts.
std::int64_t lu_task_count(const tiles::RungMap& map);

/// G L' = diag(scale.row) A diag(scale.col) P', block row by block row. Returns when all is done,
/// or when a pivot has failed (state.pivot), something overflowed (state.largest_*) or the
/// caller has cancelled.
void run_lu_graph(engine::Graph& graph, LuState& state);

}  // namespace stepwell::factor
