// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/clock.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/numeric/roundoff.hpp"
#include "refine/vectors.hpp"
#include "solvers/certify/probes.hpp"
#include "solvers/systems/square_solver.hpp"

/// The parts of a certificate that are optional: the condition number and a bound on the forward
/// error.
namespace stepwell::solvers {
namespace {

using core::kUnit;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// From this condition number on A is singular to working accuracy, and a lower bound on the
/// condition number is sufficient.
constexpr double kSingular = 0x1p50;

/// Maximum number of iterations of a probe if a better factor may follow.
constexpr int kProbeIterations = 50;

/// The estimate of ||A^-1|| is a lower bound that is usually within a factor of three, which is not
/// guaranteed.
constexpr double kSafety = 10;

}  // namespace

double condition_of(double norm, double inverse, int exponent) {
  int e = 0;
  const double fraction = std::frexp(norm, &e);
  return std::ldexp(fraction * inverse, e + exponent);
}

/// A small A is inverted. Otherwise probes are solved for with the current factor, and with better
/// ones as long as a probe does not converge.
void SquareSolver::estimate_inverse_norm(Certificate& c) {
  Side& of = side();
  if (of.inverse_norm.value != 0) return;
  if (options_.engine.progress != nullptr) options_.engine.progress->enter(Phase::certify);
  of.inverse_norm = {kUnknown, false};
  if (order() <= VerifiedInverse::kUpTo) {
    of.inverse_norm = inverse_of(of).norm();
  } else {
    if (ladder_.step().kind == StepKind::unpreconditioned) ++ladder_.current;
    const std::size_t before = ladder_.current;
    System system = factor_steps();
    system.refine = [&](const Step&, double, Certificate&) {
      Side& other = other_side();
      if (!other.preconditioner) {
        other.preconditioner = a_->precondition(*analysis_, other.transposed);
      }
      refine::Request q;
      q.refiner = made_->coarsest == Rung::fp64 ? Refiner::ir : default_refiner(a_->structure());
      if (ladder_.has_next()) q.iterations = kProbeIterations;
      of.inverse_norm = Probes(of, other, q).search();
      LadderStep probed;
      probed.reason = of.inverse_norm.tight ? "" : "a probe did not converge";
      return probed;
    };
    system.cost = [](const Step&) { return HUGE_VAL; };
    climb(system, ladder_, options_.engine.progress, c);
    if (!of.inverse_norm.tight && ladder_.current != before) {
      forget_factor();  // a better factor did not help, or there is none: go back
      ladder_.current = before;
    }
  }
  const double condition = condition_of(of.norm, of.inverse_norm.value, of.exponents.largest());
  if (!of.inverse_norm.tight && !(condition >= kSingular)) of.inverse_norm.value = kUnknown;
}

const VerifiedInverse& SquareSolver::inverse_of(Side& of) {
  if (!of.inverse) of.inverse.emplace(of.scaled, of.exponents);
  return *of.inverse;
}

double SquareSolver::inverse_norm() {
  const core::FpScope fp;
  const engine::ThreadPoolGuard guard(a_->pool());
  if (order() == 0) return 0;
  Certificate c;
  if (!analyze(c)) return kUnknown;
  estimate_inverse_norm(c);
  return std::ldexp(side().inverse_norm.value, side().exponents.largest());
}

/// Marks the condition number and the forward errors as unknown until they are computed.
void SquareSolver::expect_condition(Certificate& c) const {
  if (order() == 0) return;
  if (order() <= VerifiedInverse::kUpTo) c.peak_bytes += VerifiedInverse::bytes(order());
  c.condition = kUnknown;
  for (ColumnCertificate& column : c.columns) column.forward_error = kUnknown;
}

void SquareSolver::estimate_condition(Certificate& c) {
  const auto start = core::Clock::now();
  const Side& of = side();
  Certificate factorization;  // not c: x may have been computed without this factor
  estimate_inverse_norm(factorization);
  c.times.factor += factorization.times.factor;
  c.peak_bytes = std::max(c.peak_bytes, factorization.peak_bytes);
  c.condition = condition_of(c.norm, of.inverse_norm.value, of.exponents.largest());
  if (!std::isfinite(c.condition)) c.condition = kUnknown;
  if (order() > VerifiedInverse::kUpTo) {
    for (ColumnCertificate& column : c.columns) {
      // ||x - A^-1 b|| <= ||A^-1|| (||r|| + the rounding error of r), and ||b|| is at most
      // ||A|| ||x|| + ||r||.
      const double hidden = static_cast<double>(order() + 1) * kUnit;
      const double backward = column.proven_backward_error > 0 ? column.proven_backward_error
                                                               : column.backward_error + hidden;
      const double error = 2 * kSafety * c.condition * backward;
      column.forward_error = of.inverse_norm.tight && error < 1 ? error : kUnknown;
    }
  }
  c.times.certify += core::seconds_since(start);
}

/// Bounds the forward errors of the x that was written, if A is small, by its verified inverse.
void SquareSolver::bound_errors(const Batch& batch, Certificate& c) {
  if (order() > VerifiedInverse::kUpTo) return;
  const auto start = core::Clock::now();
  Side& of = side();
  const std::int64_t n = order();
  const core::Buffer<double> r(n * batch.count);
  of.scaled.residual(batch.view_of(batch.b), batch.view_of(batch.y), batch.view_of(r),
                     refine::Sums::double_double);
  for (std::int64_t k = 0; k < batch.count; ++k) {
    c.columns[static_cast<std::size_t>(batch.first + k)].forward_error =
        inverse_of(of).forward_error(batch.b.data() + k * n, batch.y.data() + k * n,
                                     r.data() + k * n);
  }
  c.times.certify += core::seconds_since(start);
}

}  // namespace stepwell::solvers
