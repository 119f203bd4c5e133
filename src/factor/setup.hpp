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

/// Small matrices have smaller tiles, because the diagonal tiles are factored one after the other:
/// a bf16 factor of order 2048 takes 6.1 instead of 8.4 ms, of 3000 14 instead of 22; at 4096 it
/// gains nothing.
inline constexpr std::int64_t kSmallOrder = 3072;
inline constexpr std::int64_t kSmallTile = 256;

/// The tile: 'asked', or the default for a matrix of order n if 'asked' is 0. Throws
/// Error(invalid_argument) if 'asked' is not a multiple of 32 from 0 to 8192.
std::int64_t choose_tile(std::int64_t n, std::int64_t asked);

/// With at most this many block rows, a few hundred tasks, a thread pool runs the graph: at n =
/// 2048 a factorization by two StarPU workers takes as long as on one thread.
inline constexpr std::int64_t kTilesForPool = 16;

/// Uses workers only if there is enough parallel work ('enough') and more than one thread; a thread
/// pool if the graph is 'small', otherwise StarPU. The caller sets the scratch size.
engine::GraphOptions graph_options(bool enough, const Context* context, Progress* progress,
                                   bool small = false);
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
