// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/clock.hpp"
#include "engine/graph.hpp"
#include "stepwell/context.hpp"
#include "stepwell/level3.hpp"
#include "stepwell/progress.hpp"

/// Helpers shared by the entry points of this layer: choice of tile and workers, progress and
/// times.
namespace stepwell::factor {

inline constexpr std::int64_t kDefaultTile = 512;

/// The tile: 'asked', or the default for a matrix of order n if 'asked' is 0. Throws
/// Error(invalid_argument) if 'asked' is not a multiple of 32 from 0 to 8192.
std::int64_t choose_tile(std::int64_t n, std::int64_t asked);

/// Uses workers only if there is enough parallel work ('enough') and more than one thread. The
/// caller sets the scratch size.
engine::GraphOptions graph_options(bool enough, const Context* context, Progress* progress);
/// The number of threads of the context; without one, as many as the process may use.
int threads_of(const Context* context);
std::int64_t workers_of(const engine::GraphOptions& options);

/// Starts the factorization phase, in which the progress counts from zero to 'tasks'.
void announce(Progress* progress, std::int64_t tasks);

/// Copies the graph's times; the wall time is not among them.
void book(const engine::GraphTimes& from, PhaseTimes& to);

/// Waits for the tasks of a level-3 operation that began at 'start', and fills its report.
void finish(engine::Graph& graph, core::Clock::time_point start, Level3Report& report);

}  // namespace stepwell::factor
