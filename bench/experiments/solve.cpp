// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/experiments/solve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include <nlohmann/json.hpp>
#include "bench/baselines/distributed_baselines.hpp"
#include "bench/experiments/distributed_solve.hpp"
#include "bench/harness/compete.hpp"
#include "bench/harness/guards.hpp"
#include "bench/harness/report.hpp"
#include "bench/problems/system.hpp"
#include "core/machine/threads.hpp"
#include "options/launcher.hpp"
#include "options/requirements.hpp"
#include "report/certificate.hpp"
#include "stepwell/error.hpp"

/// `bench solve`: solve_spd() against LAPACK's dposv or dsposv, solve_general() against dgesv or
/// dsgesv, or against itself on one thread or with one right-hand side. All of them must deliver
/// FP64 accuracy.
namespace stepwell::bench {

using nlohmann::ordered_json;

std::string solve_bench_help() {
  return tool::kinds_help() +
         "\nBaselines: dposv, dsposv (LAPACK, as many threads), mkl-dposv (oneMKL's, see --mkl);\n"
         "for general systems dgesv, dsgesv, mkl-dgesv; one-worker (the same on one thread),\n"
         "one-column (the same with one right-hand side).\n"
         "Over ranks, under mpirun or with --mpi: pdposv (ScaLAPACK's, on the same ranks),\n"
         "one-rank (the same on one rank, with the threads of all).\n"
         "\nExample:\n  stepwell bench solve --kind arithmetic --cond 1e2 --n 8192\n"
         "  stepwell bench solve --n 50,200,1000,4096 --against dposv,mkl-dposv --pairs 15\n"
         "  stepwell bench solve --kind positive-clustered --against dsgesv\n"
         "  mpirun -n 2 --bind-to none stepwell bench solve --mpi --against pdposv --n 8192";
}

void bench_solve(const SolveRequest& asked) {
  if (asked.mpi || tool::launched_ranks() > 1) return bench_distributed_solve(asked);
  SolveRequest request = asked;
  if (request.threads == 0) request.threads = core::default_threads();
  const bool general = is_general(request);
  request.assume = general ? "general" : "spd";
  const std::vector<std::string>& names = lapack_names(general);
  if (request.against.empty()) request.against = names[0];
  const bool lapack = std::find(names.begin(), names.end(), request.against) != names.end();
  const std::vector<std::string>& distributed = distributed_baseline_names();
  if (std::find(distributed.begin(), distributed.end(), request.against) != distributed.end()) {
    throw Error(ErrorCode::invalid_argument,
                request.against + " is a baseline over ranks: start it with mpirun, or give --mpi");
  }
  if (!lapack && request.against != "one-worker" && request.against != "one-column") {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("'solve' with structure {} can't be compared with '{}'; the baselines are {}, "
                    "one-worker, one-column",
                    request.assume, request.against, fmt::join(names, ", ")));
  }
  tool::require_memory(system_bytes(request.n, request.against, general));
  const BlasThreads blas_threads(request.threads);
  const auto s = std::make_shared<System>(request);
  Contest contest;
  contest.clock = Clock::wall;
  contest.rate_unit = "Gflop/s";
  contest.candidate = solver_side(s);
  const auto room = std::make_shared<LapackRoom>();
  if (lapack) {
    contest.baseline = lapack_side(s, room, request.against);
  } else {
    const bool one_worker = request.against == "one-worker";
    contest.baseline = contest.candidate;
    contest.baseline.threads = one_worker ? 1 : request.threads;
    contest.baseline.name += one_worker ? " on one thread" : " of one column";
    contest.baseline.run = [s, one_worker] {
      (void)s->solve(one_worker ? s->one : s->context, one_worker ? s->columns : 1);
    };
  }
  const ContestResult result = compete(contest, request.pairs, request.allow_slow_blas);

  ordered_json details = {{"backward_error", backward_error(*s, s->x.data())}};
  if (lapack) {
    details["baseline_backward_error"] =
        backward_error(*s, lapack_solution(*room, request.against));
    if (is_mixed(request.against)) details["baseline_iterations"] = room->iterations;
  }
  details["certificate"] = tool::certificate_json(s->last);
  if (request.json) {
    ordered_json what = {{"bench", "solve"},
                         {"kind", request.kind},
                         {"structure", request.assume},
                         {"condition", request.condition},
                         {"length", request.length},
                         {"nugget", request.nugget},
                         {"seed", request.seed},
                         {"sorted", request.sorted},
                         {"n", request.n},
                         {"columns", request.columns},
                         {"map", request.map},
                         {"refiner", request.refiner},
                         {"against", request.against}};
    what = bench_json(std::move(what), contest, result);
    what.update(details);
    fmt::print("{}\n", pretty(what));
    return;
  }
  const Certificate& c = s->last;
  fmt::print("{}", bench_text(fmt::format("solve {}, n = {}, {} column{}", request.kind, request.n,
                                          request.columns, request.columns == 1 ? "" : "s"),
                              contest, result));
  fmt::print("  path      {} with {}, {} iterations; backward error {:.2g} u\n", map_text(c.method),
             refiner_text(c.method), c.iterations,
             details["backward_error"].get<double>() * 0x1p53);
  if (details.contains("baseline_backward_error")) {
    fmt::print("  baseline  backward error {:.2g} u\n",
               details["baseline_backward_error"].get<double>() * 0x1p53);
  }
  if (c.factor.growth > 0) fmt::print("  growth    {:.3g}\n", c.factor.growth);
  fmt::print("  seconds   analysis {:.3g}, factor {:.3g}, refine {:.3g} (last run)\n",
             c.times.analysis, c.times.factor, c.times.refine);
  for (const LadderStep& r : c.rungs) {
    if (!r.reason.empty())
      fmt::print("  tried     {}: {} ({:.3g} s)\n", map_text(r.method), r.reason, r.seconds);
  }
}

}  // namespace stepwell::bench
