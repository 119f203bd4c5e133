// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench_data.hpp"
#include "bench_large.hpp"
#include "bench_report.hpp"
#include "core/buffer.hpp"
#include "core/system.hpp"
#include "gallery/recipe.hpp"
#include "guards.hpp"
#include "kernels/table.hpp"
#include "lapack.hpp"
#include "stepwell/error.hpp"
#include "stepwell/solve.hpp"

/// `bench solve`: solve_spd() against LAPACK's dposv or dsposv, or against itself on one thread or
/// with one right-hand side. What all of them must deliver is FP64's accuracy.
namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

/// The system, solved by us.
struct System {
  explicit System(const SolveRequest& r)
      : n(r.n),
        columns(r.columns),
        a(core::size_product(n, n, "matrix")),
        b(core::size_product(n, columns, "right-hand sides")),
        x(n * columns),
        context(r.threads) {
    gallery::fill(view(a.data(), n, n), recipe_of(r), r.threads);
    for (std::int64_t i = 0; i < b.size(); ++i) {
      b[i] = noise((std::uint64_t{11} << 44) + static_cast<std::uint64_t>(i));
    }
    if (!r.map.empty()) options.map = parse_map(r.map);
    const auto refiner = refiner_from_string(r.refiner);
    if (!refiner)
      throw Error(ErrorCode::invalid_argument, "there is no refiner '" + r.refiner +
                                                   "'; 'stepwell bench solve --help' lists them");
    options.refiner = *refiner;
  }

  Certificate solve(Context& workers, std::int64_t how_many) {
    options.context = &workers;
    Certificate c =
        solve_spd(view<const double>(a.data(), n, n), view<const double>(b.data(), n, how_many),
                  view(x.data(), n, how_many), options);
    if (!c.ok()) {
      throw Error(ErrorCode::unsupported, "the solve did not converge: " + c.reason);
    }
    return c;
  }

  std::int64_t n, columns;
  core::Buffer<double> a, b, x;
  Context context;
  Context one{1};
  SolveOptions options;
  Certificate last;
};

/// What LAPACK overwrites.
struct Lapack {
  core::Buffer<double> a, b, x, work;
  core::Buffer<float> narrow;
  int iterations = 0;
};

void copy_lower(const System& s, double* to) {
  for (std::int64_t j = 0; j < s.n; ++j) {
    std::copy(s.a.data() + j * s.n + j, s.a.data() + (j + 1) * s.n, to + j * s.n + j);
  }
}

std::shared_ptr<Lapack> add_lapack(const std::shared_ptr<System>& s, bool mixed, int threads,
                                   Side& side) {
  const auto l = std::make_shared<Lapack>();
  const std::int64_t n = s->n;
  l->a = core::Buffer<double>(n * n);
  l->b = core::Buffer<double>(n * s->columns);
  if (mixed) {
    l->x = core::Buffer<double>(n * s->columns);
    l->work = core::Buffer<double>(n * s->columns);
    l->narrow = core::Buffer<float>(n * (n + s->columns));
  }
  side = blas_side(mixed ? "dsposv" : "dposv", threads);
  side.prepare = [s, l] {
    copy_lower(*s, l->a.data());
    std::copy(s->b.begin(), s->b.end(), l->b.begin());
  };
  side.run = [s, l, mixed] {
    const int failed = mixed ? sposv(l->a.data(), s->n, l->b.data(), s->columns, l->x.data(),
                                     l->work.data(), l->narrow.data(), &l->iterations)
                             : posv(l->a.data(), s->n, l->b.data(), s->columns);
    if (failed != 0) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("LAPACK failed with info = {}; nothing to compare with", failed));
    }
  };
  return l;
}

/// ||b - A x|| / (||A|| ||x|| + ||b||), infinity norms, of the worst column.
double backward_error(const System& s, const double* x) {
  const std::int64_t n = s.n;
  std::vector<double> sums(static_cast<std::size_t>(n));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i)
      sums[static_cast<std::size_t>(i)] += std::abs(s.a[i + j * n]);
  }
  const double norm = *std::max_element(sums.begin(), sums.end());
  double worst = 0;
  for (std::int64_t c = 0; c < s.columns; ++c) {
    std::vector<long double> r(s.b.begin() + c * n, s.b.begin() + (c + 1) * n);
    long double xs = 0, bs = 0, rs = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const long double xj = x[c * n + j];
      for (std::int64_t i = 0; i < n; ++i) r[static_cast<std::size_t>(i)] -= s.a[i + j * n] * xj;
      xs = std::max(xs, std::abs(xj));
      bs = std::max(bs, static_cast<long double>(std::abs(s.b[c * n + j])));
    }
    for (const long double v : r) rs = std::max(rs, std::abs(v));
    worst = std::max(worst, static_cast<double>(rs / (norm * xs + bs)));
  }
  return worst;
}

}  // namespace

