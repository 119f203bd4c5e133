// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <span>
#include <vector>

#include "convert.hpp"
#include "solver.hpp"

/// stepwell_factor.h, and determinants of solvers.
namespace stepwell::c {
namespace {

int code_of(SolveOutcome outcome) {
  return static_cast<int>(outcome);
}

int code_of(FactorOutcome outcome) {
  switch (outcome) {
    case FactorOutcome::ok:
      return STEPWELL_CONVERGED;
    case FactorOutcome::non_finite:
      return STEPWELL_NON_FINITE;
    case FactorOutcome::cancelled:
      return STEPWELL_CANCELLED;
    default:
      return STEPWELL_NOT_POSITIVE_DEFINITE;
  }
}

stepwell_factor_options default_options() {
  stepwell_factor_options o{};
  o.size = sizeof o;
  const Jitter jitter;
  o.jitter_start = jitter.start;
  o.jitter_factor = jitter.factor;
  return o;
}

FactorOptions options_of(const stepwell_factor_options* from) {
  const stepwell_factor_options o = read_struct(from, default_options(), "stepwell_factor_options");
  FactorOptions f;
  f.map = uniform(Rung::fp64);
  f.triangle = choice<Triangle>(o.triangle, 2, "stepwell_factor_options.triangle");
  f.jitter = {o.jitter_start, o.jitter_factor, o.jitter_tries};
  f.tile = o.tile;
  f.engine.context = context_of(o.context);
  f.engine.progress = progress_of(o.progress);
  return f;
}

int finished(bool complete) {
  return code_of(complete ? SolveOutcome::converged : SolveOutcome::cancelled);
}

int definite(bool definite) {
  return code_of(definite ? SolveOutcome::converged : SolveOutcome::not_positive_definite);
}

/// Runs use(factor, engine), and returns its code, or 0 if it returns none.
template <class Use>
int with_factor(const stepwell_factor* factor, const char* caller, const Use& use) {
  return guarded([&] {
    require(factor, caller);
    if constexpr (std::is_void_v<decltype(use(factor->factor(), factor->engine))>) {
      use(factor->factor(), factor->engine);
      return 0;
    } else {
      return use(factor->factor(), factor->engine);
    }
  });
}

/// The same with a factor that may be changed.
template <class Change>
int change_factor(stepwell_factor* factor, const char* caller, const Change& change) {
  return guarded([&] {
    require(factor, caller);
    if (factor->of_solver != nullptr) {
      misuse(std::string(caller) + " belongs to a solver and cannot be changed");
    }
    return change(factor->own, factor->engine);
  });
}

}  // namespace
}  // namespace stepwell::c

using namespace stepwell;

void stepwell_factor_options_defaults(stepwell_factor_options* options, size_t size) {
  c::set_defaults(options, size, c::default_options());
}

int stepwell_factor_create(int64_t n, const double* a, int64_t lda,
                           const stepwell_factor_options* options, stepwell_factor** factor,
                           int64_t* pivot) {
  return c::guarded([&] {
    c::require(factor, "stepwell_factor_create: factor");
    *factor = nullptr;
    if (pivot != nullptr) *pivot = -1;
    const FactorOptions with = c::options_of(options);
    Factor computed = cholesky(view(a, n, n, lda), with);
    if (pivot != nullptr) *pivot = computed.report().pivot;
    if (!computed.ok()) return c::code_of(computed.report().outcome);
    *factor = new stepwell_factor{std::move(computed), nullptr, with.engine};
    return 0;
  });
}

void stepwell_factor_destroy(stepwell_factor* factor) {
  if (factor == nullptr || factor->of_solver != nullptr) return;
  delete factor;
}

int stepwell_solver_cholesky(stepwell_solver* solver, const stepwell_factor** factor) {
  return c::guarded([&] {
    c::require(solver, "stepwell_solver_cholesky: solver");
    c::require(factor, "stepwell_solver_cholesky: factor");
    *factor = nullptr;
    const Certificate& certificate = solver->solver.factor();
    if (!certificate.ok()) return c::code_of(certificate.outcome);
    const Factor& computed = solver->solver.cholesky_factor();
    if (!computed.ok()) return c::code_of(computed.report().outcome);
    solver->cholesky.of_solver = &solver->solver;
    solver->cholesky.engine = solver->engine;
    *factor = &solver->cholesky;
    return 0;
  });
}

int64_t stepwell_factor_order(const stepwell_factor* factor) {
  if (factor == nullptr) return 0;
  return factor->of_solver != nullptr ? factor->of_solver->order() : factor->own.order();
}

double stepwell_factor_jitter(const stepwell_factor* factor) {
  return factor == nullptr ? 0 : factor->own.report().jitter;
}

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

int stepwell_factor_log_det(const stepwell_factor* factor, double* log) {
  return c::with_factor(factor, "stepwell_factor_log_det: factor",
                        [&](const Factor& f, const EngineOptions&) {
                          c::require(log, "stepwell_factor_log_det: log");
                          *log = f.log_det();
                        });
}

int stepwell_factor_log_det_error(const stepwell_factor* factor, double* error) {
  return c::with_factor(factor, "stepwell_factor_log_det_error: factor",
                        [&](const Factor& f, const EngineOptions& with) {
                          c::require(error, "stepwell_factor_log_det_error: error");
                          *error = f.log_det_error(with);
                        });
}

