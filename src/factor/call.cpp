// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/call.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "core/system.hpp"
#include "kernels/layout.hpp"
#include "stepwell/error.hpp"

namespace stepwell::factor {

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::int64_t choose_tile(std::int64_t n, std::int64_t asked) {
  if (asked < 0 || asked % kernels::kPanel != 0 || asked > 8192) {
    throw Error(ErrorCode::invalid_argument,
                "tile = " + std::to_string(asked) +
                    "; it must be a multiple of 32 up to 8192, or 0 for the default");
  }
  if (asked > 0) return asked;
  return std::clamp(core::round_up(n, kernels::kPanel), kernels::kPanel, kDefaultTile);
}

engine::GraphOptions graph_options(bool enough, const Context* context, Progress* progress) {
  engine::GraphOptions g;
  g.progress = progress;
  g.workers = enough;
  if (!enough) return g;  // and nobody asks the system
  g.settings.threads = threads_of(context);
  g.workers = g.settings.threads > 1;
  return g;
}

int threads_of(const Context* context) {
  return context == nullptr ? engine::resolve_threads(0) : context->threads();
}

std::int64_t workers_of(const engine::GraphOptions& options) {
  return options.workers ? options.settings.threads : 1;
}

void require_memory(std::int64_t bytes, const std::string& what) {
  constexpr std::int64_t kLittle = std::int64_t{64} << 20;  // asking takes a tenth of a millisecond
  if (bytes < kLittle) return;
  const std::int64_t available = core::memory_allowance().available;
  if (available == 0 || bytes <= available) return;
  const auto mib = [](std::int64_t b) { return std::to_string(b >> 20) + " MiB"; };
  throw Error(ErrorCode::out_of_memory, what + " takes " + mib(bytes) + " and " + mib(available) +
                                            " are available; take a coarser map");
}

void require_view(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                  const std::string& what) {
  const auto size = std::to_string(rows) + " x " + std::to_string(cols);
  if (rows < 0 || cols < 0) {
    throw Error(ErrorCode::invalid_argument, what + " is " + size + "; sizes can't be negative");
  }
  if (ld < std::max<std::int64_t>(1, rows)) {
    throw Error(ErrorCode::invalid_argument, what + " is " + size + " with leading dimension " +
                                                 std::to_string(ld) +
                                                 "; that must be at least the number of rows");
  }
  core::size_product(ld, cols, 8, what.c_str());
  if (rows > 0 && cols > 0 && data == nullptr) {
    throw Error(ErrorCode::invalid_argument, what + " is " + size + " and has no data");
  }
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

void finish(engine::Graph& graph, Clock::time_point start, Level3Report& report) {
  graph.wait();
  report.cancelled = graph.stopped();
  book(graph.times(), report.times);
  report.times.wall = seconds_since(start);
}

}  // namespace stepwell::factor
