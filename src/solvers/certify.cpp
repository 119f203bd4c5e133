// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/clock.hpp"
#include "core/machine/fp_scope.hpp"
#include "refine/vectors.hpp"
#include "solvers/probes.hpp"
#include "solvers/solver.hpp"

/// What a certificate says on request: the condition number, and a bound on the forward error.
namespace stepwell::solvers {
namespace {

using core::Clock;
using core::seconds_since;

constexpr double kUnit = 0x1p-53;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// From here on A is singular to working accuracy, and a lower bound on the condition number says
/// all there is to say.
constexpr double kSingular = 0x1p50;

/// Iterations of a probe, most, where a better factor may follow.
constexpr int kProbeIterations = 50;

/// The estimate of ||A^-1|| is from below: within a factor of three as a rule, and no rule is a
/// bound.
constexpr double kSafety = 10;

}  // namespace

double condition_of(double norm, double inverse, int exponent) {
  int e = 0;
  const double fraction = std::frexp(norm, &e);
  return std::ldexp(fraction * inverse, e + exponent);
}

/// Where A is small it is inverted. Else probes are solved for with the factor that is there, and
/// with better ones while a probe does not converge.
void Solver::estimate_inverse_norm(Certificate& c) {
  Side& of = side();
  if (of.inverse_norm.value != 0) return;
  if (options_.progress != nullptr) options_.progress->enter(Phase::certify);
  of.inverse_norm = {kUnknown, false};
  if (order() <= VerifiedInverse::kUpTo) {
    of.inverse_norm = inverse_of(of).norm();
  } else {
    const std::size_t rung = rung_;
    while (ensure_factor(c)) {
      Side& other = other_side();
      if (!other.preconditioner) other.preconditioner = precondition(other);
      refine::Request q;
      q.refiner = made_->coarsest == Rung::fp64 ? Refiner::ir : default_refiner(structure_);
      if (may_climb()) q.iterations = kProbeIterations;
      of.inverse_norm = Probes(of, other, q).search();
      if (of.inverse_norm.tight || !next_rung()) break;
    }
    if (!of.inverse_norm.tight && rung_ != rung) {
      forget_factor();  // a better one was no help, or there is none: go on with what there was
      rung_ = rung;
    }
  }
  const double condition = condition_of(of.norm, of.inverse_norm.value, of.exponents.largest());
  if (!of.inverse_norm.tight && !(condition >= kSingular)) of.inverse_norm.value = kUnknown;
}

const VerifiedInverse& Solver::inverse_of(Side& of) {
  if (!of.inverse) of.inverse.emplace(of.scaled, of.exponents);
  return *of.inverse;
}

double Solver::inverse_norm() {
  const core::FpScope fp;
  const engine::ThreadPoolGuard guard(pool_);
  if (order() == 0) return 0;
  Certificate c;
  if (!check_matrix(c)) return kUnknown;
  estimate_inverse_norm(c);
  return std::ldexp(side().inverse_norm.value, side().exponents.largest());
}

/// Nothing is known until it is found out.
void Solver::expect_condition(Certificate& c) const {
  if (order() == 0) return;
  if (order() <= VerifiedInverse::kUpTo) c.peak_bytes += VerifiedInverse::bytes(order());
  c.condition = kUnknown;
  for (ColumnCertificate& column : c.columns) column.forward_error = kUnknown;
}

void Solver::estimate_condition(Certificate& c) {
  const auto start = Clock::now();
  const Side& of = side();
  Certificate factorization;  // x may have been found without a factor, and stays what it is
  estimate_inverse_norm(factorization);
  c.times.factor += factorization.times.factor;
  c.peak_bytes = std::max(c.peak_bytes, factorization.peak_bytes);
  c.condition = condition_of(c.norm, of.inverse_norm.value, of.exponents.largest());
  if (!std::isfinite(c.condition)) c.condition = kUnknown;
  if (order() > VerifiedInverse::kUpTo) {
    for (ColumnCertificate& column : c.columns) {
      // ||x - A^-1 b|| <= ||A^-1|| (||r|| + what r's own rounding may hide), and b is at most as
      // large as ||A|| ||x|| and the residual.
      const double hidden = static_cast<double>(order() + 1) * kUnit;
      const double backward = column.proven_backward_error > 0 ? column.proven_backward_error
                                                               : column.backward_error + hidden;
      const double error = 2 * kSafety * c.condition * backward;
      column.forward_error = of.inverse_norm.tight && error < 1 ? error : kUnknown;
    }
  }
  c.times.certify += seconds_since(start);
}

/// Of a small matrix, whose inverse bounds the errors of what was written.
void Solver::bound_errors(const Batch& batch, Certificate& c) {
  if (order() > VerifiedInverse::kUpTo) return;
  const auto start = Clock::now();
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
  c.times.certify += seconds_since(start);
}

}  // namespace stepwell::solvers
