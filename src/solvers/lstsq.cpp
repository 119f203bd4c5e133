// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/lstsq.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "core/checks.hpp"
#include "core/memory_error.hpp"
#include "factor/setup.hpp"
#include "solvers/checks.hpp"
#include "solvers/cost.hpp"
#include "solvers/least_squares.hpp"
#include "solvers/solver.hpp"

namespace stepwell {
namespace solvers {
namespace {

/// FP64 QR by blocks of rows, of which one core does so many flop a second.
constexpr double kQrRate = 0.09e12;

/// Passes over A to FP64 accuracy, of columns that are not nearly dependent (measured, condition
/// 10). Roundings of many rows cancel in the Gram matrix: fewer than with a square one.
int expected_passes(Step step) {
  if (!step) return 1;
  switch (*step) {
    case Rung::bf16:
    case Rung::fp16:
      return 6;
    case Rung::bf16x2:
      return 4;
    case Rung::bf16x3:
    case Rung::fp32:
      return 3;
    case Rung::fp64:
      break;
  }
  return 2;
}

double product_of(std::int64_t m, std::int64_t n) {
  return static_cast<double>(m) * static_cast<double>(n);
}

}  // namespace

std::string name_of(Step step) {
  return step ? std::string(to_string(*step)) : "qr";
}

Rung factor_rung(Rung gram, std::int64_t n) {
  if (n < direct_below() || gram == Rung::fp64) return Rung::fp64;
  return ladder().size() > 2 && gram != Rung::fp32 ? Rung::bf16x3 : Rung::fp32;
}

double step_seconds(Step step, std::int64_t m, std::int64_t n) {
  const double mn = product_of(m, n);
  const auto d = static_cast<double>(n);
  if (!step) return 2 * mn * d / kQrRate + 8 * mn / rates().bandwidth;
  // Narrowing takes about as long as reading.
  const double rate = rates().cholesky[static_cast<std::size_t>(*step)];
  return mn * d / rate + 12 * mn / rates().bandwidth + factor_seconds(factor_rung(*step, n), n);
}

double pass_seconds(std::int64_t m, std::int64_t n, std::int64_t columns) {
  const double mn = product_of(m, n);
  const double flop = 4 * mn * static_cast<double>(columns);
  constexpr double kStart = 2e-5;
  return kStart + std::max(8 * mn / rates().bandwidth, flop / rates().product);
}

double price_of(Step step, std::int64_t m, std::int64_t n, std::int64_t columns) {
  const std::int64_t rest = columns % kBatch;
  double passes = static_cast<double>(columns / kBatch) * pass_seconds(m, n, kBatch);
  if (rest > 0) passes += pass_seconds(m, n, rest);
  return step_seconds(step, m, n) + expected_passes(step) * passes;
}

std::vector<Step> steps_for(std::int64_t m, std::int64_t n, std::int64_t columns,
                            const LeastSquaresOptions& options) {
  // Below, threads and tiles cost more than QR.
  constexpr double kForGram = 1e6;
  std::vector<Step> steps;
  if (options.qr) return {Step{}};
  if (options.rung) {
    steps.emplace_back(options.rung);
  } else if (product_of(m, n) * static_cast<double>(n) < kForGram) {
    return {Step{}};
  } else {
    const std::vector<Rung>& all = ladder();
    const auto first = std::min_element(all.begin(), all.end(), [&](Rung r, Rung s) {
      return price_of(r, m, n, columns) < price_of(s, m, n, columns);
    });
    steps.emplace_back(*first);
  }
  if (!options.climb) return steps;
  const double unit = info(*steps[0]).unit_roundoff;
  for (const Rung r : ladder()) {
    if (info(r).unit_roundoff < unit) steps.emplace_back(r);
  }
  steps.emplace_back();
  return steps;
}

std::int64_t step_bytes(Step step, std::int64_t m, std::int64_t n, std::int64_t columns,
                        bool in_memory) {
  const std::int64_t k = std::min(columns, kBatch);
  const std::int64_t vectors =
      core::size_product(n, 112 * k, "vectors") + core::size_product(n, columns, 16, "vectors");
  const std::int64_t passes = refine::NormalProduct::workspace_bytes(m, n, k);
  if (!step) return vectors + passes + factor::tall_qr_bytes(m, n, columns);
  FactorOptions f;
  f.map = uniform(factor_rung(*step, n));
  return vectors + passes + factor::gram_bytes(m, n, columns, *step, in_memory) +
         factor_bytes(n, f);
}

namespace {

void require_plan(const LeastSquaresOptions& options, std::int64_t m, std::int64_t n,
                  std::int64_t columns, bool in_memory, const char* entry) {
  const std::vector<Step> steps = steps_for(m, n, columns, options);
  core::require_memory(step_bytes(steps[0], m, n, columns, in_memory),
                       std::string(entry) + ": the Gram matrix and its factor");
}

Certificate run(const char* entry, const TallMatrix& a, MatrixView<const double> b,
                MatrixView<double> x, const LeastSquaresOptions& options) {
  const Checks check(entry);
  check.least_squares(a.rows, a.cols, options);
  check.tall(a, b, x);
  if (a.cols > 0 && b.cols > 0) {
    require_plan(options, a.rows, a.cols, b.cols, a.data != nullptr, entry);
  }
  return LeastSquares(a, b, x, options).solve();
}

}  // namespace
}  // namespace solvers

Certificate lstsq(const TallMatrix& a, MatrixView<const double> b, MatrixView<double> x,
                  const LeastSquaresOptions& options) try {
  return solvers::run("lstsq", a, b, x, options);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Certificate ridge(const TallMatrix& a, MatrixView<const double> b, MatrixView<double> x,
                  double lambda, const LeastSquaresOptions& options) try {
  LeastSquaresOptions with = options;
  with.lambda = lambda;
  return solvers::run("ridge", a, b, x, with);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Plan plan_lstsq(std::int64_t m, std::int64_t n, std::int64_t columns,
                const LeastSquaresOptions& options) try {
  const solvers::Checks check("plan_lstsq");
  check.plan(m, n);
  check.plan(n, columns);
  check.least_squares(m, n, options);
  Plan plan;
  const std::vector<solvers::Step> steps = solvers::steps_for(m, n, columns, options);
  plan.map = solvers::name_of(steps[0]);
  plan.refiner = to_string(options.refiner.value_or(Refiner::cg));
  if (n == 0 || columns == 0) return plan;  // nothing to do
  plan.iterations = solvers::expected_passes(steps[0]);
  plan.seconds = solvers::price_of(steps[0], m, n, columns);
  plan.bytes = solvers::step_bytes(steps[0], m, n, columns, false);
  for (const solvers::Step step : steps) {
    plan.top_bytes = std::max(plan.top_bytes, solvers::step_bytes(step, m, n, columns, false));
  }
  return plan;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
