// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/experiments/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/experiments/solve.hpp"
#include "bench/harness/report.hpp"
#include "core/buffer.hpp"
#include "gallery/gallery.hpp"
#include "gallery/recipe.hpp"
#include "options/requirements.hpp"
#include "solvers/simulation/simulated_solve.hpp"

namespace stepwell::bench {
namespace {

using engine::SimulatedMachine;
using engine::SimulatedTimes;
using nlohmann::ordered_json;
using solvers::SimulatedSolve;

struct NodeRequest {
  std::string op = "cholesky";
  std::string orders = "2048,4096,8192,16384";
  std::string workers = "1,2,4,8,16,32,64,128";
  std::string rung = "bf16";
  std::int64_t tile = 0;
  double bandwidth = SimulatedMachine::server(1).bandwidth / 1e9;  ///< GB/s
  double cache = SimulatedMachine::server(1).cache / 1e6;          ///< MB
  int iterations = 8;
  int runs = 0;
  bool json = false;
};

/// Real runs; 0: there were none.
struct Measured {
  double factor = 0, solve = 0;
};

struct Row {
  std::int64_t n = 0, tile = 0;
  int workers = 1;
  SimulatedSolve solve;
  double alone = 0, alone_solve = 0;  ///< seconds of one worker: factor, whole solve
  int iterations = 0;
  Measured measured;

  const SimulatedTimes& factor() const { return solve.factor; }
  double share() const { return alone / (factor().seconds * workers); }
  double seconds() const { return solve.seconds(iterations); }
  double solve_share() const { return alone_solve / (seconds() * workers); }
  /// What the time can't be below, the largest of it: of the factor, and of an iteration.
  std::string limit() const {
    const SimulatedTimes& t = factor();
    return largest({{t.work / workers, "cores"},
                    {t.chain, "chain"},
                    {t.insertion, "insertion"},
                    {t.memory, "memory"}});
  }
  std::string iteration_limit() const {
    return largest({{solve.cores, "cores"}, {solve.memory, "memory"}, {solve.chain, "chain"}});
  }

