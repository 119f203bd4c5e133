// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/experiments/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/experiments/solve.hpp"
#include "bench/harness/harness.hpp"
#include "bench/harness/report.hpp"
#include "core/buffer.hpp"
#include "factor/simulation.hpp"
#include "gallery/gallery.hpp"
#include "options/requirements.hpp"
#include "stepwell/factor.hpp"
#include "stepwell/lu.hpp"

namespace stepwell::bench {
namespace {

using engine::SimulatedMachine;
using engine::SimulatedTimes;
using nlohmann::ordered_json;

struct NodeRequest {
  std::string op = "cholesky";
  std::string orders = "2048,4096,8192,16384";
  std::string workers = "1,2,4,8,16,32,64,128";
  std::string rung = "bf16";
  std::int64_t tile = 0;
  double bandwidth = 300;  ///< GB/s
  double cache = 105;      ///< MB
  int runs = 0;
  bool json = false;
};

struct Row {
  std::int64_t n = 0, tile = 0;
  int workers = 1;
  SimulatedTimes times;
  double alone = 0;     ///< seconds of one worker
  double measured = 0;  ///< 0: not measured

  double share() const { return alone / (times.seconds * workers); }
  /// What the time can't be below, the largest of it.
  std::string limit() const {
    const std::pair<double, const char*> limits[] = {{times.work / workers, "cores"},
                                                     {times.chain, "chain"},
                                                     {times.insertion, "insertion"},
                                                     {times.memory, "memory"}};
    return std::max_element(std::begin(limits), std::end(limits))->second;
  }
};

/// Median seconds of real factorizations with so many threads.
double measure(const factor::SimulatedFactor& f, int threads, int runs) {
  const auto n = f.n;
  tool::require_memory(core::size_product(n, n, 8, "matrix"));
  core::Buffer<double> memory(core::size_product(n, n, "matrix"));
  const MatrixView<double> a = view(memory.data(), n, n);
  gallery::fill_dominant(a, 1);
  Context context(threads);
  FactorOptions options;
  options.map = uniform(f.rung);
  options.tile = f.tile;
  options.engine.context = &context;
  std::vector<double> seconds;
  for (int run = 0; run <= runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    if (f.kind == Factorization::lu) {
      (void)lu(a, options);
    } else {
      (void)cholesky(a, options);
    }
    const auto end = std::chrono::steady_clock::now();
    if (run > 0) seconds.push_back(std::chrono::duration<double>(end - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return quantile(seconds, 0.5);
}

ordered_json to_json(const Row& row) {
  ordered_json json = {{"n", row.n},
                       {"tile", row.tile},
                       {"workers", row.workers},
                       {"seconds", row.times.seconds},
                       {"share_of_ideal", row.share()},
                       {"limit", row.limit()},
                       {"work", row.times.work},
                       {"chain", row.times.chain},
                       {"insertion", row.times.insertion},
                       {"memory", row.times.memory},
                       {"tasks", row.times.tasks}};
  if (row.measured > 0) json["measured"] = row.measured;
  return json;
}

void print(const Row& row) {
  fmt::print("{:>7} {:>5} {:>8} {:>11.4g} {:>6.0f} %  {:<10} {:>9}", row.n, row.tile, row.workers,
             1e3 * row.times.seconds, 100 * row.share(), row.limit(), row.times.tasks);
  if (row.measured > 0) {
    fmt::print(" {:>11.4g} {:>9.2f}", 1e3 * row.measured, row.times.seconds / row.measured);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

void bench_node(const NodeRequest& r) {
  const std::vector<std::int64_t> orders = sizes_in("--n", r.orders, tool::kLargestOrder);
  const std::vector<std::int64_t> workers = sizes_in("--workers", r.workers, 4096);
  std::map<std::int64_t, engine::TaskTimes> times;  // by tile
  ordered_json rows = ordered_json::array();
  if (!r.json) {
    fmt::print("{} at {}, simulated; tasks measured on one core of this machine\n", r.op, r.rung);
    fmt::print("      n  tile  workers          ms    ideal  limit          tasks{}\n",
               r.runs > 0 ? "    measured     ratio" : "");
  }
  for (const std::int64_t n : orders) {
    factor::SimulatedFactor f{r.op == "lu" ? Factorization::lu : Factorization::cholesky,
                              parse_map(r.rung).layers[0], n, r.tile};
    f.tile = factor::tile_of(f);
    if (!times.contains(f.tile)) times[f.tile] = factor::measure_tasks(f);
    SimulatedMachine machine;
    machine.bandwidth = 1e9 * r.bandwidth;
    machine.cache = 1e6 * r.cache;
    const double alone = factor::simulate(f, machine, times[f.tile]).seconds;
    for (const std::int64_t count : workers) {
      machine.workers = static_cast<int>(count);
      Row row{n, f.tile, machine.workers, factor::simulate(f, machine, times[f.tile]), alone, 0};
      if (r.runs > 0 && count <= num_threads()) row.measured = measure(f, machine.workers, r.runs);
      if (r.json) {
        rows.push_back(to_json(row));
      } else {
        print(row);
      }
    }
  }
  if (r.json) {
    fmt::print("{}\n", pretty({{"bench", "node"}, {"op", r.op}, {"rung", r.rung}, {"rows", rows}}));
  }
}

}  // namespace

void add_node_bench(tool::Verb bench) {
  const tool::Verb verb =
      bench.add_subcommand("node", "Simulate a factorization on a machine with many cores");
  const auto r = std::make_shared<NodeRequest>();
  verb.add_option("--op", r->op, "cholesky or lu")
      .check(tool::OneOf{"cholesky", "lu"})
      .capture_default_str();
  verb.add_option("--n", r->orders, "Orders, separated by commas").capture_default_str();
  verb.add_option("--workers", r->workers, "Numbers of cores, separated by commas")
      .capture_default_str();
  verb.add_option("--rung", r->rung, "Arithmetic of the factor").capture_default_str();
  verb.add_option("--tile", r->tile, "Order of a tile; default: that of a factorization")
      .check(tool::Range(32, 8192));
  verb.add_option("--bandwidth", r->bandwidth, "GB/s that all cores together read from memory")
      .check(tool::Range(1.0, 1e6))
      .capture_default_str();
  verb.add_option("--cache", r->cache, "MB of the last level of cache, which the cores share")
      .check(tool::Range(0.0, 1e6))
      .capture_default_str();
  verb.add_option("--runs", r->runs, "Real runs in addition, for as many cores as there are")
      .check(tool::Range(1, 1000));
  verb.add_flag("--json", r->json, "Print one JSON object");
  verb.callback([r] { bench_node(*r); });
  verb.footer(
      "The real task graph is inserted and replayed; no task runs, and memory is mapped and not\n"
      "touched. 'ideal': time of one core divided by that of all. 'limit': what the time can't be\n"
      "below: the work of the cores, the longest chain of tasks, their insertion, or the "
      "memory.\n\n"
      "Example:\n  stepwell bench node --op cholesky --n 16384 --workers 1,2,32,64 --runs 3");
}

}  // namespace stepwell::bench
