// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/clock.hpp"
#include "engine/graph.hpp"
#include "stepwell/context.hpp"
#include "stepwell/level3.hpp"
#include "stepwell/progress.hpp"
#include "tiles/operations.hpp"

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
/// The same for LU: below n = 4096 smaller tiles, because panels, which one core factors, are half
/// as long then (n = 1200: 13 ms for a solve instead of 21).
std::int64_t choose_lu_tile(std::int64_t n, std::int64_t asked);

/// A graph that at most 'useful' threads can work on: a thread pool runs it, or the caller if it is
/// one thread. The caller sets the scratch size.
engine::GraphOptions graph_options(std::int64_t useful, const Context* context, Progress* progress);
/// That number for a factorization with so many block rows: the tiles of one column, and as many of
/// the next one. Below three block rows there is nothing to share.
std::int64_t useful_threads(std::int64_t tiles);
std::int64_t workers_of(const engine::GraphOptions& options);

/// How a task shares the rows of a tile with threads that have none; 'divided': in smaller blocks,
/// for more threads. Such tasks have a footprint of their own.
tiles::Sharing sharing(const engine::Task& task, bool divided);
engine::Footprint footprint(std::int64_t depth, bool divided, unsigned variant = 0);

/// Starts the factorization phase, in which the progress counts from zero to 'tasks'.
void announce(Progress* progress, std::int64_t tasks);

/// Copies the graph's times; the wall time is not among them.
void book(const engine::GraphTimes& from, PhaseTimes& to);

/// Waits for the tasks of a level-3 operation that began at 'start', and fills its report.
void finish(engine::Graph& graph, core::Clock::time_point start, Level3Report& report);

}  // namespace stepwell::factor
