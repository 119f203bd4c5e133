// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/experiments/distributed_solve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>
#include "bench/baselines/distributed_baselines.hpp"
#include "bench/harness/data.hpp"
#include "bench/harness/guards.hpp"
#include "bench/harness/report.hpp"
#include "core/machine/environment.hpp"
#include "engine/agreement.hpp"
#include "factor/distributed/process_context.hpp"
#include "gallery/tile_filler.hpp"
#include "kernels/table.hpp"
#include "options/launcher.hpp"
#include "options/solve_options.hpp"
#include "report/certificate.hpp"
#include "report/ending.hpp"
#include "stepwell/error.hpp"

/// `bench solve --mpi`: A, b and x are ScaLAPACK arrays, for each side with the block size that
/// suits it.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

constexpr int kTile = 512;

SideResult result_of(const Side& side, std::vector<double> seconds) {
  std::vector<double> rates;
  for (const double s : seconds) rates.push_back(side.work / s * 1e-9);
  std::sort(seconds.begin(), seconds.end());
  return {quantile(seconds, 0.5), summarize(rates)};
}

/// alternate(), synchronized over all ranks: how often a side runs must not depend on a rank's own
/// clock.
ContestResult alternate_on(const Ranks& ranks, const Contest& contest, int pairs) {
  timed(ranks, contest.candidate);  // the baseline has run already
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

void print(const SolveRequest& r, const Ranks& ranks, const ProcessGrid& p, const Contest& contest,
           const ContestResult& result, const Certificate& c, const ordered_json& details) {
  if (r.json) {
    ordered_json what = {{"bench", "solve"},        {"kind", r.kind},
                         {"structure", "spd"},      {"condition", r.condition},
                         {"seed", r.seed},          {"n", r.n},
                         {"columns", r.columns},    {"map", r.map},
                         {"against", r.against},    {"ranks", ranks.size()},
                         {"grid", {p.rows, p.cols}}};
    what = bench_json(std::move(what), contest, result);
    what.update(details);
    what["certificate"] = tool::certificate_json(c);
    fmt::print("{}\n", pretty(what));
    return;
  }
  fmt::print("{}", bench_text(fmt::format("solve {}, n = {}, on {} ranks, grid {} x {}", r.kind,
                                          r.n, ranks.size(), p.rows, p.cols),
                              contest, result));
  fmt::print("  path      {} with {}, {} iterations; backward error {:.2g} u\n", map_text(c.method),
             refiner_text(c.method), c.iterations,
             details["backward_error"].get<double>() * 0x1p53);
  const std::string blocks = details.contains("baseline_blocks")
                                 ? "; blocks tried: " + details["baseline_blocks"].dump()
                                 : "";
  fmt::print("  baseline  backward error {:.2g} u{}\n",
             details["baseline_backward_error"].get<double>() * 0x1p53, blocks);
  fmt::print("  seconds   analysis {:.3g}, factor {:.3g}, refine {:.3g} (last run)\n",
             c.times.analysis, c.times.factor, c.times.refine);
}

void bench_on(const Ranks& ranks, const SolveRequest& asked) {
  SolveRequest r = asked;
  const std::vector<std::string>& names = distributed_baseline_names();
  if (r.against.empty()) r.against = names[0];
  if (std::find(names.begin(), names.end(), r.against) == names.end()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("over ranks 'solve' can't be compared with '{}'; the baselines are {}",
                            r.against, fmt::join(names, ", ")));
  }
  if (r.n > std::numeric_limits<int>::max()) {
    throw Error(ErrorCode::invalid_argument,
                "--n is too large: ScaLAPACK's arrays have sizes of type int");
  }
  const FillTile fill = gallery::tile_filler(r.n, tool::recipe_of(r));
  const factor::ProcessContext process(RanksData::of(ranks),
                                       tiles::Distribution::choose(ranks.size(), {}));
  if (r.threads == 0) r.threads = process.threads(nullptr);
  const BlasThreads blas_threads(r.threads);
  engine::Agreement agreement(RanksData::of(ranks));
  const ProcessGrid p(ranks);
  const DistributedBaseline baseline = distributed_baseline(agreement, ranks, p, r);

  const BlockCyclicMatrix a(p, baseline.context, r.n, r.n, kTile);
  const BlockCyclicMatrix b(p, baseline.context, r.n, r.columns, kTile);
  const BlockCyclicMatrix x(p, baseline.context, r.n, r.columns, kTile);
  fill_block_cyclic(a, fill);
  fill_right_hand_sides(b);
  Context context(r.threads);
  SolveOptions options;
  if (!r.map.empty()) options.map = parse_map(r.map);
  options.refine.refiner = tool::refiner_of(r.refiner);
  options.engine.context = &context;
  Certificate c;
  Contest contest;
  contest.clock = Clock::wall;
  contest.rate_unit = "Gflop/s";
  contest.candidate = our_side("solve_spd over ranks", kernels::table().cap, r.threads);
  contest.candidate.prepare = [&] { start_workers(r.threads); };
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
  const double error = distributed_backward_error(ranks, a, x);
  const double baseline_error = baseline.backward_error();
  if (!(error <= c.tolerance && baseline_error <= c.tolerance)) {
    throw Error(
        ErrorCode::internal,
        fmt::format("the result is wrong and is not timed: backward errors {:.2g} and, for {}, "
                    "{:.2g}",
                    error, r.against, baseline_error));
  }
  ordered_json details = {{"backward_error", error}, {"baseline_backward_error", baseline_error}};
  details.update(baseline.details);
  if (ranks.rank() == 0) print(r, ranks, p, contest, result, c, details);
}

}  // namespace

void bench_distributed_solve(const SolveRequest& request) {
  // Ranks that wait for a message yield their core, on both sides. Open MPI reads this variable
  // when it starts.
  core::set_default_variable("OMPI_MCA_mpi_yield_when_idle", "1");
  const Ranks ranks = tool::load_ranks();
  try {
    bench_on(ranks, request);
  } catch (const Error& e) {
    // All ranks have the error; only rank 0 reports it.
    if (ranks.rank() == 0) throw;
    throw tool::Failure{static_cast<int>(e.code()), ""};
  }
}

}  // namespace stepwell::bench