std::string solve_bench_help() {
  return kinds_help() +
         "\nBaselines: dposv, dsposv (LAPACK, as many threads), one-worker (the same on one "
         "thread),\n"
         "one-column (the same with one right-hand side).\n"
         "\nExample:\n  stepwell bench solve --kind arithmetic --cond 1e2 --n 8192";
}

void bench_solve(const SolveRequest& asked) {
  SolveRequest request = asked;
  if (request.threads == 0) request.threads = core::cpu_allowance().threads;
  const bool lapack = request.against == "dposv" || request.against == "dsposv";
  if (!lapack && request.against != "one-worker" && request.against != "one-column") {
    throw Error(ErrorCode::invalid_argument,
                "'solve' can't be compared with '" + request.against +
                    "'; there are dposv, dsposv, one-worker, one-column");
  }
  recipe_of(request);
  const std::int64_t matrix = core::size_product(request.n, request.n, 8, "matrix");
  require_memory(matrix + (lapack ? matrix : 0) + matrix / 4 +
                 (request.against == "dsposv" ? matrix / 2 : 0));
  const BlasThreads blas_threads(request.threads);
  const auto s = std::make_shared<System>(request);
  Contest contest;
  contest.clock = Clock::wall;
  contest.rate_unit = "Gflop/s";
  contest.candidate = our_side("solve_spd", kernels::table().cap, request.threads);
  contest.candidate.run = [s] { s->last = s->solve(s->context, s->columns); };
  std::shared_ptr<Lapack> l;
  if (lapack) {
    l = add_lapack(s, request.against == "dsposv", request.threads, contest.baseline);
  } else {
    const bool one_worker = request.against == "one-worker";
    contest.baseline =
        our_side("solve_spd", kernels::table().cap, one_worker ? 1 : request.threads);
    contest.baseline.name += one_worker ? " on one thread" : " of one column";
    contest.baseline.run = [s, one_worker] {
      s->solve(one_worker ? s->one : s->context, one_worker ? s->columns : 1);
    };
  }
  refuse_slow_blas(contest.baseline, request.allow_slow_blas);
  const auto n = static_cast<double>(request.n);
  contest.candidate.work = contest.baseline.work =
      n * n * n / 3 + 2 * n * n * static_cast<double>(request.columns);
  announce_runs(contest.candidate);
  announce_runs(contest.baseline);
  HarnessOptions options;
  options.windows = request.pairs;
  const ContestResult result = alternate(contest, options);

  ordered_json details = {{"backward_error", backward_error(*s, s->x.data())}};
  if (l != nullptr) {
    const double* const theirs = request.against == "dsposv" ? l->x.data() : l->b.data();
    details["baseline_backward_error"] = backward_error(*s, theirs);
    if (request.against == "dsposv") details["baseline_iterations"] = l->iterations;
  }
  details["certificate"] = certificate_json(s->last);
  if (request.json) {
    ordered_json what = {{"bench", "solve"},
                         {"kind", request.kind},
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
    fmt::print("{}\n", what.dump(2));
    return;
  }
  const Certificate& c = s->last;
  fmt::print("{}", bench_text(fmt::format("solve {}, n = {}, {} column{}", request.kind, request.n,
                                          request.columns, request.columns == 1 ? "" : "s"),
                              contest, result));
  fmt::print("  path      {} with {}, {} iterations; backward error {:.2g} u\n", c.map, c.refiner,
             c.iterations, details["backward_error"].get<double>() * 0x1p53);
  if (details.contains("baseline_backward_error")) {
    fmt::print("  baseline  backward error {:.2g} u\n",
               details["baseline_backward_error"].get<double>() * 0x1p53);
  }
  fmt::print("  seconds   survey {:.3g}, factor {:.3g}, refine {:.3g} (last run)\n", c.times.survey,
             c.times.factor, c.times.refine);
  for (const RungAttempt& r : c.rungs) {
    if (!r.reason.empty())
      fmt::print("  left      {}: {} ({:.3g} s)\n", r.map, r.reason, r.seconds);
  }
}

}  // namespace stepwell::tool
