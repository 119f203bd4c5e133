// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <random>

#include "refine/vectors.hpp"
#include "solvers/ladder/cost.hpp"
#include "solvers/systems/least_squares.hpp"

/// Linearly dependent columns do not prevent the normal equations from being solved: refinement
/// never encounters the vector v with H v = 0, and a Gram matrix that was rounded or shifted is
/// nonsingular nevertheless. So where the factor does not show the rank, it has to be tested.
namespace stepwell::solvers {
namespace {

/// A random vector of norm 1 has a component of at least kSeen / sqrt(n) in any given direction,
/// except for one time in a thousand.
constexpr double kSeen = 1e-3;

std::vector<double> any_vector(std::int64_t n, const std::vector<std::int64_t>& empty) {
  std::mt19937_64 bits(1);
  std::vector<double> w(static_cast<std::size_t>(n));
  for (double& e : w) e = static_cast<double>(bits() >> 11) * 0x1p-52 - 1;
  for (const std::int64_t j : empty) w[static_cast<std::size_t>(j)] = 0;
  const double norm = refine::norm2(n, w.data());
  if (norm > 0) refine::scale(n, 1 / norm, w.data());
  return w;
}

}  // namespace

/// Estimates ||M^-1|| by a few steps of the power method. Estimators of the 1-norm start with
/// vectors that are orthogonal to the null vector of two equal columns.
double LeastSquares::inverse_by_power() {
  constexpr int kSteps = 4;
  std::vector<double> v = any_vector(n_, {}), y(v.size());
  double norm = 0;
  for (int k = 0; k < kSteps; ++k) {
    preconditioner_->apply(view<const double>(v.data(), n_, 1), view(y.data(), n_, 1));
    norm = refine::norm2(n_, y.data());
    if (!(norm > 0 && std::isfinite(norm))) return norm;
    std::swap(v, y);
    refine::scale(n_, 1 / norm, v.data());
  }
  return norm;
}

/// Whether the factor is so far from singular that H can't be singular.
bool LeastSquares::factor_shows_rank(Rung rung) const {
  const double u = info(rung).unit_roundoff, sums = rung == Rung::fp64 ? 0x1p-53 : 0x1p-24;
  const double factor = info(gram_factor_rung(rung, n_)).unit_roundoff;
  // If H v = 0, M still has three parts in the direction v: the shift (of a diagonal below 4), the
  // square of what rounding H leaves of H v (in as many directions as there are columns, of which
  // at most 64 are assumed to add up), and its own rounding errors, which add up like random
  // numbers.
  const double hidden =
      4 * c_.shift * u + u * u * std::min(norm_ * norm_, 64.0) + 16 * (sums + factor) * norm_;
  return inverse_ * hidden < 0.1;
}

/// An error that was measured with the factor M is valid only if M is near H'H. This is tested in a
/// direction that refinement has not used and that is large where M is small: p = M^-1 w.
bool LeastSquares::projects_well(const std::vector<double>& w, const std::vector<double>& p,
                                 const std::vector<double>& q) const {
  std::vector<double> e(w);
  refine::axpy(n_, -1, q.data(), e.data());
  const double drift = refine::norm2(n_, e.data()) / refine::norm2(n_, p.data());
  if (drift * inverse_ < 0.25) return true;
  for (const Batch& batch : batch_) {
    for (const refine::LeastSquaresError& error : batch.state.error) {
      if (error.measure == Measure::projection) return false;
    }
  }
  return true;
}

/// Solves H'H z = w by conjugate gradients, for a vector w with a component in every direction. If
/// H v = 0, the component of w along v stays in the residual. The answer is also no if rounding
/// errors might have removed that component.
bool LeastSquares::shows_rank(Rung rung, int iterations) {
  if (factor_shows_rank(rung)) return true;
  const std::vector<double> w = any_vector(n_, empty_columns());
  const double seen = kSeen / std::sqrt(static_cast<double>(n_));
  std::vector<double> r(w), y(w.size()), p(w.size()), q(w.size()), z(w.size());
  const auto column = [&](std::vector<double>& v) { return view(v.data(), n_, 1); };
  double ry = 0, noise = 0;
  for (int k = 0; k < 2 * iterations + 20; ++k) {
    preconditioner_->apply(column(r), column(y));
    const double next = refine::dot(n_, r.data(), y.data());
    if (!(next > 0)) return next == 0;
    refine::xpby(n_, y.data(), k > 0 ? next / ry : 0, p.data());
    ry = next;
    h_->apply(column(p), column(q), sums());
    if (a_.failed() || cancelled()) return false;
    const double pq = refine::dot(n_, p.data(), q.data());
    if (!(pq > 0)) return false;
    if (k == 0 && !projects_well(w, p, q)) return false;
    const double length = ry / pq;
    refine::axpy(n_, length, p.data(), z.data());
    refine::axpy(n_, -length, q.data(), r.data());
    const double size = norm_ * refine::norm2(n_, p.data());
    noise += 0x1p-53 * length * norm_ * (sums() == refine::Sums::fp64 ? size : std::sqrt(pq));
    if (!(noise < seen)) return false;
    if (refine::norm2(n_, r.data()) < seen) {
      inverse_ = std::max(inverse_, refine::norm2(n_, z.data()));
      c_.condition = norm_ * std::sqrt(inverse_);
      return true;
    }
  }
  return false;
}

}  // namespace stepwell::solvers
