// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/experiments/insertion.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/harness/report.hpp"
#include "engine/communicator.hpp"
#include "engine/graph.hpp"
#include "factor/cholesky/graph.hpp"
#include "factor/cholesky/workspace.hpp"
#include "options/verb.hpp"
#include "stepwell/error.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::bench {
namespace {

using engine::Communicator;

struct GraphRequest {
  std::int64_t n = 1048576;
  std::int64_t tile = 2048;
  std::string map = "bf16";
  std::string layout = "grid";
  int ranks = 1024;
  int rank = 0;
  int threads = 0;
  std::string run_by = "starpu";
  bool json = false;
};

/// A communicator for one of many ranks that do not exist: every message completes at once.
class SimulatedCommunicator : public Communicator {
 public:
  SimulatedCommunicator(int rank, int size) : rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool many_threads() const override { return true; }
  void sum(std::span<double>) override {}
  void largest(std::span<std::int64_t>) override {}
  void broadcast(std::span<std::byte>, int) override {}
  void barrier() override {}
  std::int64_t sum_on_machine(std::int64_t x) override { return x; }
  Request start_send(std::span<const std::byte> x, int, int) override {
    ++sent_;
    bytes_ += std::ssize(x);
    return keep();
  }
  Request start_receive(std::span<std::byte>, int, int) override {
    ++received_;
    return keep();
  }
  void wait(Request) override {}
  std::vector<Request> done() override { return std::exchange(done_, {}); }
  std::int64_t bytes_sent() const override { return bytes_; }
  std::int64_t messages_sent() const override { return sent_; }
  std::int64_t messages_received() const { return received_; }
  void abort(int) override { throw Error(ErrorCode::internal, "a rank aborted"); }

 private:
  Request keep() {
    done_.push_back(next_);
    return next_++;
  }

  int rank_, size_;
  Request next_ = 0;
  std::vector<Request> done_;
  std::int64_t sent_ = 0, received_ = 0, bytes_ = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// CPU seconds of the calling thread, or of all, which do not depend on what else the machine does.
double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Peak resident memory of this process.
std::int64_t resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

void bench_graph(const GraphRequest& r) {
  if (r.rank >= r.ranks) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--rank {}: there are {} ranks, counted from 0", r.rank, r.ranks));
  }
  const auto start = std::chrono::steady_clock::now();
  DistributedOptions layout;
  layout.layout = r.layout == "symmetric" ? Layout::symmetric : Layout::grid;
  const auto owners = tiles::Distribution::choose(r.ranks, layout);
  const tiles::RungMap map({r.n, r.tile}, parse_map(r.map));
  const tiles::TileMatrix l(map, owners, r.rank);  // mapped, and never touched
  SimulatedCommunicator ranks(r.rank, r.ranks);
  engine::GraphOptions options;
  options.settings.threads = r.threads;
  options.dry = true;
  if (r.ranks > 1) {
    options.ranks = &ranks;
  } else if (r.run_by != "starpu") {
    options.run_by = r.run_by == "caller" ? engine::RunBy::caller : engine::RunBy::thread_pool;
  }
  engine::Graph graph(options);
  const double prepared = seconds_since(start);

  const double cpu = cpu_seconds(RUSAGE_THREAD), cpu_of_all = cpu_seconds(RUSAGE_SELF);
  factor::CholeskyState state;
  state.l = &l;
  state.rank = r.rank;
  const factor::Schedule schedule = factor::schedule_for(map, owners, factor::Windows::by_memory);
  factor::left_looking(graph, state, schedule);
  const double inserted = seconds_since(start) - prepared;
  const double cpu_inserted = cpu_seconds(RUSAGE_THREAD) - cpu;

