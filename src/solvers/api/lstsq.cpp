// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/lstsq.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "core/checks.hpp"
#include "core/memory_error.hpp"
#include "factor/setup.hpp"
#include "solvers/api/checks.hpp"
#include "solvers/ladder/cost.hpp"
#include "solvers/systems/least_squares.hpp"
#include "solvers/systems/square_solver.hpp"
#include "solvers/systems/wide.hpp"
#include "stepwell/error.hpp"

namespace stepwell {
namespace solvers {
std::int64_t step_bytes(const Step& step, std::int64_t m, std::int64_t n, std::int64_t columns,
                        bool in_memory) {
  const std::int64_t k = std::min(columns, kBatch);
  const std::int64_t vectors =
      core::size_product(n, 112 * k, "vectors") + core::size_product(n, columns, 16, "vectors");
  const std::int64_t passes = refine::NormalProduct::workspace_bytes(m, n, k);
  if (step.kind == StepKind::qr) return vectors + passes + factor::tall_qr_bytes(m, n, columns);
  const Rung rung = step.map.layers[0];
  FactorOptions f;
  f.map = uniform(gram_factor_rung(rung, n));
  return vectors + passes + factor::gram_bytes(m, n, columns, rung, in_memory) + factor_bytes(n, f);
}

namespace {

void require_plan(const LeastSquaresOptions& options, std::int64_t m, std::int64_t n,
                  std::int64_t columns, bool in_memory, const char* entry) {
  const Ladder ladder = ladder_for(m, n, columns, options);
  core::require_memory(step_bytes(ladder.steps[0], m, n, columns, in_memory),
                       std::string(entry) + ": the Gram matrix and its factor");
}

/// Whether the minimiser is not unique, whatever the elements of A are.
bool is_wide(std::int64_t m, std::int64_t n, const LeastSquaresOptions& options) {
  return m < n && options.minimum_norm && options.lambda == 0;
}

Certificate run(const char* entry, const TallMatrix& a, MatrixView<const double> b,
                MatrixView<double> x, const LeastSquaresOptions& options) {
  const Checks check(entry);
  check.least_squares(a.rows, a.cols, options);
  check.tall(a, b, x);
  if (is_wide(a.rows, a.cols, options)) {
    if (a.data == nullptr && a.rows > 0) {
      throw Error(ErrorCode::invalid_argument,
                  std::string(entry) +
                      ": a matrix with fewer rows than columns must be in memory, not supplied by "
                      "a function");
    }
    core::require_memory(wide_bytes(a.rows, a.cols, b.cols),
                         std::string(entry) + ": copies of A and their factor");
    return solve_wide(a, b, x, options);
  }
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
  if (solvers::is_wide(m, n, options)) {
    plan.method = solvers::least_squares_method({solvers::StepKind::qr, uniform(Rung::fp64)});
    plan.bytes = plan.top_bytes = solvers::wide_bytes(m, n, columns);
    if (plan.bytes == 0) return plan;  // nothing to do
    // dgelsy takes about twice the flop of QR of A'.
    plan.seconds =
        2 * solvers::step_seconds({solvers::StepKind::qr, uniform(Rung::fp64)}, n, m, columns);
    return plan;
  }
  const std::vector<solvers::Step> steps = solvers::ladder_for(m, n, columns, options).steps;
  plan.method = solvers::least_squares_method(steps[0]);
  plan.method.refiner = options.refine.refiner.value_or(Refiner::cg);
  if (n == 0 || columns == 0) return plan;  // nothing to do
  plan.iterations = solvers::expected_passes(steps[0]);
  plan.seconds = solvers::step_seconds(steps[0], m, n, columns);
  plan.bytes = solvers::step_bytes(steps[0], m, n, columns, false);
  for (const solvers::Step& step : steps) {
    plan.top_bytes = std::max(plan.top_bytes, solvers::step_bytes(step, m, n, columns, false));
  }
  return plan;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
