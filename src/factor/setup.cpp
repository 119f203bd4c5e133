// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/setup.hpp"
#include "core/clock.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "core/machine/system.hpp"
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

engine::GraphOptions graph_options(bool enough, const Context* context, Progress* progress,
                                   bool small) {
  engine::GraphOptions g;
  g.progress = progress;
  g.run_by = engine::RunBy::caller;
  if (!enough) return g;  // the number of threads need not be queried
  g.settings.threads = threads_of(context);
  if (g.settings.threads > 1) g.run_by = small ? engine::RunBy::thread_pool : engine::RunBy::starpu;
  return g;
}

int threads_of(const Context* context) {
  return context == nullptr ? engine::resolve_threads(0) : context->threads();
}

std::int64_t workers_of(const engine::GraphOptions& options) {
  return options.run_by == engine::RunBy::caller ? 1 : options.settings.threads;
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
