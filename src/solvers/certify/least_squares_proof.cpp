// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numeric/double_double.hpp"
#include "core/numeric/roundoff.hpp"
#include "engine/runtime.hpp"
#include "kernels/blas/lapack.hpp"
#include "kernels/blas/qr.hpp"
#include "refine/vectors.hpp"
#include "solvers/systems/least_squares.hpp"

/// Proven bounds on the backward error of x. Every bound is the norm of a change dH of H for which
/// x is exact. Any vector d of corrections gives one: with v = H d, w = b - H (x + d), s = H'w,
///   dH = v x' / ||x||^2 - w t' / ||w||^2,  t = s + x (d's) / ||x||^2.
/// The first term changes the residual to w, whose gradient is then t, because v'w = d's; the
/// second term removes t and only scales w. So
///   ||dH||_F <= ||v|| / ||x|| + ||s|| (1 + ||d|| / ||x||) / ||w||,
/// all of which is computed. d = 0 gives the bound 'gradient'. The d that solves the least squares
/// problem makes s vanish and v the projection of r: 'projection'. The solution d of
/// (H'H + (||r|| / ||x||)^2 I) d = g gives 'weighted'.
namespace stepwell::solvers {
namespace {

using core::kUnit;

bool is_met(const Measured& measured, double tolerance) {
  return judge(measured, tolerance) == Verdict::met;
}

}  // namespace

std::vector<std::size_t> LeastSquares::unproven(const Batch& batch) const {
  std::vector<std::size_t> open;
  for (std::size_t k = 0; k < batch.proof.size(); ++k) {
    if (!is_met(batch.proof[k].measured, tolerance())) open.push_back(k);
  }
  return open;
}

bool LeastSquares::proven(const Batch& batch) const {
  return !batch.proof.empty() && unproven(batch).empty();
}

/// Replaces the bound if the new one is better. 'most' includes the rounding errors of sums; those
/// of norms, which are sums of at most m + n squares, and of quotients are added here.
void LeastSquares::offer(Proof& proof, double value, double most, Measure measure) const {
  const double norms = 1 + 4 * kUnit * static_cast<double>(m_ + 2 * n_ + 32);
  const Measured offered{value / norm_, (most * norms - value) / norm_ + tail_doubt_};
  if (offered.most() < proof.measured.most()) proof = {offered, measure};
}

/// Computes the bounds 'residual' and 'gradient'.
void LeastSquares::evaluate_bounds(Batch& batch) const {
  batch.proof.assign(batch.state.squares.size(), {});
  for (std::size_t k = 0; k < batch.proof.size(); ++k) {
    const auto c = static_cast<std::int64_t>(k);
    const double x = refine::norm2(n_, batch.state.x.column(c));
    const double g = refine::norm2(n_, batch.state.g.column(c));
    const double r = std::sqrt(batch.state.squares[k]);
    Proof& proof = batch.proof[k];
    if (!std::isfinite(x + g + r)) {
      proof.measured.error = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    // b or H is zero: nothing was rounded.
    if (norm_ == 0 || (x == 0 && r == 0)) {
      proof = {{0, 0}, r == 0 ? Measure::residual : Measure::gradient};
      continue;
    }
    const refine::Rounding lost = h_->rounding(batch.state.sums[k], norm_, r, x);
    proof.measured.error = std::numeric_limits<double>::infinity();
    if (x > 0) offer(proof, r / x, (r + lost.residual) / x, Measure::residual);
    if (r > lost.residual) {
      offer(proof, g / r, (g + lost.gradient) / (r - lost.residual), Measure::gradient);
    }
  }
}

/// Computes g and squares of some columns again, from A and b.
void LeastSquares::read_again(Batch& batch, const std::vector<std::size_t>& columns,
                              refine::Sums sums) {
  if (columns.empty()) return;
  Batch part = part_of(batch, columns);
  h_->residual(part.right, part.state.x, part.state.g, part.state.squares, sums);
  part.state.sums.assign(columns.size(), sums);
  evaluate_bounds(part);
  for (std::size_t e = 0; e < columns.size(); ++e) take(batch, columns[e], part, e);
}

/// Computes the best bounds for a batch. FP64 sums over many rows prove nothing, and passes with
/// them do not check that A is unchanged: for columns with such sums A is read again.
void LeastSquares::examine(Batch& batch) {
  evaluate_bounds(batch);
  std::vector<std::size_t> steered, open;
  for (std::size_t k = 0; k < batch.state.sums.size(); ++k) {
    if (batch.state.sums[k] == refine::Sums::fp64) steered.push_back(k);
  }
  read_again(batch, steered, refine::Sums::split);
  for (const std::size_t k : unproven(batch)) {
    if (batch.state.sums[k] != refine::Sums::double_double) open.push_back(k);
  }
  read_again(batch, open, refine::Sums::double_double);
  // Rounding x alone causes a larger error. Only an x without rounding errors could meet such a
  // tolerance, and the bounds above show it.
  if (tolerance() < kUnit / 4) return;
  for (const refine::Sums sums : {refine::Sums::fp64, refine::Sums::double_double}) {
    prove_projection(batch, sums);
  }
  if (qr_) prove_weighted(batch);
}

/// Offers the bound given by the corrections d = part.x + low of some columns; part.g holds s.
void LeastSquares::offer_corrections(Batch& batch, const std::vector<std::size_t>& columns,
                                     const Batch& part, const std::vector<const double*>& low,
                                     Measure measure) {
  // b is multiplied by zero to compute H d alone.
  refine::RightHandSides none = part.right;
  none.factor.assign(columns.size(), 0);
  none.base = {low};
  core::Buffer<double> ignored(part.g.size());
  std::vector<double> squares(columns.size());
  h_->residual(none, part.state.x, view(ignored.data(), n_, part.state.g.cols), squares);
  for (std::size_t e = 0; e < columns.size(); ++e) {
    const auto c = static_cast<std::int64_t>(e);
    const double x = refine::norm2(n_, batch.state.x.column(static_cast<std::int64_t>(columns[e])));
    const double d = refine::norm2(n_, part.state.x.column(c)) + refine::norm2(n_, low[e]);
    const double s = refine::norm2(n_, part.state.g.column(c));
    const double v = std::sqrt(squares[e]), w = std::sqrt(part.state.squares[e]);
    const auto rounding = [&](double r, double size) {
      return h_->rounding(refine::Sums::double_double, norm_, r, size, part.right.triple_sums);
    };
    const refine::Rounding of_s = rounding(w, x + d);
    const double of_v = rounding(v, d).residual;
    if (!(x > 0 && w > of_s.residual)) continue;
    offer(batch.proof[columns[e]], v / x + s * (1 + d / x) / w,
          (v + of_v) / x + (s + of_s.gradient) * (1 + d / x) / (w - of_s.residual), measure);
  }
}

/// Whether the rounding errors of s in double-double may be too large for the tolerance.
bool LeastSquares::needs_triple_sums(const Batch& batch, std::size_t column) const {
  const double r = std::sqrt(batch.state.squares[column]);
  const double x = refine::norm2(n_, batch.state.x.column(static_cast<std::int64_t>(column)));
  const refine::Rounding lost = h_->rounding(refine::Sums::double_double, norm_, r, x);
  return !(lost.gradient < tolerance() / 16 * norm_ * r);
}

/// Offers the same bound where s = g - H'H d with the product in FP64, whose rounding error is
/// proportional to ||d||. Also, ||H d||^2 = d'(g - s).
void LeastSquares::offer_small_corrections(Batch& batch, const std::vector<std::size_t>& columns,
                                           const Batch& part) const {
  for (std::size_t e = 0; e < columns.size(); ++e) {
    const std::size_t k = columns[e];
    const auto c = static_cast<std::int64_t>(k), i = static_cast<std::int64_t>(e);
    const double* const correction = part.state.x.column(i);
    const double* const g = batch.state.g.column(c);
    const double* const after = part.state.g.column(i);
    const double x = refine::norm2(n_, batch.state.x.column(c)), d = refine::norm2(n_, correction);
    const double r = std::sqrt(batch.state.squares[k]), s = refine::norm2(n_, after);
    const refine::Rounding of_g = h_->rounding(batch.state.sums[k], norm_, r, x);
    const double of_s = h_->rounding(refine::Sums::fp64, norm_, norm_ * d, d).gradient +
                        kUnit * static_cast<double>(n_ + 4) * (refine::norm2(n_, g) + s);
    const double square =
        std::max(refine::dot(n_, correction, g) - refine::dot(n_, correction, after), 0.0);
    const double v = std::sqrt(square), most_v = std::sqrt(square + d * of_s);
    const double w = r - of_g.residual - most_v;
    if (!(x > 0 && w > 0)) continue;
    offer(batch.proof[k], v / x + s * (1 + d / x) / r,
          most_v / x + (s + of_g.gradient + of_s) * (1 + d / x) / w, Measure::projection);
  }
}

/// Offers bounds given by corrections d of the current x that conjugate gradients find. The factor
/// M is their preconditioner but proves nothing: it may be shifted, or belong to another matrix.
/// With FP64 sums they start from g, which is already known.
void LeastSquares::prove_projection(Batch& batch, refine::Sums sums) {
  constexpr int kPasses = 30;
  const std::vector<std::size_t> open = unproven(batch);
  if (open.empty() || a_.failed() || cancelled()) return;
  Batch part = part_of(batch, open);
  std::vector<const double*> from;
  for (const std::size_t k : open) {
    const auto c = static_cast<std::int64_t>(k);
    from.push_back(batch.state.x.column(c));
    part.right.gradient.push_back(batch.state.g.column(c));
    part.right.triple_sums = part.right.triple_sums || needs_triple_sums(batch, k);
  }
  part.right.squares = part.state.squares;
  if (sums == refine::Sums::double_double) {
    part.right.gradient.clear();
    part.right.squares.clear();
    part.right.base = {from};
  }
  std::fill(part.x.begin(), part.x.end(), 0.0);
  refine::NormalRequest q;
  q.goal = q.tolerance = tolerance() / 8;
  q.norm = norm_;
  q.inverse = HUGE_VAL;  // g'M^-1 g is not used as a bound
  q.iterations = kPasses;
  q.sums = sums;
  q.go_on = [&](int, double) { return !a_.failed() && !cancelled(); };
  refine::normal_cg(*h_, *preconditioner_, part.right, part.state, q);
  if (sums == refine::Sums::fp64) return offer_small_corrections(batch, open, part);
  const std::vector<double> zeros(static_cast<std::size_t>(n_));
  offer_corrections(batch, open, part, std::vector<const double*>(open.size(), zeros.data()),
                    Measure::projection);
}

/// The triangular factor of [R; root I], in the column order of R: (H'H + root^2 I) d = g is solved
/// with it.
core::Buffer<double> LeastSquares::damped_triangle(double root) const {
  const engine::SingleThreadedBlas blas;
  core::Buffer<double> triangle(core::size_product(n_, n_, "triangle")), below(triangle.size());
  std::copy(qr_->r.begin(), qr_->r.end(), triangle.begin());
  for (std::int64_t j = 0; j < n_; ++j) below[j + j * n_] = root;
  core::Buffer<double> scratch(kernels::qr_scratch(n_, n_));
  kernels::qr_fold(view(triangle.data(), n_, n_), view(below.data(), n_, n_),
                   kernels::Below::triangle, scratch.data());
  return triangle;
}

/// Offers Karlson & Walden's bound, which is the smallest up to a factor of sqrt(2). Where the
/// condition number is high and r neither small nor large, the bound 'gradient' of a solution by QR
/// is u ||x|| ||H|| / ||r||, and its bound 'projection' is u times the condition number.
/// Corrections are refined with R, and each step gains the factor u ||x|| ||H|| / ||r||. They have
/// twice FP64's digits: otherwise the error of H'H d would be u ||H||^2 ||d||.
void LeastSquares::prove_weighted(Batch& batch) {
  constexpr int kSteps = 8;
  const auto n = static_cast<std::size_t>(n_);
  for (const std::size_t k : unproven(batch)) {
    const auto c = static_cast<std::int64_t>(k);
    const double of_x = refine::norm2(n_, batch.state.x.column(c));
    const double root = std::sqrt(batch.state.squares[k]) / of_x;
    if (!(of_x > 0 && root > 0)) continue;
    const core::Buffer<double> memory = damped_triangle(root);
    const auto triangle = view<const double>(memory.data(), n_, n_);
    Batch part = part_of(batch, {k});
    std::vector<double> low(n), y(n);
    std::fill(part.x.begin(), part.x.end(), 0.0);
    part.right.base = {{batch.state.x.column(c)}, {low.data()}};
    part.right.triple_sums = needs_triple_sums(batch, k);
    double before = HUGE_VAL;
    for (int step = 0; step < kSteps && !a_.failed() && !cancelled(); ++step) {
      for (std::size_t j = 0; j < n; ++j) {
        const std::int64_t from = qr_->order[j];
        y[j] = part.g[from] - root * root * part.x[from];
      }
      const double left = refine::norm2(n_, y.data());
      if (!(left < before / 2)) break;
      before = left;
      kernels::solve_upper(triangle, true, view(y.data(), n_, 1));
      kernels::solve_upper(triangle, false, view(y.data(), n_, 1));
      for (std::size_t j = 0; j < n; ++j) {
        const std::int64_t to = qr_->order[j];
        double& of_low = low[static_cast<std::size_t>(to)];
        const core::DoubleDouble sum =
            core::DoubleDouble{part.x[to], of_low} + core::DoubleDouble{y[j], 0};
        part.x[to] = sum.hi;
        of_low = sum.lo;
      }
      h_->residual(part.right, part.state.x, part.state.g, part.state.squares);
      offer_corrections(batch, {k}, part, {low.data()}, Measure::weighted);
      if (is_met(batch.proof[k].measured, tolerance())) break;
    }
  }
}

}  // namespace stepwell::solvers
