// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "ranked_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <optional>

#include "baseline_scalapack.hpp"
#include "certificate_json.hpp"
#include "data.hpp"
#include "engine/agreement.hpp"
#include "factor/share.hpp"
#include "gallery/tile_filler.hpp"
#include "guards.hpp"
#include "kernels/table.hpp"
#include "large.hpp"
#include "launcher.hpp"
#include "memory.hpp"
#include "ranked_system.hpp"
#include "report.hpp"
#include "solve_options.hpp"
#include "stepwell/error.hpp"
#include "verbs.hpp"

/// `bench solve --mpi`: A, b and x lie in ScaLAPACK's arrays, each side's in blocks that suit it.
namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

constexpr int kTile = 512;
constexpr int kPdposvBlocks[] = {64, 128, 256};

/// What pdposv overwrites, and what it was.
struct PdposvRoom {
  DealtMatrix a, whole_a, b;
  PdposvRoom(const ProcessGrid& p, int context, std::int64_t n, std::int64_t columns, int block)
      : a(p, context, n, n, block),
        whole_a(p, context, n, n, block),
        b(p, context, n, columns, block) {}

  void prepare() const {
    std::copy(whole_a.local.begin(), whole_a.local.end(), a.local.begin());
    fill_right_hand_sides(b);
  }
  void run(const Scalapack& s) const {
    const int one = 1;
    int info = 0;
    s.posv("L", &a.descriptor[2], &b.descriptor[3], a.local.data(), &one, &one, a.descriptor.data(),
           b.local.data(), &one, &one, b.descriptor.data(), &info, 1);
    if (info != 0) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("pdposv failed with info = {}; nothing to compare with", info));
    }
  }
};

/// Seconds of a call, those of the rank that takes longest: the same on all ranks.
double timed(const Ranks& ranks, const Side& side) {
  if (side.prepare) side.prepare();
  ranks.communicator().barrier();
  const auto start = std::chrono::steady_clock::now();
  side.run();
  const auto took = std::chrono::steady_clock::now() - start;
  std::int64_t most = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  ranks.communicator().largest({&most, 1});
  return 1e-9 * static_cast<double>(std::max<std::int64_t>(1, most));
}

SideResult result_of(const Side& side, std::vector<double> seconds) {
  std::vector<double> rates;
  for (const double s : seconds) rates.push_back(side.work / s * 1e-9);
  std::sort(seconds.begin(), seconds.end());
  return {quantile(seconds, 0.5), summarize(rates)};
}

/// alternate(), in step on all ranks: how often a side runs must not depend on a rank's own clock.
ContestResult alternate_on(const Ranks& ranks, const Contest& contest, int pairs) {
  timed(ranks, contest.candidate);  // the baseline has been warmed up by the choice of its block
  std::vector<double> ours, theirs, ratios;
  for (int pair = 0; pair < pairs; ++pair) {
    for (const bool candidate : {pair % 2 == 0, pair % 2 != 0}) {
      (candidate ? ours : theirs)
          .push_back(timed(ranks, candidate ? contest.candidate : contest.baseline));
    }
    ratios.push_back(theirs.back() / ours.back());
  }
  return {result_of(contest.candidate, ours), result_of(contest.baseline, theirs),
          summarize(ratios), ratios};
}

/// pdposv with the fastest of its blocks, of which each has run once.
struct Baseline {
  std::optional<PdposvRoom> room;
  Side side;
  ordered_json tried = ordered_json::array();
};

Side pdposv_side(const PdposvRoom& room, const Scalapack& scalapack, int threads) {
  Side side = blas_side("pdposv", threads);
  side.prepare = [&room] { room.prepare(); };
  side.run = [&room, &scalapack] { room.run(scalapack); };
  return side;
}

void choose_block(Baseline& baseline, const Ranks& ranks, const ProcessGrid& p,
                  const Scalapack& scalapack, const SolveRequest& r, const FillTile& fill) {
  const auto make = [&](int block) {
    baseline.room.reset();  // before the next: the memory is there once
    baseline.room.emplace(p, scalapack.context, r.n, r.columns, block);
    fill_dealt(baseline.room->whole_a, fill);
    baseline.side = pdposv_side(*baseline.room, scalapack, r.threads);
    baseline.side.name = fmt::format("pdposv, blocks of {}", block);
  };
  int best = 0, last = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const int block : kPdposvBlocks) {
    make(last = block);
    timed(ranks, baseline.side);  // new memory
    const double seconds = timed(ranks, baseline.side);
    baseline.tried.push_back({{"block", block}, {"seconds", rounded(seconds)}});
    if (seconds < least) {
      least = seconds;
      best = block;
    }
  }
  if (best != last) {
    make(best);
    timed(ranks, baseline.side);
  }
}

