// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/clock.hpp"
#include "engine/graph.hpp"
#include "stepwell/context.hpp"
#include "stepwell/level3.hpp"
#include "stepwell/times.hpp"

/// What the entry points of this layer share: choosing tile and workers, checking memory, booking
/// times.
namespace stepwell::factor {

inline constexpr std::int64_t kDefaultTile = 512;

/// The tile that 0 comes to for a matrix of order n. Throws Error(invalid_argument) for one that is
/// no multiple of 32 or above 8192.
std::int64_t choose_tile(std::int64_t n, std::int64_t asked);

/// Workers only where there is enough to do side by side and more than one thread.
/// The scratch is the caller's to set.
engine::GraphOptions graph_options(bool enough, const Context* context, Progress* progress);
/// Those of the context; without one, as many as the process may have.
int threads_of(const Context* context);
std::int64_t workers_of(const engine::GraphOptions& options);

/// Starts counting from zero to 'tasks'.
void announce(Progress* progress, std::int64_t tasks);

/// Takes the graph's times over, but for the wall clock's.
void book(const engine::GraphTimes& from, PhaseTimes& to);

/// Waits for the tasks of a level-3 operation that began at 'start', and reports.
void finish(engine::Graph& graph, core::Clock::time_point start, Level3Report& report);

}  // namespace stepwell::factor
