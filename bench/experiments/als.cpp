// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/experiments/als.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include <nlohmann/json.hpp>
#include "bench/baselines/baseline_mkl.hpp"
#include "bench/harness/compete.hpp"
#include "bench/harness/data.hpp"
#include "bench/harness/guards.hpp"
#include "bench/harness/report.hpp"
#include "bench/problems/als_problem.hpp"
#include "core/machine/threads.hpp"
#include "options/requirements.hpp"
#include "stepwell/error.hpp"

/// `bench als`: an iteration of alternating least squares, both half steps, against the same loop
/// written with LAPACK calls.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

ordered_json request_json(const AlsBenchRequest& r) {
  return {{"bench", "als"},
          {"users", r.users},
          {"items", r.items},
          {"factors", r.factors},
          {"ratings_per_user", r.ratings_per_user},
          {"implicit", r.implicit},
          {"against", r.against}};
}

/// Bytes of the ratings (by user and by item), of the vectors of users and items, and of the
/// starting vectors.
std::int64_t als_bytes(const AlsBenchRequest& r) {
  const std::int64_t ratings = core::size_product(r.users, r.ratings_per_user, 24, "ratings");
  return ratings + core::size_product(r.users + 2 * r.items, r.factors, 8, "vectors");
}

/// Flops of the Gram matrices and the factorizations of both half steps.
double work_of(const AlsProblem& p) {
  const auto k = static_cast<double>(p.k);
  return 2 * static_cast<double>(p.by_user.columns.size()) * k * k +
         static_cast<double>(p.by_user.rows + p.by_user.cols) * k * k * k / 3;
}

/// Throws Error(internal) unless rounding explains the error of the side 'name': sums over all
/// ratings of a row and 4 k operations of the solver.
void check_error(const AlsProblem& p, double error, const std::string& name) {
  std::int64_t longest = p.by_user.cols;
  for (std::int64_t i = 0; i < p.by_item.rows; ++i) {
    const auto place = static_cast<std::size_t>(i);
    longest = std::max(longest, p.by_item.starts[place + 1] - p.by_item.starts[place]);
  }
  const double bound = 6 * std::sqrt(static_cast<double>(longest)) + 4 * static_cast<double>(p.k);
  if (error <= bound) return;
  throw Error(
      ErrorCode::internal,
      fmt::format("{} is wrong: the error of its vectors is {:.3g} times roundoff and condition",
                  name, error));
}

}  // namespace

const std::vector<std::string>& als_baselines() {
  static const std::vector<std::string> names = {"lapack-loop", "mkl-loop"};
  return names;
}

std::string als_bench_help() {
  return "Measures both half steps: user vectors from item vectors, then item vectors from user\n"
         "vectors. The number of ratings varies widely between users and between items.\n"
         "\nBaselines: lapack-loop (threads over users; for each a gather, ssyrk, sgemv and sposv\n"
         "with the BLAS on one thread), mkl-loop (the same with oneMKL's, see --mkl).\n"
         "\nExample:\n  stepwell bench als --users 1000000 --items 50000 --factors 64\n";
}

void bench_als(const AlsBenchRequest& asked) {
  AlsBenchRequest request = asked;
  if (request.threads == 0) request.threads = core::default_threads();
  tool::require_memory(als_bytes(request));
  const BlasThreads blas_threads(1);
  const auto p = std::make_shared<AlsProblem>(request);
  const auto ours = std::make_shared<AlsVectors>(*p), theirs = std::make_shared<AlsVectors>(*p);
  const auto context = std::make_shared<Context>(request.threads);
  p->options.engine.context = context.get();
  const bool from_mkl = request.against == "mkl-loop";
  const auto loop = std::make_shared<LapackLoop>(p->options, request.threads, from_mkl);

  Contest contest;
  contest.clock = Clock::wall;
  contest.rate_unit = "Gflop/s";
  contest.candidate = our_side("als_step", kernels::table().cap, request.threads);
  contest.candidate.run = [=] {
    iterate(*p, *ours,
            [&](const SparseRows& r, MatrixView<const float> from, MatrixView<float> to) {
              if (als_step(r, from, to, p->options).ok()) return;
              throw Error(ErrorCode::internal, "als_step failed on positive definite systems");
            });
  };
  const char* const routine = "ssyrk + sgemv + sposv";
  contest.baseline = from_mkl ? mkl_side(routine, 1) : blas_side(routine, 1);
  contest.baseline.threads = request.threads;
  contest.baseline.run = [=] {
    iterate(*p, *theirs,
            [&](const SparseRows& r, MatrixView<const float> from, MatrixView<float> to) {
              loop->step(r, from, to);
            });
  };
  contest.candidate.work = contest.baseline.work = work_of(*p);
  const ContestResult result = compete(contest, request.pairs, request.allow_slow_blas);

  const double error = worst_error(*p, *ours), other = worst_error(*p, *theirs);
  check_error(*p, error, contest.candidate.name);
  check_error(*p, other, contest.baseline.name);
  const double difference = largest_difference(ours->users, theirs->users, p->k);
  if (request.json) {
    ordered_json out = bench_json(request_json(request), contest, result);
    out["ratings"] = p->by_user.columns.size();
    out["error"] = error;
    out["baseline_error"] = other;
    out["difference"] = difference;
    fmt::print("{}\n", pretty(out));
    return;
  }
  fmt::print("{}",
             bench_text(fmt::format("als, {} users x {} items, {} ratings, {} factors, {}",
                                    request.users, request.items, p->by_user.columns.size(),
                                    request.factors, request.implicit ? "implicit" : "explicit"),
                        contest, result));
  fmt::print("  ours      error {:.2g} times roundoff and condition\n", error);
  fmt::print("  baseline  error {:.2g}; user vectors differ by {:.2g}\n", other, difference);
}

}  // namespace stepwell::bench