void print(const SolveRequest& r, const Ranks& ranks, const ProcessGrid& p, const Contest& contest,
           const ContestResult& result, const Certificate& c, const ordered_json& details) {
  if (r.json) {
    ordered_json what = {{"bench", "solve"},        {"kind", r.kind},
                         {"structure", "spd"},      {"condition", r.condition},
                         {"seed", r.seed},          {"n", r.n},
                         {"columns", r.columns},    {"map", r.map},
                         {"against", "pdposv"},     {"ranks", ranks.size()},
                         {"grid", {p.rows, p.cols}}};
    what = bench_json(std::move(what), contest, result);
    what.update(details);
    what["certificate"] = certificate_json(c);
    fmt::print("{}\n", pretty(what));
    return;
  }
  fmt::print("{}", bench_text(fmt::format("solve {}, n = {}, on {} ranks, grid {} x {}", r.kind,
                                          r.n, ranks.size(), p.rows, p.cols),
                              contest, result));
  fmt::print("  path      {} with {}, {} iterations; backward error {:.2g} u\n", c.map, c.refiner,
             c.iterations, details["backward_error"].get<double>() * 0x1p53);
  fmt::print("  baseline  backward error {:.2g} u; blocks tried: {}\n",
             details["baseline_backward_error"].get<double>() * 0x1p53,
             details["baseline_blocks"].dump());
  fmt::print("  seconds   survey {:.3g}, factor {:.3g}, refine {:.3g} (last run)\n", c.times.survey,
             c.times.factor, c.times.refine);
}

void bench_on(const Ranks& ranks, const SolveRequest& asked) {
  SolveRequest r = asked;
  if (!r.against.empty() && r.against != "pdposv") {
    throw Error(ErrorCode::invalid_argument,
                "over ranks 'solve' is compared with pdposv, not with '" + r.against + "'");
  }
  if (r.n > std::numeric_limits<int>::max() || r.columns > kPdposvBlocks[0]) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("ScaLAPACK's sizes are int, and at most {} columns are compared",
                            kPdposvBlocks[0]));
  }
  const FillTile fill = gallery::tile_filler(r.n, recipe_of(r));
  const factor::Share share(ranks.communicator(), tiles::Distribution::choose(ranks.size(), {}));
  if (r.threads == 0) r.threads = share.threads(nullptr);
  engine::Agreement agreement(ranks.communicator());
  agreement.attempt([&] {
    refuse_slow_blas(blas_side("pdposv", r.threads), r.allow_slow_blas);
    // Ours, theirs twice, and our factor.
    require_memory(core::size_product(r.n, r.n, 26, "three matrices and a factor"));
  });
  const ProcessGrid p(ranks);
  Scalapack scalapack;
  agreement.attempt([&] { scalapack = load_scalapack(); });
  start_grid(scalapack, p.rows, p.cols);
  const BlasThreads blas_threads(r.threads);
  Baseline baseline;
  choose_block(baseline, ranks, p, scalapack, r, fill);

  const DealtMatrix a(p, scalapack.context, r.n, r.n, kTile);
  const DealtMatrix b(p, scalapack.context, r.n, r.columns, kTile);
  const DealtMatrix x(p, scalapack.context, r.n, r.columns, kTile);
  fill_dealt(a, fill);
  fill_right_hand_sides(b);
  Context context(r.threads);
  SolveOptions options;
  if (!r.map.empty()) options.map = parse_map(r.map);
  options.refiner = refiner_of(r.refiner);
  options.context = &context;
  Certificate c;
  Contest contest;
  contest.clock = Clock::wall;
  contest.rate_unit = "Gflop/s";
  contest.candidate = our_side("solve_spd over ranks", kernels::table().cap, r.threads);
  contest.candidate.run = [&] {
    c = solve_spd(ranks, ScalapackMatrix{a.local.data(), a.descriptor},
                  ScalapackMatrix{b.local.data(), b.descriptor},
                  ScalapackSolution{x.local.data(), x.descriptor}, options);
    if (!c.ok()) throw Error(ErrorCode::unsupported, "the solve did not converge: " + c.reason);
  };
  contest.baseline = baseline.side;
  const auto n = static_cast<double>(r.n);
  contest.candidate.work = contest.baseline.work =
      n * n * n / 3 + 2 * n * n * static_cast<double>(r.columns);
  const ContestResult result = alternate_on(ranks, contest, r.pairs);
  const DealtMatrix& whole = baseline.room->whole_a;
  const double error = ranked_backward_error(ranks, whole, x);
  const double baseline_error = ranked_backward_error(ranks, whole, baseline.room->b);
  if (!(error <= c.tolerance && baseline_error <= c.tolerance)) {
    throw Error(ErrorCode::internal,
                fmt::format("a wrong answer has no speed: backward errors {:.2g} and, of pdposv, "
                            "{:.2g}",
                            error, baseline_error));
  }
  const ordered_json details = {{"backward_error", error},
                                {"baseline_backward_error", baseline_error},
                                {"baseline_blocks", baseline.tried}};
  if (ranks.rank() == 0) print(r, ranks, p, contest, result, c, details);
}

}  // namespace

void bench_ranked_solve(const SolveRequest& request) {
  // Ranks that wait for a message give up their core, on both sides; Open MPI reads it at its
  // start.
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  const Ranks ranks = load_ranks();
  try {
    bench_on(ranks, request);
  } catch (const Error& e) {
    // All ranks have it, and one says it.
    if (ranks.rank() == 0) throw;
    throw Failure{static_cast<int>(e.code()), ""};
  }
}

}  // namespace stepwell::tool
