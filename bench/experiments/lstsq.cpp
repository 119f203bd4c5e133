// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/experiments/lstsq.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <nlohmann/json.hpp>
#include "bench/harness/compete.hpp"
#include "bench/harness/guards.hpp"
#include "bench/harness/report.hpp"
#include "bench/problems/tall_problem.hpp"
#include "core/machine/threads.hpp"
#include "options/requirements.hpp"
#include "report/certificate.hpp"
#include "stepwell/error.hpp"

/// `bench lstsq`: lstsq() against LAPACK's dgels (QR), against the normal equations in FP64, or
/// against itself on one thread.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

ordered_json accuracy_json(const TallAccuracy& a) {
  return {{"residual_norm", a.residual}, {"gradient", a.gradient}, {"forward_error", a.forward}};
}

std::string accuracy_text(const ordered_json& a) {
  return fmt::format("||r|| {:.8g}, ||A'r|| / (||A|| ||r||) {:.2g} u, forward error {:.2g}",
                     a["residual_norm"].get<double>(), a["gradient"].get<double>() * 0x1p53,
                     a["forward_error"].get<double>());
}

ordered_json request_json(const LstsqBenchRequest& r) {
  return {{"bench", "lstsq"},
          {"m", r.m},
          {"n", r.n},
          {"columns", r.columns},
          {"condition", r.condition},
          {"clustered", r.kind == "tall-clustered"},
          {"residual", r.residual},
          {"seed", r.seed},
          {"layout", r.layout},
          {"map", r.map},
          {"refiner", r.refiner},
          {"qr", r.qr},
          {"against", r.against}};
}

}  // namespace

std::string lstsq_bench_help() {
  return "A has singular values from 1 to 1 / --cond, b = A x + r with a known x.\n"
         "\nBaselines: dgels (LAPACK's QR; its copy of A is not in its time), normal-equations\n"
         "(dsyrk and dposv in FP64), mkl-dgels, mkl-normal-equations (oneMKL's, see --mkl),\n"
         "one-worker (the same on one thread).\n"
         "\nExample:\n  stepwell bench lstsq --m 100000 --n 2000 --cond 10 --against dgels\n";
}

void bench_lstsq(const LstsqBenchRequest& asked) {
  LstsqBenchRequest request = asked;
  if (request.threads == 0) request.threads = core::default_threads();
  if (request.m < request.n) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--m {} is less than --n {}: A must have at least as many rows as "
                            "columns",
                            request.m, request.n));
  }
  tool::require_memory(tall_bytes(request));
  const BlasThreads blas_threads(request.threads);
  const auto p = std::make_shared<TallProblem>(request);
  const auto room = std::make_shared<TallRoom>();
  const bool one_worker = request.against == "one-worker";
  Contest contest;
  contest.clock = Clock::wall;
  contest.rate_unit = "Gflop/s";
  contest.candidate = lstsq_side(p);
  if (one_worker) {
    contest.baseline = contest.candidate;
    contest.baseline.threads = 1;
    contest.baseline.name += " on one thread";
    contest.baseline.run = [p] { p->solve(p->one); };
  } else {
    contest.baseline = tall_baseline(p, room, request.against);
  }
  const ContestResult result = compete(contest, request.pairs, request.allow_slow_blas);

  ordered_json details = {{"accuracy", accuracy_json(accuracy(*p, p->x.data(), p->n))}};
  if (!one_worker) {
    const std::int64_t ld = room->b.size() / p->columns;
    details["baseline_accuracy"] = accuracy_json(accuracy(*p, room->b.data(), ld));
  }
  details["certificate"] = tool::certificate_json(p->last);
  if (request.json) {
    ordered_json out = bench_json(request_json(request), contest, result);
    out.update(details);
    fmt::print("{}\n", pretty(out));
    return;
  }
  const Certificate& c = p->last;
  fmt::print(
      "{}",
      bench_text(fmt::format("lstsq, m = {}, n = {}, {} column{}, condition {:g}, by {}", request.m,
                             request.n, request.columns, request.columns == 1 ? "" : "s",
                             request.condition, request.layout),
                 contest, result));
  fmt::print("  path      {}\n  ours      {}\n", tool::path_text(c.method, c.iterations, true),
             accuracy_text(details["accuracy"]));
  if (!one_worker) fmt::print("  baseline  {}\n", accuracy_text(details["baseline_accuracy"]));
  fmt::print("  seconds   analysis {:.3g}, factor {:.3g}, refine {:.3g} (last run)\n",
             c.times.analysis, c.times.factor, c.times.refine);
  for (const LadderStep& r : c.rungs) {
    if (!r.reason.empty())
      fmt::print("  tried     {} ({:.3g} s)\n", tool::attempt_text(r, true), r.seconds);
  }
}

}  // namespace stepwell::bench