  const engine::GraphTimes times = graph.times();
  const auto tasks = static_cast<double>(std::max<std::int64_t>(1, times.tasks));
  const double cpu_a_task = (cpu_seconds(RUSAGE_SELF) - cpu_of_all) / tasks;
  const double uses_a_task = static_cast<double>(times.uses) / tasks;
  const std::int64_t mapped =
      l.bytes() + factor::Needs(map, owners, schedule, r.rank, times.workers).bytes();
  const nlohmann::ordered_json json = {
      {"bench", "graph"},
      {"n", r.n},
      {"tile", r.tile},
      {"map", r.map},
      {"layout", owners.name()},
      {"ranks", r.ranks},
      {"rank", r.rank},
      {"workers", times.workers},
      {"tiles", map.grid().count()},
      {"tasks", times.tasks},
      {"uses_a_task", uses_a_task},
      {"messages_sent", ranks.messages_sent()},
      {"messages_received", ranks.messages_received()},
      {"bytes_sent", ranks.bytes_sent()},
      {"seconds_to_prepare", prepared},
      {"seconds", inserted},
      {"cpu_seconds", cpu_inserted},
      {"cpu_seconds_a_task", cpu_a_task},
      {"resident_bytes", resident_bytes()},
      {"mapped_bytes", mapped},
  };
  if (r.json) {
    fmt::print("{}\n", pretty(json));
    return;
  }
  fmt::print("n = {}, {} tiles of {}, {}; rank {} of {}, {}\n", r.n, map.grid().count(), r.tile,
             r.map, r.rank, r.ranks, owners.name());
  fmt::print("tasks      {}, {:.1f} pieces of data each; {:.2f} us of CPU time each, all threads\n",
             times.tasks, uses_a_task, 1e6 * cpu_a_task);
  fmt::print("messages   {} sent ({:.2f} GB), {} received\n", ranks.messages_sent(),
             1e-9 * static_cast<double>(ranks.bytes_sent()), ranks.messages_received());
  fmt::print(
      "inserting  {:.3f} s, {:.3f} s CPU time of the inserting thread; preparation {:.3f} s\n",
      inserted, cpu_inserted, prepared);
  fmt::print("memory     {:.3f} GB resident; {:.2f} GB would be in use\n",
             1e-9 * static_cast<double>(resident_bytes()), 1e-9 * static_cast<double>(mapped));
}

}  // namespace

void add_graph_bench(tool::Verb bench) {
  const tool::Verb verb = bench.add_subcommand(
      "graph", "Measure the time that one of many ranks needs to insert its tasks");
  const auto r = std::make_shared<GraphRequest>();
  verb.add_option("--n", r->n, "Order of the matrix")
      .check(tool::Range(std::int64_t{1}, std::int64_t{1} << 31))
      .capture_default_str();
  verb.add_option("--tile", r->tile, "Order of a tile")
      .check(tool::Range(std::int64_t{32}, std::int64_t{8192}))
      .capture_default_str();
  verb.add_option("--map", r->map, "Precision map").capture_default_str();
  verb.add_option("--ranks", r->ranks, "Number of ranks that are simulated")
      .check(tool::Range(1, 1 << 24))
      .capture_default_str();
  verb.add_option("--rank", r->rank, "The rank that is measured")
      .check(tool::Range(0, 1 << 24))
      .capture_default_str();
  verb.add_option("--layout", r->layout, "Distribution of the tiles: grid or symmetric")
      .check(tool::OneOf{"grid", "symmetric"})
      .capture_default_str();
  verb.add_option("--threads", r->threads, "Workers; default: all").check(tool::Range(1, 1024));
  verb.add_option("--run-by", r->run_by,
                  "With one rank: who runs the tasks, pool, starpu or caller")
      .check(tool::OneOf{"pool", "starpu", "caller"})
      .capture_default_str();
  verb.add_flag("--json", r->json, "Print one JSON object");
  verb.callback([r] { bench_graph(*r); });
  verb.footer(
      "No kernel runs and no message is sent: the engine's overhead remains. The memory of tiles\n"
      "is mapped and not touched.\n\n"
      "Examples:\n  stepwell bench graph --n 1048576 --tile 2048 --ranks 1024 --rank 0\n"
      "  stepwell bench graph --ranks 1 --n 16384 --tile 256 --run-by pool");
}

}  // namespace stepwell::bench
