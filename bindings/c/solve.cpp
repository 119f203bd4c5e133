// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "convert.hpp"
#include "solver.hpp"

/// Square systems: solve, plan, and the reusable solver.

namespace stepwell::c {
namespace {

constexpr int kStructures = 3;

stepwell_options default_options() {
  stepwell_options o{};
  o.size = sizeof o;
  o.climb = 1;
  o.seed = 1;
  return o;
}

SolveOptions options_of(const stepwell_options* from) {
  const stepwell_options o = read_struct(from, default_options(), "stepwell_options");
  SolveOptions s;
  if (o.map != nullptr) s.map = parse_map(o.map);
  s.refine.refiner = refiner_of(o.refiner);
  s.climb = o.climb != 0;
  s.refine.iterations = o.iterations;
  s.tolerance = o.tolerance;
  s.refine.working = choice<int>(o.working, 2, "stepwell_options.working") == STEPWELL_FP64
                         ? Format::fp64
                         : Format::fp32;
  s.refine.exact_residual = o.exact_residual != 0;
  s.triangle = choice<Triangle>(o.triangle, 2, "stepwell_options.triangle");
  s.check_symmetry = o.check_symmetry != 0;
  s.transposed = o.transposed != 0;
  s.condition = o.condition != 0;
  s.prove = o.prove != 0;
  s.lu.pivoting = o.butterfly != 0 ? Pivoting::butterfly : Pivoting::partial;
  s.tile = o.tile;
  s.cholesky.shift = o.shift;
  s.lu.seed = o.seed;
  s.engine.context = context_of(o.context);
  s.engine.progress = progress_of(o.progress);
  return s;
}

}  // namespace
}  // namespace stepwell::c

using namespace stepwell;

void stepwell_options_defaults(stepwell_options* options, size_t size) {
  c::set_defaults(options, size, c::default_options());
}

void stepwell_certificate_defaults(stepwell_certificate* certificate, size_t size) {
  c::set_defaults(certificate, size, stepwell_certificate{});
}

int stepwell_solve(int structure, int64_t n, int64_t columns, const double* a, int64_t lda,
                   const double* b, int64_t ldb, double* x, int64_t ldx,
                   const stepwell_options* options, stepwell_certificate* certificate) {
  return c::guarded([&] {
    c::check_certificate(certificate);
    return c::deliver(
        solve(view(a, n, n, lda), view(b, n, columns, ldb), view(x, n, columns, ldx),
              c::options_of(options), c::choice<Structure>(structure, c::kStructures, "structure")),
        certificate);
  });
}

void stepwell_plan_defaults(stepwell_plan* plan, size_t size) {
  c::set_defaults(plan, size, stepwell_plan{});
}

int stepwell_plan_solve(int structure, int64_t n, int64_t columns, const stepwell_options* options,
                        stepwell_plan* plan) {
  return c::guarded([&] {
    c::require(plan, "stepwell_plan_solve: plan");
    c::check_size(plan->size, sizeof(size_t), "stepwell_plan");
    const SolveOptions o = c::options_of(options);
    switch (c::choice<Structure>(structure, c::kStructures, "structure")) {
      case Structure::spd:
        return c::deliver(plan_spd(n, columns, o), plan);
      case Structure::general:
        return c::deliver(plan_general(n, columns, o), plan);
      case Structure::automatic:
      case Structure::least_squares:
        break;
    }
    c::misuse(
        "stepwell_plan_solve: the plan depends on the structure of A; use STEPWELL_SPD or "
        "STEPWELL_GENERAL");
  });
}

int stepwell_solver_create(int structure, int64_t n, const double* a, int64_t lda,
                           const stepwell_options* options, stepwell_solver** solver) {
  return c::guarded([&] {
    c::require(solver, "stepwell_solver_create: solver");
    const SolveOptions o = c::options_of(options);
    *solver = new stepwell_solver{
        Solver(view(a, n, n, lda), o, c::choice<Structure>(structure, c::kStructures, "structure")),
        o.engine,
        {}};
    return 0;
  });
}

int stepwell_solver_factor(stepwell_solver* solver, stepwell_certificate* certificate) {
  return c::guarded([&] {
    c::require(solver, "stepwell_solver_factor: solver");
    c::check_certificate(certificate);
    return c::deliver(solver->solver.factor(), certificate);
  });
}

int stepwell_solver_solve(stepwell_solver* solver, int transposed, int64_t columns, const double* b,
                          int64_t ldb, double* x, int64_t ldx, stepwell_certificate* certificate) {
  return c::guarded([&] {
    c::require(solver, "stepwell_solver_solve: solver");
    c::check_certificate(certificate);
    const std::int64_t n = solver->solver.order();
    const auto from = view(b, n, columns, ldb);
    const auto to = view(x, n, columns, ldx);
    return c::deliver(transposed != 0 ? solver->solver.solve_transposed(from, to)
                                      : solver->solver.solve(from, to),
                      certificate);
  });
}

int stepwell_solver_inverse_norm(stepwell_solver* solver, int transposed, double* norm) {
  return c::guarded([&] {
    c::require(solver, "stepwell_solver_inverse_norm: solver");
    c::require(norm, "stepwell_solver_inverse_norm: norm");
    *norm = std::numeric_limits<double>::quiet_NaN();
    *norm = solver->solver.inverse_norm(transposed != 0);
    return static_cast<int>(solver->solver.factor().outcome);
  });
}

void stepwell_solver_destroy(stepwell_solver* solver) {
  delete solver;
}