int stepwell_factor_solve_unrefined(const stepwell_factor* factor, int64_t columns, double* b,
                                    int64_t ldb) {
  return c::with_factor(factor, "stepwell_factor_solve_unrefined: factor",
                        [&](const Factor& f, const EngineOptions& with) {
                          f.solve_unrefined(view(b, f.order(), columns, ldb), with);
                        });
}

int stepwell_factor_half_solve(const stepwell_factor* factor, int64_t columns, double* b,
                               int64_t ldb) {
  return c::with_factor(factor, "stepwell_factor_half_solve: factor",
                        [&](const Factor& f, const EngineOptions& with) {
                          f.half_solve(view(b, f.order(), columns, ldb), with);
                        });
}

int stepwell_factor_quadratic_forms(const stepwell_factor* factor, int64_t columns, const double* b,
                                    int64_t ldb, double* forms) {
  return c::with_factor(factor, "stepwell_factor_quadratic_forms: factor",
                        [&](const Factor& f, const EngineOptions& with) {
                          if (columns > 0) {
                            c::require(forms, "stepwell_factor_quadratic_forms: forms");
                          }
                          const std::vector<double> found =
                              f.quadratic_forms(view(b, f.order(), columns, ldb), with);
                          std::copy(found.begin(), found.end(), forms);
                        });
}

int stepwell_factor_multiply(const stepwell_factor* factor, int64_t columns, double* b,
                             int64_t ldb) {
  return c::with_factor(factor, "stepwell_factor_multiply: factor",
                        [&](const Factor& f, const EngineOptions& with) {
                          f.multiply(view(b, f.order(), columns, ldb), with);
                        });
}

int stepwell_factor_inverse(const stepwell_factor* factor, double* inverse, int64_t ld) {
  return c::with_factor(factor, "stepwell_factor_inverse: factor",
                        [&](const Factor& f, const EngineOptions& with) {
                          const std::int64_t n = f.order();
                          return c::finished(f.inverse(view(inverse, n, n, ld), with));
                        });
}

int stepwell_factor_inverse_diagonal(const stepwell_factor* factor, double* diagonal) {
  return c::with_factor(factor, "stepwell_factor_inverse_diagonal: factor",
                        [&](const Factor& f, const EngineOptions& with) {
                          if (f.order() > 0)
                            c::require(diagonal, "stepwell_factor_inverse_diagonal: diagonal");
                          const std::vector<double> found = f.inverse_diagonal(with);
                          std::copy(found.begin(), found.end(), diagonal);
                          return c::finished(static_cast<std::int64_t>(found.size()) == f.order());
                        });
}

int stepwell_factor_trace_inverse_product(const stepwell_factor* factor, const double* s,
                                          int64_t lds, double* trace) {
  return c::with_factor(factor, "stepwell_factor_trace_inverse_product: factor",
                        [&](const Factor& f, const EngineOptions& with) {
                          c::require(trace, "stepwell_factor_trace_inverse_product: trace");
                          const std::int64_t n = f.order();
                          *trace = f.trace_inverse_product(view(s, n, n, lds), with);
                          return c::finished(with.progress == nullptr || !with.progress->cancel);
                        });
}

int stepwell_factor_copy_to(const stepwell_factor* factor, double* l, int64_t ld) {
  return c::with_factor(
      factor, "stepwell_factor_copy_to: factor",
      [&](const Factor& f, const EngineOptions&) { f.copy_to(view(l, f.order(), f.order(), ld)); });
}

int stepwell_factor_append(stepwell_factor* factor, int64_t k, const double* rows, int64_t ld) {
  return c::change_factor(factor, "stepwell_factor_append: factor",
                          [&](Factor& f, const EngineOptions& with) {
                            if (k < 0 || k > INT64_MAX - f.order()) {
                              c::misuse("stepwell_factor_append: k is " + std::to_string(k));
                            }
                            return c::definite(f.append(view(rows, k, f.order() + k, ld), with));
                          });
}

int stepwell_factor_drop(stepwell_factor* factor, int64_t count, const int64_t* rows) {
  return c::change_factor(
      factor, "stepwell_factor_drop: factor", [&](Factor& f, const EngineOptions& with) {
        if (count < 0) c::misuse("stepwell_factor_drop: count is negative");
        if (count > 0) c::require(rows, "stepwell_factor_drop: rows");
        f.drop(std::span<const std::int64_t>(rows, static_cast<std::size_t>(count)), with);
        return 0;
      });
}

int stepwell_factor_update(stepwell_factor* factor, int64_t k, const double* v, int64_t ldv) {
  return c::change_factor(factor, "stepwell_factor_update: factor",
                          [&](Factor& f, const EngineOptions& with) {
                            f.update(view(v, f.order(), k, ldv), with);
                            return 0;
                          });
}

int stepwell_factor_downdate(stepwell_factor* factor, int64_t k, const double* v, int64_t ldv) {
  return c::change_factor(factor, "stepwell_factor_downdate: factor",
                          [&](Factor& f, const EngineOptions& with) {
                            return c::definite(f.downdate(view(v, f.order(), k, ldv), with));
                          });
}
