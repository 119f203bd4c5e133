// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include "convert.hpp"
#include "solver.hpp"

/// What a solver's FP64 factor is used for apart from refined solves.
namespace stepwell::c {
namespace {

int code_of(SolveOutcome outcome) {
  return static_cast<int>(outcome);
}

int finished(bool complete) {
  return code_of(complete ? SolveOutcome::converged : SolveOutcome::cancelled);
}

/// Runs use(factor) with the Cholesky factor at FP64 quality, and returns what it returns; or the
/// outcome if there is no such factor.
template <class Use>
int with_factor(stepwell_solver* solver, const char* caller, const Use& use) {
  return guarded([&] {
    require(solver, caller);
    const Certificate& c = solver->solver.factor();
    if (!c.ok()) return code_of(c.outcome);
    const Factor& factor = solver->solver.cholesky_factor();
    if (factor.ok()) return use(factor);
    return code_of(factor.report().outcome == FactorOutcome::cancelled
                       ? SolveOutcome::cancelled
                       : SolveOutcome::not_positive_definite);
  });
}

}  // namespace
}  // namespace stepwell::c

using namespace stepwell;

int stepwell_solver_log_det(stepwell_solver* solver, double* log, int* sign) {
  return c::guarded([&] {
    c::require(solver, "stepwell_solver_log_det: solver");
    c::require(log, "stepwell_solver_log_det: log");
    const Certificate& factored = solver->solver.factor();
    if (!factored.ok()) return c::code_of(factored.outcome);
    const LogDet found = solver->solver.log_det();
    *log = found.log;
    if (sign != nullptr) *sign = found.sign;
    return 0;
  });
}

int stepwell_solver_log_det_error(stepwell_solver* solver, double* error) {
  return c::with_factor(solver, "stepwell_solver_log_det_error: solver", [&](const Factor& factor) {
    c::require(error, "stepwell_solver_log_det_error: error");
    *error = factor.log_det_error(solver->engine);
    return 0;
  });
}

int stepwell_solver_solve_unrefined(stepwell_solver* solver, int64_t columns, double* b,
                                    int64_t ldb) {
  return c::with_factor(
      solver, "stepwell_solver_solve_unrefined: solver", [&](const Factor& factor) {
        factor.solve_unrefined(view(b, factor.order(), columns, ldb), solver->engine);
        return 0;
      });
}

int stepwell_solver_half_solve(stepwell_solver* solver, int64_t columns, double* b, int64_t ldb) {
  return c::with_factor(solver, "stepwell_solver_half_solve: solver", [&](const Factor& factor) {
    factor.half_solve(view(b, factor.order(), columns, ldb), solver->engine);
    return 0;
  });
}

int stepwell_solver_quadratic_forms(stepwell_solver* solver, int64_t columns, const double* b,
                                    int64_t ldb, double* forms) {
  return c::with_factor(
      solver, "stepwell_solver_quadratic_forms: solver", [&](const Factor& factor) {
        if (columns > 0) c::require(forms, "stepwell_solver_quadratic_forms: forms");
        const std::vector<double> found =
            factor.quadratic_forms(view(b, factor.order(), columns, ldb), solver->engine);
        std::copy(found.begin(), found.end(), forms);
        return 0;
      });
}

int stepwell_solver_multiply(stepwell_solver* solver, int64_t columns, double* b, int64_t ldb) {
  return c::with_factor(solver, "stepwell_solver_multiply: solver", [&](const Factor& factor) {
    factor.multiply(view(b, factor.order(), columns, ldb), solver->engine);
    return 0;
  });
}

int stepwell_solver_inverse(stepwell_solver* solver, double* inverse, int64_t ld) {
  return c::with_factor(solver, "stepwell_solver_inverse: solver", [&](const Factor& factor) {
    const std::int64_t n = factor.order();
    return c::finished(factor.inverse(view(inverse, n, n, ld), solver->engine));
  });
}

int stepwell_solver_inverse_diagonal(stepwell_solver* solver, double* diagonal) {
  return c::with_factor(
      solver, "stepwell_solver_inverse_diagonal: solver", [&](const Factor& factor) {
        if (factor.order() > 0) c::require(diagonal, "stepwell_solver_inverse_diagonal: diagonal");
        const std::vector<double> found = factor.inverse_diagonal(solver->engine);
        std::copy(found.begin(), found.end(), diagonal);
        return c::finished(static_cast<std::int64_t>(found.size()) == factor.order());
      });
}

int stepwell_solver_trace_inverse_product(stepwell_solver* solver, const double* s, int64_t lds,
                                          double* trace) {
  return c::with_factor(solver, "stepwell_solver_trace_inverse_product: solver",
                        [&](const Factor& factor) {
                          c::require(trace, "stepwell_solver_trace_inverse_product: trace");
                          const std::int64_t n = factor.order();
                          *trace = factor.trace_inverse_product(view(s, n, n, lds), solver->engine);
                          const Progress* const progress = solver->engine.progress;
                          return c::finished(progress == nullptr || !progress->cancel);
                        });
}
