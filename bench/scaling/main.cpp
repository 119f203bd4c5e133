// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "factor/cholesky/workspace.hpp"
#include "replay.hpp"
#include "stepwell/error.hpp"

/// Predicts how long a factorization would take on other machines: replays the library's own
/// schedule, distribution and message sizes with given kernel times.
namespace stepwell::bench::scaling {
namespace {

using nlohmann::json;

struct Options {
  std::int64_t n = 65536, tile = 1024, window = -1, ring = -1;
  int ranks = 4, grid_rows = 0, iterations = 10, streams = 2;
  std::string layout = "grid", map = "bf16", engine = "events", platform;
  std::string order = "priority", fan_out = "tree";
};

void add_options(CLI::App& app, Options& o) {
  app.add_option("--platform", o.platform, "JSON file with the rates of a node")->required();
  app.add_option("--n", o.n, "order of the matrix")->check(CLI::PositiveNumber);
  app.add_option("--tile", o.tile, "order of a tile")->check(CLI::PositiveNumber);
  app.add_option("--window", o.window,
                 "columns of a window; 0: one window; default: the library's choice")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--rows-ring", o.ring,
                 "number of rows of L in rows order that a rank has memory for; default: the "
                 "library's choice")
      ->check(CLI::PositiveNumber);
  app.add_option("--ranks", o.ranks, "number of ranks")->check(CLI::PositiveNumber);
  app.add_option("--layout", o.layout, "grid or symmetric")
      ->check(CLI::IsMember({"grid", "symmetric"}));
  app.add_option("--grid-rows", o.grid_rows, "rows of the grid; default: the library's choice")
      ->check(CLI::PositiveNumber);
  app.add_option("--map", o.map, "precision map");
  app.add_option("--engine", o.engine, "simgrid, or events: a built-in event loop for large graphs")
      ->check(CLI::IsMember({"simgrid", "events"}));
  app.add_option("--streams", o.streams, "simgrid: number of messages of a rank in flight")
      ->check(CLI::PositiveNumber);
  app.add_option("--order", o.order, "order of a rank's messages: priority, or fifo")
      ->check(CLI::IsMember({"priority", "fifo"}));
  app.add_option("--fan-out", o.fan_out, "how a tile is sent to its readers")
      ->check(CLI::IsMember({"direct", "tree"}));
  app.add_option("--iterations", o.iterations, "iterations of the refinement");
}

json run(const Options& o) {
  const auto start = std::chrono::steady_clock::now();
  const Platform platform = read_platform(o.platform);
  const tiles::RungMap map({o.n, o.tile}, parse_map(o.map));
  DistributedOptions distributed;
  distributed.layout = o.layout == "grid" ? Layout::grid : Layout::symmetric;
  distributed.grid_rows = o.grid_rows;
  const tiles::Distribution distribution = tiles::Distribution::choose(o.ranks, distributed);
  factor::Schedule schedule = factor::schedule_for(map, distribution, factor::Windows::by_memory);
  if (o.window == 0) schedule.window = map.grid().tiles();
  if (o.window > 0) schedule.window = std::min(o.window, map.grid().tiles());
  const std::int64_t ring =
      o.ring > 0 ? o.ring : factor::Needs(map, distribution, schedule, 0, platform.workers).rows;
  Work work(map, distribution, schedule, ring);
  const Memory needs = memory(work, platform.workers);
  const Bounds least = bounds(work, platform);
  const Iteration it = iteration(work, platform);

  const std::unique_ptr<Machine> machine = o.engine == "simgrid"
                                               ? simgrid_machine(platform, o.ranks, o.streams)
                                               : event_machine(platform, o.ranks);
  Sending sending;
  sending.by_priority = o.order == "priority";
  sending.fan_out = o.fan_out == "tree" ? FanOut::tree : FanOut::direct;
  const Replayed did = replay(work, platform, *machine, sending);
  const auto n = static_cast<double>(o.n);
  const double workers = static_cast<double>(o.ranks) * platform.workers;
  const double peak = workers * platform.rates_of(map.at(0, 0), o.tile).product;
  const double flops = n * n * n / 3 / did.seconds;
  const double one = it.reduction + it.sweeps;
  return {
      {"platform", platform.name},
      {"n", o.n},
      {"tile", o.tile},
      {"window", schedule.window},
      {"rows_ring", ring},
      {"ranks", o.ranks},
      {"layout", distribution.name()},
      {"map", o.map},
      {"engine", o.engine},
      {"order", o.order},
      {"fan_out", o.fan_out},
      {"seconds", did.seconds},
      {"flops", flops},
      {"efficiency", flops / peak},
      {"busy", did.busy / (workers * did.seconds)},
      {"tasks", did.tasks},
      {"messages", did.messages},
      {"bytes", did.bytes},
      {"bytes_model", tiles::bytes_to_send(map, distribution, inverse_message(map, 0))},
      {"bounds", {{"compute", least.compute}, {"network", least.network}, {"panel", least.panel}}},
      {"memory",
       {{"factor", needs.factor},
        {"sums", needs.sums},
        {"rows", needs.rows},
        {"received", needs.received},
        {"all", needs.all()},
        {"matrix", needs.matrix}}},
      {"refinement",
       {{"iterations", o.iterations},
        {"product_kept", it.kept},
        {"product_regenerated", it.regenerated},
        {"reduction", it.reduction},
        {"sweeps", it.sweeps},
        {"seconds_kept", o.iterations * (one + it.kept)},
        {"seconds_regenerated", o.iterations * (one + it.regenerated)}}},
      {"simulated_in",
       std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()}};
}

}  // namespace
}  // namespace stepwell::bench::scaling

int main(int argc, char** argv) {
  CLI::App app("Replays the task graph of a distributed factorization and prints JSON.");
  stepwell::bench::scaling::Options options;
  stepwell::bench::scaling::add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    std::puts(stepwell::bench::scaling::run(options).dump(1).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stepwell_scaling: %s\n", error.what());
    return 2;
  }
}
