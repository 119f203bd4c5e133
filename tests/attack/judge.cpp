// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <vector>

#include "attack/attacks.hpp"
#include "attack/oracle/oracle.hpp"
#include "engine/runtime.hpp"
#include "solvers/fixture.hpp"

namespace stepwell::attack {
namespace {

constexpr std::int64_t kSolutionOrder = 2000;  ///< above, the true solution takes too long
constexpr std::int64_t kManyColumns = 200;     ///< above, only one column is checked

void judge_forward(const SolutionOracle& solution, const SquareCase& c, std::int64_t column,
                   Report& report) {
  const double bound = c.certificate.columns[static_cast<std::size_t>(column)].forward_error;
  if (std::isnan(bound)) {
    report.count("forward_unknown");
    return;
  }
  const std::optional<double> truth =
      solution.forward_error(c.b.column(column), c.x.column(column));
  if (!truth) {
    report.count("forward_not_judged");
    return;
  }
  report.count("forward_judged");
  if (*truth <= bound) return;
  if (bound >= 1) {  // the bound says that no digit is right, and none is
    report.count("forward_vague");
    return;
  }
  report.found(Finding::forward_low,
               text("column %lld: true %.4g, bound %.4g, condition %.3g",
                    static_cast<long long>(column), *truth, bound, c.certificate.condition));
}

}  // namespace

bool leaves_x_alone(SolveOutcome outcome) {
  switch (outcome) {
    case SolveOutcome::not_positive_definite:
    case SolveOutcome::singular:
    case SolveOutcome::non_finite:
    case SolveOutcome::asymmetric:
    case SolveOutcome::cancelled:
    case SolveOutcome::not_attempted:
      return true;
    default:
      return false;
  }
}

void judge_outcome(const Certificate& c, std::int64_t columns, Report& report) {
  std::string outcome = to_string(c.outcome);
  std::replace(outcome.begin(), outcome.end(), ' ', '_');
  report.count("outcome_" + outcome);
  report.count("columns", columns);
  if (report.verbose()) {
    report.say(text("-> %s backward error %.3g tolerance %.3g map %s refiner %s condition %.3g %s",
                    to_string(c.outcome), c.backward_error, c.tolerance, map_text(c.method).c_str(),
                    refiner_text(c.method).c_str(), c.condition, c.reason.c_str()));
    for (const LadderStep& rung : c.rungs) {
      report.say(text("   rung %s %s: %d iterations, error %.3g %s", map_text(rung.method).c_str(),
                      refiner_text(rung.method).c_str(), rung.iterations, rung.error,
                      rung.reason.c_str()));
    }
  }
  switch (c.outcome) {
    case SolveOutcome::non_finite:
    case SolveOutcome::asymmetric:
    case SolveOutcome::cancelled:
    case SolveOutcome::changed:
      report.found(Finding::certificate, std::string("outcome ") + to_string(c.outcome));
      break;
    default:
      break;
  }
  if (c.columns.size() != static_cast<std::size_t>(columns)) {
    report.found(Finding::certificate, text("%zu columns", c.columns.size()));
    return;
  }
  for (const ColumnCertificate& column : c.columns) {
    if (c.ok() && column.outcome != SolveOutcome::converged) {
      report.found(Finding::certificate,
                   std::string("converged, but a column is ") + to_string(column.outcome));
    }
  }
}

void judge_columns(const SquareCase& c, Report& report) {
  const SquareOracle oracle(c.a, c.transposed);
  const std::int64_t n = c.a.rows;
  std::optional<SolutionOracle> solution;
  if (c.options.condition && c.certificate.ok() && n <= kSolutionOrder) {
    solution.emplace(oracle);
    if (const std::optional<double> condition = solution->condition()) {
      report.count("condition_judged");
      if (!(c.certificate.condition * 3 >= *condition)) {
        report.note("condition_low",
                    text("estimate %.3g, true %.3g", c.certificate.condition, *condition));
      }
    }
  }
  for (std::int64_t k = 0; k < c.b.cols; ++k) {
    const ColumnCertificate& column = c.certificate.columns[static_cast<std::size_t>(k)];
    if (column.outcome != SolveOutcome::converged) continue;
    report.count("converged");
    ColumnTruth truth(oracle, c.b.column(k), c.x.column(k));
    if (truth.above(c.certificate.tolerance)) {
      report.found(
          Finding::above_tolerance,
          text("column %lld: true %.4g, reported %.4g, tolerance %.4g, %.3g times it, %s "
               "with %s, outcome %s",
               static_cast<long long>(k), truth.value(), column.backward_error,
               c.certificate.tolerance, truth.value() / c.certificate.tolerance,
               map_text(c.certificate.method).c_str(), refiner_text(c.certificate.method).c_str(),
               to_string(c.certificate.outcome)));
    }
    if (c.options.prove) {
      report.count("proofs_judged");
      if (truth.above(column.proven_backward_error)) {
        report.found(Finding::proof_low,
                     text("column %lld: true %.6g, proven %.6g", static_cast<long long>(k),
                          truth.value(), column.proven_backward_error));
      }
    }
    if (solution && (n <= kManyColumns || k == 0)) judge_forward(*solution, c, k, report);
  }
}

void judge_definiteness(const Matrix& a, const SolveOptions& options,
                        const Certificate& certificate, Report& report) {
  if (certificate.outcome != SolveOutcome::not_positive_definite) return;
  const engine::SingleThreadedBlas blas;  // the library calls BLAS this way, too
  // Small systems are scaled by powers of two for all options.
  for (const Scaling scaling : {options.cholesky.scaling, Scaling::powers_of_two}) {
    if (solvers::test::lapack_pivot(solvers::test::scaled(a.view(), scaling).view()) >= 0) return;
  }
  report.found(Finding::definite,
               text("pivot %lld is %.3g, and dpotrf factors the same matrix",
                    static_cast<long long>(certificate.pivot), certificate.pivot_value));
}

}  // namespace stepwell::attack
