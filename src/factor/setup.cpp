// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/setup.hpp"
#include "core/clock.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "core/machine/system.hpp"
#include "engine/threads/thread_pool.hpp"
#include "kernels/layout.hpp"
#include "stepwell/error.hpp"

namespace stepwell::factor {

std::int64_t choose_tile(std::int64_t n, std::int64_t asked) {
  if (asked < 0 || asked % kernels::kPanel != 0 || asked > 8192) {
    throw Error(ErrorCode::invalid_argument,
                "tile = " + std::to_string(asked) +
                    "; it must be a multiple of 32 up to 8192, or 0 for the default");
  }
  if (asked > 0) return asked;
  const std::int64_t most = n <= kSmallOrder ? kSmallTile : kDefaultTile;
  return std::clamp(core::round_up(n, kernels::kPanel), kernels::kPanel, most);
}

std::int64_t choose_lu_tile(std::int64_t n, std::int64_t asked) {
  constexpr std::int64_t kSmall = 4096;
  const std::int64_t tile = choose_tile(n, asked);
  return asked == 0 && n < kSmall ? std::min(tile, kSmallTile) : tile;
}

engine::GraphOptions graph_options(std::int64_t useful, const Context* context,
                                   Progress* progress) {
  engine::GraphOptions g;
  g.progress = progress;
  g.run_by = engine::RunBy::caller;
  if (useful <= 1) return g;  // the number of threads need not be queried
  g.settings.threads =
      static_cast<int>(std::min<std::int64_t>(engine::threads_of(context), useful));
  if (g.settings.threads > 1) g.run_by = engine::RunBy::thread_pool;
  return g;
}

std::int64_t useful_threads(std::int64_t tiles) {
  return tiles < 3 ? 1 : 2 * tiles;
}

std::int64_t workers_of(const engine::GraphOptions& options) {
  switch (options.run_by) {
    case engine::RunBy::caller:
      return 1;
    case engine::RunBy::thread_pool:
      break;
    case engine::RunBy::starpu:
      return std::min(options.settings.threads, engine::worker_limit());
  }
  return options.settings.threads;
}

tiles::Sharing sharing(const engine::Task& task, bool divided) {
  return {task.sharing(), divided ? tiles::kFewRows : tiles::kSweepRows};
}

engine::Footprint footprint(std::int64_t depth, bool divided, unsigned variant) {
  return {static_cast<std::uint32_t>(depth), variant + (divided ? 4 : 0)};
}

void announce(Progress* progress, std::int64_t tasks) {
  if (progress != nullptr) progress->enter(Phase::factor, tasks);
}

void book(const engine::GraphTimes& from, PhaseTimes& to) {
  const auto seconds = [&](engine::Phase p) { return from.seconds[static_cast<std::size_t>(p)]; };
  to.load = seconds(engine::Phase::load);
  to.update = seconds(engine::Phase::update);
  to.diagonal = seconds(engine::Phase::diagonal);
  to.solve = seconds(engine::Phase::solve);
  to.reorder = seconds(engine::Phase::reorder);
  to.workers = from.workers;
  to.tasks = from.tasks;
}

void finish(engine::Graph& graph, core::Clock::time_point start, Level3Report& report) {
  graph.wait();
  report.cancelled = graph.stopped();
  book(graph.times(), report.times);
  report.times.wall = core::seconds_since(start);
}

}  // namespace stepwell::factor