 private:
  using Limit = std::pair<double, const char*>;
  static std::string largest(std::initializer_list<Limit> limits) {
    return std::max_element(limits.begin(), limits.end())->second;
  }
};

/// The fastest of real runs with so many threads, as the tasks are the fastest.
Measured measure(const factor::SimulatedFactor& f, int threads, int runs) {
  const auto n = f.n;
  tool::require_memory(core::size_product(n, n, 8, "matrix"));
  const bool general = f.kind == Factorization::lu;
  core::Buffer<double> memory(core::size_product(n, n, "matrix")), b(n), x(n);
  const MatrixView<double> a = view(memory.data(), n, n);
  gallery::Recipe recipe;
  recipe.kind = general ? gallery::Kind::positive_arithmetic : gallery::Kind::arithmetic;
  gallery::fill(a, recipe, num_threads());
  for (std::int64_t i = 0; i < n; ++i) b[i] = gallery::noise(static_cast<std::uint64_t>(i));
  Context context(threads);
  SolveOptions options;
  options.map = uniform(f.rung);
  options.tile = f.tile;
  options.engine.context = &context;
  Measured fastest;
  for (int run = 0; run <= runs; ++run) {
    const auto from = view<const double>(b.data(), n, 1);
    const Certificate c = general ? solve_general(a, from, view(x.data(), n, 1), options)
                                  : solve_spd(a, from, view(x.data(), n, 1), options);
    if (!c.ok()) throw Error(ErrorCode::internal, "a test system was not solved: " + c.reason);
    if (run == 0) continue;  // maps memory and starts the workers
    const bool first = run == 1;
    fastest.factor = first ? c.times.factor : std::min(fastest.factor, c.times.factor);
    fastest.solve = first ? c.times.wall : std::min(fastest.solve, c.times.wall);
  }
  return fastest;
}

ordered_json to_json(const Row& row) {
  ordered_json json = {{"n", row.n},
                       {"tile", row.tile},
                       {"workers", row.workers},
                       {"factor_seconds", row.factor().seconds},
                       {"factor_share_of_ideal", row.share()},
                       {"factor_limit", row.limit()},
                       {"work", row.factor().work},
                       {"chain", row.factor().chain},
                       {"insertion", row.factor().insertion},
                       {"memory", row.factor().memory},
                       {"tasks", row.factor().tasks},
                       {"analysis_seconds", row.solve.analysis},
                       {"iteration_seconds", row.solve.iteration},
                       {"iteration_limit", row.iteration_limit()},
                       {"solve_seconds", row.seconds()},
                       {"solve_share_of_ideal", row.solve_share()}};
  if (row.measured.factor > 0) {
    json["measured_factor_seconds"] = row.measured.factor;
    json["measured_solve_seconds"] = row.measured.solve;
  }
  return json;
}

void print(const Row& row) {
  fmt::print("{:>7} {:>5} {:>8} {:>9.4g} {:>5.0f} %  {:<9} {:>9.4g} {:>5.0f} %  {:<7}", row.n,
             row.tile, row.workers, 1e3 * row.factor().seconds, 100 * row.share(), row.limit(),
             1e3 * row.seconds(), 100 * row.solve_share(), row.iteration_limit());
  if (row.measured.factor > 0) {
    fmt::print(" {:>9.4g} {:>6.2f} {:>9.4g} {:>6.2f}", 1e3 * row.measured.factor,
               row.factor().seconds / row.measured.factor, 1e3 * row.measured.solve,
               row.seconds() / row.measured.solve);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

void bench_node(const NodeRequest& r) {
  const std::vector<std::int64_t> orders = sizes_in("--n", r.orders, tool::kLargestOrder);
  const std::vector<std::int64_t> workers = sizes_in("--workers", r.workers, 4096);
  std::map<std::int64_t, engine::TaskTimes> tasks;                              // by tile
  std::map<std::pair<std::int64_t, std::int64_t>, solvers::SolveCosts> solves;  // by tile and n
  ordered_json rows = ordered_json::array();
  if (!r.json) {
    fmt::print(
        "{} at {}, and a solve of {} iterations, simulated; tasks measured on one core here\n",
        r.op, r.rung, r.iterations);
    fmt::print("      n  tile  workers factor ms   ideal  limit      solve ms   ideal  limit{}\n",
               r.runs > 0 ? "   measured  ratio  measured  ratio" : "");
  }
  for (const std::int64_t n : orders) {
    factor::SimulatedFactor f{r.op == "lu" ? Factorization::lu : Factorization::cholesky,
                              parse_map(r.rung).layers[0], n, r.tile};
    f.tile = factor::tile_of(f);
    const std::pair key{f.tile, solvers::measured_order(n)};
    if (!tasks.contains(f.tile)) tasks[f.tile] = factor::measure_tasks(f);
    if (!solves.contains(key)) solves[key] = solvers::measure_solve(f);
    SimulatedMachine machine;
    machine.bandwidth = 1e9 * r.bandwidth;
    machine.cache = 1e6 * r.cache;
    const auto simulate = [&] {
      return solvers::simulate_solve(f, machine, tasks[f.tile], solves[key]);
    };
    const SimulatedSolve alone = simulate();
    for (const std::int64_t count : workers) {
      machine.workers = static_cast<int>(count);
      Row row{n,
              f.tile,
              machine.workers,
              simulate(),
              alone.factor.seconds,
              alone.seconds(r.iterations),
              r.iterations,
              {}};
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
  const tool::Verb verb = bench.add_subcommand(
      "node", "Simulate a factorization and a solve on a machine with many cores");
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
  verb.add_option("--iterations", r->iterations, "Iterations of refinement of a solve")
      .check(tool::Range(1, 1000))
      .capture_default_str();
  verb.add_option("--runs", r->runs, "Real runs in addition, for as many cores as there are")
      .check(tool::Range(1, 1000));
  verb.add_flag("--json", r->json, "Print one JSON object");
  verb.callback([r] { bench_node(*r); });
  verb.footer(
      "The real task graph is inserted and replayed; no task runs, and memory is mapped and not\n"
      "touched. Refinement is computed from the time of one core and what it reads. 'ideal': time\n"
      "of one core divided by that of all. 'limit': what the time can't be below: the work of the\n"
      "cores, the longest chain of tasks, their insertion, or the memory; of the factor, then of\n"
      "an iteration.\n\n"
      "Example:\n  stepwell bench node --op cholesky --n 16384 --workers 1,2,32,64 --runs 3");
}

}  // namespace stepwell::bench
