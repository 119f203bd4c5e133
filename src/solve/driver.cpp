// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>

#include "engine/runtime.hpp"
#include "solve/checks.hpp"
#include "solve/general.hpp"
#include "solve/small.hpp"
#include "solve/spd.hpp"
#include "stepwell/solve.hpp"

namespace stepwell {
namespace {

/// Puts what was tried before in front of what a certificate says.
void begin_with(const Certificate& before, Certificate& c) {
  c.rungs.insert(c.rungs.begin(), before.rungs.begin(), before.rungs.end());
  c.times.survey += before.times.survey;
  c.times.factor += before.times.factor;
  c.times.refine += before.times.refine;
  c.times.wall += before.times.wall;
  c.peak_bytes = std::max(c.peak_bytes, before.peak_bytes);
}

/// The small path, and the ladder where that ends without a solution.
Certificate solve_small_or_climb(MatrixView<const double> a, MatrixView<const double> b,
                                 MatrixView<double> x, const SolveOptions& options) {
  core::Buffer<double> kept;  // of b, where x overwrites it
  if (x.data == b.data) {
    kept = core::Buffer<double>(b.rows * b.cols, core::Contents::any);
    for (std::int64_t c = 0; c < b.cols; ++c) {
      std::copy_n(b.column(c), b.rows, kept.data() + c * b.rows);
    }
    b = view<const double>(kept.data(), b.rows, b.cols);
  }
  Certificate first = driver::solve_small_general(a, b, x, options);
  const bool more = first.outcome == SolveOutcome::not_converged ||
                    first.outcome == SolveOutcome::singular ||
                    first.outcome == SolveOutcome::overflow;
  if (!more) return first;
  Certificate c = driver::General(a, options).solve(b, x);
  begin_with(first, c);
  return c;
}

}  // namespace

Certificate solve_spd(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> x,
                      const SolveOptions& options) {
  const driver::Checks check("solve_spd");
  check.matrix(a, options);
  check.vectors(a, b, x);
  return driver::is_small(a.rows, options, Structure::spd)
             ? driver::solve_small_spd(a, b, x, options)
             : driver::Spd(a, options).solve(b, x);
}

Certificate solve_general(MatrixView<const double> a, MatrixView<const double> b,
                          MatrixView<double> x, const SolveOptions& options) {
  const driver::Checks check("solve_general");
  check.matrix(a, options);
  check.general(options);
  check.vectors(a, b, x);
  return driver::is_small(a.rows, options, Structure::general)
             ? solve_small_or_climb(a, b, x, options)
             : driver::General(a, options).solve(b, x);
}

Certificate solve(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> x,
                  const SolveOptions& options, Structure structure) {
  if (structure == Structure::spd) return solve_spd(a, b, x, options);
  if (structure == Structure::general) return solve_general(a, b, x, options);
  const driver::Checks check("solve");
  check.matrix(a, options);
  check.vectors(a, b, x);
  SolveOptions general = options;
  general.check_symmetry = false;
  if (options.refiner == Refiner::cg) general.refiner = Refiner::fgmres;
  if (options.refiner == Refiner::ir_cg) general.refiner = Refiner::ir_gmres;
  if (!driver::is_symmetric_with_positive_diagonal(a, options.context)) {
    return solve_general(a, b, x, general);
  }
  const Certificate cholesky = solve_spd(a, b, x, options);
  if (cholesky.outcome != SolveOutcome::not_positive_definite) return cholesky;
  Certificate c = solve_general(a, b, x, general);
  begin_with(cholesky, c);
  return c;
}

struct SpdSolver::Impl {
  Impl(MatrixView<const double> matrix, const SolveOptions& options)
      : a(matrix), spd(matrix, options), factorization(spd.prepare()) {}
  MatrixView<const double> a;
  driver::Spd spd;
  Certificate factorization;
};

SpdSolver::SpdSolver(MatrixView<const double> a, const SolveOptions& options) {
  driver::Checks("SpdSolver").matrix(a, options);
  impl_ = std::make_unique<Impl>(a, options);
}
SpdSolver::~SpdSolver() = default;
SpdSolver::SpdSolver(SpdSolver&& other) noexcept = default;
SpdSolver& SpdSolver::operator=(SpdSolver&& other) noexcept = default;

std::int64_t SpdSolver::order() const {
  return impl_->a.rows;
}

const Certificate& SpdSolver::factorization() const {
  return impl_->factorization;
}

Certificate SpdSolver::solve(MatrixView<const double> b, MatrixView<double> x) {
  driver::Checks("SpdSolver").vectors(impl_->a, b, x);
  return impl_->spd.solve(b, x);
}

struct GeneralSolver::Impl {
  Impl(MatrixView<const double> matrix, const SolveOptions& options)
      : a(matrix),
        transposed(options.transposed),
        general(matrix, options),
        factorization(general.prepare()) {}
  MatrixView<const double> a;
  bool transposed;
  driver::General general;
  Certificate factorization;
};

GeneralSolver::GeneralSolver(MatrixView<const double> a, const SolveOptions& options) {
  const driver::Checks check("GeneralSolver");
  check.matrix(a, options);
  check.general(options);
  impl_ = std::make_unique<Impl>(a, options);
}
GeneralSolver::~GeneralSolver() = default;
GeneralSolver::GeneralSolver(GeneralSolver&& other) noexcept = default;
GeneralSolver& GeneralSolver::operator=(GeneralSolver&& other) noexcept = default;

std::int64_t GeneralSolver::order() const {
  return impl_->a.rows;
}

const Certificate& GeneralSolver::factorization() const {
  return impl_->factorization;
}

Certificate GeneralSolver::solve(MatrixView<const double> b, MatrixView<double> x) {
  driver::Checks("GeneralSolver").vectors(impl_->a, b, x);
  impl_->general.transpose(impl_->transposed);
  return impl_->general.solve(b, x);
}

Certificate GeneralSolver::solve_transposed(MatrixView<const double> b, MatrixView<double> x) {
  driver::Checks("GeneralSolver").vectors(impl_->a, b, x);
  impl_->general.transpose(true);
  return impl_->general.solve(b, x);
}

}  // namespace stepwell
