// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "core/memory_error.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "solvers/analysis/lower_triangle_copy.hpp"
#include "solvers/api/checks.hpp"
#include "solvers/api/fallback.hpp"
#include "solvers/systems/general.hpp"
#include "solvers/systems/spd.hpp"
#include "stepwell/error.hpp"

/// The reusable solver: keeps the structure of A, which is found once, and the factor.
namespace stepwell {

struct Solver::Impl {
  Impl(MatrixView<const double> matrix, const SolveOptions& with, Structure asked)
      : a(matrix), options(with), structure(asked), automatic(asked == Structure::automatic) {}

  /// Makes the solver for A's structure unless there is one.
  void ensure_solver() {
    if (solver) return;
    if (structure == Structure::automatic) {
      const bool spd = solvers::is_symmetric_with_positive_diagonal(a, options.engine.context);
      structure = spd ? Structure::spd : Structure::general;
    }
    if (structure == Structure::spd) {
      const SolveOptions with = automatic ? solvers::for_both_triangles(options) : options;
      lower.emplace(a, with);
      solver = solvers::spd_solver(lower->view(), with);
    } else {
      solver = solvers::general_solver(a, automatic ? solvers::for_general(options) : options);
    }
  }

  /// Calls run(solver), and again with LU if the structure is automatic and A turns out not to be
  /// positive definite.
  template <class Run>
  Certificate with_solver(bool transposed, Run run) {
    ensure_solver();
    std::optional<Certificate> cholesky;
    if (structure == Structure::spd) {
      cholesky = lower->in_callers_terms(run(*solver));
      if (!automatic || cholesky->outcome != SolveOutcome::not_positive_definite) return *cholesky;
      solver.reset();
      structure = Structure::general;
      ensure_solver();
    }
    solver->transpose(transposed);
    Certificate c = run(*solver);
    if (cholesky) solvers::begin_with(*cholesky, c);
    return c;
  }

  MatrixView<const double> a;
  SolveOptions options;
  Structure structure;
  bool automatic;  ///< the caller did not specify the structure of A
  std::optional<solvers::LowerTriangleCopy> lower;
  std::unique_ptr<solvers::SquareSolver> solver;
  std::optional<Certificate> factorization;
  Factor exact;  ///< a second factor, at fp64, once it was asked for
};

Solver::Solver(MatrixView<const double> a, const SolveOptions& options, Structure structure) try {
  const solvers::Checks check("Solver");
  check.square(structure);
  check.matrix(a, options);
  if (structure == Structure::general) check.general(options);
  impl_ = std::make_unique<Impl>(a, options, structure);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}
Solver::~Solver() = default;
Solver::Solver(Solver&& other) noexcept = default;
Solver& Solver::operator=(Solver&& other) noexcept = default;

std::int64_t Solver::order() const {
  return impl_->a.rows;
}

Structure Solver::structure() const {
  return impl_->structure;
}

const Certificate& Solver::factor() try {
  if (!impl_->factorization) {
    impl_->factorization =
        impl_->with_solver(impl_->options.transposed,
                           [](solvers::SquareSolver& solver) { return solver.factorize(); });
  }
  return *impl_->factorization;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Certificate Solver::solve(MatrixView<const double> b, MatrixView<double> x) try {
  solvers::Checks("Solver").vectors(impl_->a, b, x);
  return impl_->with_solver(impl_->options.transposed,
                            [&](solvers::SquareSolver& solver) { return solver.solve(b, x); });
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Certificate Solver::solve_transposed(MatrixView<const double> b, MatrixView<double> x) try {
  solvers::Checks("Solver").vectors(impl_->a, b, x);
  return impl_->with_solver(true,
                            [&](solvers::SquareSolver& solver) { return solver.solve(b, x); });
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

double Solver::inverse_norm(bool transposed) try {
  if (!factor().ok()) return std::numeric_limits<double>::quiet_NaN();
  impl_->solver->transpose(transposed);
  return impl_->solver->inverse_norm();
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

namespace {

/// The factor of a solver whose factorization succeeded.
solvers::KeptFactor kept_factor(const Certificate& factorization,
                                const solvers::SquareSolver& solver, const char* what) {
  if (factorization.ok()) return solver.kept();
  throw Error(ErrorCode::invalid_argument,
              std::string(what) + ": there is no factor: " + factorization.reason);
}

}  // namespace

const Factor& Solver::cholesky_factor() try {
  if (order() == 0) return impl_->exact;
  const Certificate& c = factor();
  const solvers::KeptFactor kept = kept_factor(c, *impl_->solver, "Solver::cholesky_factor");
  if (kept.cholesky == nullptr) {
    throw Error(ErrorCode::unsupported,
                "Solver::cholesky_factor: A was solved as a general matrix, and has no Cholesky "
                "factor");
  }
  if (FactorData::of(*kept.cholesky).l.map().coarsest() == Rung::fp64) return *kept.cholesky;
  if (impl_->exact.order() == 0 || !impl_->exact.ok()) {
    FactorOptions options;
    options.map = uniform(Rung::fp64);
    options.engine = impl_->options.engine;
    impl_->exact = cholesky(impl_->lower->view(), options);
  }
  return impl_->exact;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

LogDet Solver::log_det() try {
  if (order() == 0) return {};
  const Certificate& c = factor();
  const solvers::KeptFactor kept = kept_factor(c, *impl_->solver, "Solver::log_det");
  if (kept.lapack != nullptr) return kept.lapack->log_det();
  return kept.lu != nullptr ? kept.lu->log_det() : LogDet{cholesky_factor().log_det(), 1};
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
