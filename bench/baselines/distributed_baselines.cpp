// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/distributed_baselines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>

#include <nlohmann/json.hpp>
#include "bench/baselines/baseline_scalapack.hpp"
#include "bench/harness/compete.hpp"
#include "bench/harness/data.hpp"
#include "bench/harness/guards.hpp"
#include "bench/harness/report.hpp"
#include "bench/problems/system.hpp"
#include "engine/runtime.hpp"
#include "gallery/tile_filler.hpp"
#include "options/requirements.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

constexpr int kPdposvBlocks[] = {64, 128, 256};
constexpr auto kNap = std::chrono::microseconds(500);

/// The arrays that pdposv overwrites, and a copy of A.
struct PdposvRoom {
  Scalapack scalapack;
  BlockCyclicMatrix a, whole_a, b;
  PdposvRoom(const Scalapack& s, const ProcessGrid& p, std::int64_t n, std::int64_t columns,
             int block)
      : scalapack(s),
        a(p, s.context, n, n, block),
        whole_a(p, s.context, n, n, block),
        b(p, s.context, n, columns, block) {}

  void prepare() const {
    std::copy(whole_a.local.begin(), whole_a.local.end(), a.local.begin());
    fill_right_hand_sides(b);
  }
  void run() const {
    const int one = 1;
    int info = 0;
    scalapack.posv("L", &a.descriptor[2], &b.descriptor[3], a.local.data(), &one, &one,
                   a.descriptor.data(), b.local.data(), &one, &one, b.descriptor.data(), &info, 1);
    if (info != 0) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("pdposv failed with info = {}; nothing to compare with", info));
    }
  }
};

/// pdposv with its fastest block size, after each block size has run.
DistributedBaseline pdposv_baseline(engine::Agreement& agreement, const Ranks& ranks,
                                    const ProcessGrid& p, const SolveRequest& r) {
  if (r.columns > kPdposvBlocks[0]) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--against pdposv allows at most {} right-hand sides", kPdposvBlocks[0]));
  }
  DistributedBaseline baseline;
  baseline.side = blas_side("pdposv", r.threads);
  Scalapack scalapack;
  agreement.attempt([&] {
    refuse_slow_blas(baseline.side, r.allow_slow_blas);
    // Our matrix, pdposv's matrix and its copy, and our factor.
    tool::require_memory(core::size_product(r.n, r.n, 26, "three matrices and a factor"));
    scalapack = load_scalapack();
  });
  start_grid(scalapack, p.rows, p.cols);
  baseline.context = scalapack.context;
  const FillTile fill = gallery::tile_filler(r.n, tool::recipe_of(r));
  std::shared_ptr<PdposvRoom> room;
  const auto make = [&](int block) {
    baseline.side.prepare = baseline.side.run = nullptr;
    room.reset();  // before the next allocation: there is memory for one only
    room = std::make_shared<PdposvRoom>(scalapack, p, r.n, r.columns, block);
    fill_block_cyclic(room->whole_a, fill);
    baseline.side.prepare = [room] { room->prepare(); };
    baseline.side.run = [room] { room->run(); };
    baseline.side.name = fmt::format("pdposv, blocks of {}", block);
    timed(ranks, baseline.side);  // the first run touches new memory
  };
  int best = 0, last = 0;
  double least = std::numeric_limits<double>::infinity();
  ordered_json tried = ordered_json::array();
  for (const int block : kPdposvBlocks) {
    make(last = block);
    const double seconds = timed(ranks, baseline.side);
    tried.push_back({{"block", block}, {"seconds", rounded(seconds)}});
    if (seconds < least) {
      least = seconds;
      best = block;
    }
  }
  if (best != last) make(best);
  baseline.backward_error = [&ranks, room] {
    return distributed_backward_error(ranks, room->whole_a, room->b);
  };
  baseline.details["baseline_blocks"] = tried;
  return baseline;
}

/// Waits for a message from rank 0 without using CPU time that rank 0's threads need: MPI's own
/// wait spins.
void wait_for_rank_0(engine::Communicator& ranks) {
  std::byte word{};
  ranks.start_receive({&word, 1}, 0, 0);
  while (ranks.done().empty()) std::this_thread::sleep_for(kNap);
}

void notify_other_ranks(engine::Communicator& ranks) {
  const std::byte word{};
  for (int to = 1; to < ranks.size(); ++to) ranks.wait(ranks.start_send({&word, 1}, to, 0));
}

/// solve_spd() on rank 0 alone, with the threads of all ranks; the other ranks sleep.
DistributedBaseline one_rank_baseline(engine::Agreement& agreement, const Ranks& ranks,
                                      const SolveRequest& r) {
  engine::Communicator& all = RanksData::of(ranks);
  if (all.sum_on_machine(1) != ranks.size()) {
    throw Error(
        ErrorCode::invalid_argument,
        "--against one-rank needs all ranks on one machine, so that one rank can use all cores");
  }
  std::shared_ptr<System> system;
  agreement.attempt([&] {
    // The matrix twice, block-cyclic and whole, and two factors.
    tool::require_memory(core::size_product(r.n, r.n, 20, "two matrices and two factors"));
    if (ranks.rank() != 0) return;
    SolveRequest alone = r;
    alone.assume = "spd";
    alone.threads = r.threads * ranks.size();
    system = std::make_shared<System>(alone);
  });
  DistributedBaseline baseline;
  if (system) baseline.side = solver_side(system);
  baseline.side.name = "solve_spd on one rank";
  baseline.side.prepare = [system] {
    if (system) start_workers(system->threads);
  };
  baseline.side.run = [&agreement, system] {
    std::exception_ptr error;
    if (!system) {
      wait_for_rank_0(agreement.ranks());
    } else {
      try {
        (void)system->solve(system->context, system->columns);
      } catch (...) {
        error = std::current_exception();
      }
      notify_other_ranks(agreement.ranks());
    }
    agreement.agree(error);
  };
  baseline.backward_error = [&all, system] {
    double error = system ? backward_error(*system, system->x.data()) : 0;
    all.broadcast(std::as_writable_bytes(std::span(&error, 1)), 0);
    return error;
  };
  timed(ranks, baseline.side);
  return baseline;
}

}  // namespace

const std::vector<std::string>& distributed_baseline_names() {
  static const std::vector<std::string> names = {"pdposv", "one-rank"};
  return names;
}

DistributedBaseline distributed_baseline(engine::Agreement& agreement, const Ranks& ranks,
                                         const ProcessGrid& p, const SolveRequest& request) {
  return request.against == "one-rank" ? one_rank_baseline(agreement, ranks, request)
                                       : pdposv_baseline(agreement, ranks, p, request);
}

void start_workers(int threads) {
  const engine::Session session({threads, 0});
}

double timed(const Ranks& ranks, const Side& side) {
  if (side.prepare) side.prepare();
  RanksData::of(ranks).barrier();
  const auto start = std::chrono::steady_clock::now();
  side.run();
  const auto took = std::chrono::steady_clock::now() - start;
  std::int64_t most = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  RanksData::of(ranks).largest({&most, 1});
  return 1e-9 * static_cast<double>(std::max<std::int64_t>(1, most));
}

}  // namespace stepwell::bench
