// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "core/memory_error.hpp"
#include "solvers/checks.hpp"
#include "solvers/driver.hpp"
#include "solvers/general.hpp"
#include "solvers/lower_triangle_copy.hpp"
#include "solvers/spd.hpp"

/// The solver that is used again: what A is, found out once, and its factor.
namespace stepwell {

struct Solver::Impl {
  Impl(MatrixView<const double> matrix, const SolveOptions& with, Structure asked)
      : a(matrix), options(with), structure(asked), may_change(asked == Structure::automatic) {}

  /// Finds out what A is, unless that is known.
  void find_structure() {
    if (structure == Structure::automatic) {
      structure = solvers::is_symmetric_with_positive_diagonal(a, options.context)
                      ? Structure::spd
                      : Structure::general;
    }
    if (structure == Structure::spd && !spd) {
      const SolveOptions with = may_change ? solvers::for_both_triangles(options) : options;
      mirror.emplace(a, with);
      spd = std::make_unique<solvers::Spd>(mirror->view(), with);
    }
    if (structure == Structure::general && !general) {
      general = std::make_unique<solvers::General>(
          a, may_change ? solvers::for_general(options) : options);
    }
  }

  /// call(solver), with the other kind of factor where A turns out not to be positive definite.
  template <class Call>
  Certificate attempt(bool transposed, Call call) {
    find_structure();
    std::optional<Certificate> cholesky;
    if (structure == Structure::spd) {
      cholesky = mirror->in_callers_terms(call(*spd));
      if (!may_change || cholesky->outcome != SolveOutcome::not_positive_definite) {
        return *cholesky;
      }
      spd.reset();
      structure = Structure::general;
      find_structure();
    }
    general->transpose(transposed);
    Certificate c = call(*general);
    if (cholesky) solvers::begin_with(*cholesky, c);
    return c;
  }

  MatrixView<const double> a;
  SolveOptions options;
  Structure structure;
  bool may_change;  ///< nobody said what A is
  std::optional<solvers::LowerTriangleCopy> mirror;
  std::unique_ptr<solvers::Spd> spd;  ///< one of the two
  std::unique_ptr<solvers::General> general;
  std::optional<Certificate> factorization;
};

Solver::Solver(MatrixView<const double> a, const SolveOptions& options, Structure structure) try {
  const solvers::Checks check("Solver");
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
    impl_->factorization = impl_->attempt(impl_->options.transposed,
                                          [](solvers::Solver& solver) { return solver.prepare(); });
  }
  return *impl_->factorization;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Certificate Solver::solve(MatrixView<const double> b, MatrixView<double> x) try {
  solvers::Checks("Solver").vectors(impl_->a, b, x);
  return impl_->attempt(impl_->options.transposed,
                        [&](solvers::Solver& solver) { return solver.solve(b, x); });
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Certificate Solver::solve_transposed(MatrixView<const double> b, MatrixView<double> x) try {
  solvers::Checks("Solver").vectors(impl_->a, b, x);
  return impl_->attempt(true, [&](solvers::Solver& solver) { return solver.solve(b, x); });
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

double Solver::inverse_norm(bool transposed) try {
  if (!factor().ok()) return std::numeric_limits<double>::quiet_NaN();
  if (impl_->spd) return impl_->spd->inverse_norm();
  impl_->general->transpose(transposed);
  return impl_->general->inverse_norm();
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
