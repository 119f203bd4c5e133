// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/runtime.hpp"
#include "kernels/blas/lapack.hpp"
#include "kernels/blas/qr.hpp"
#include "refine/vectors.hpp"
#include "solve/least_squares.hpp"

/// With R, the error can be measured better than by the three bounds of refinement: a solution by
/// QR is good to a few u, but where the condition is high and r neither small nor large, its
/// gradient is u ||x|| ||H|| / ||r|| and its projection u times the condition.
namespace stepwell::driver {

/// Karlson & Walden's ||(||x||^2 H'H + ||r||^2 I)^-1/2 g||, which is the smallest change of H but
/// for a factor of sqrt(2) (Hallman 2020), relative to ||H||_F. By QR of [||x|| R; ||r|| I].
double LeastSquares::weighted_error(const double* x, const double* g, double square) {
  const engine::SingleThreadedBlas blas;
  const double of_r = std::sqrt(square), of_x = refine::norm2(n_, x);
  const double unit = refine::normalizer(std::max(of_r, of_x));
  core::Buffer<double> s(core::size_product(n_, n_, "triangle")), below(s.size());
  std::transform(qr_->r.begin(), qr_->r.end(), s.begin(),
                 [&](double e) { return e * (of_x * unit); });
  for (std::int64_t j = 0; j < n_; ++j) below[j + j * n_] = of_r * unit;
  core::Buffer<double> scratch(kernels::qr_scratch(n_, n_));
  const MatrixView<double> triangle = view(s.data(), n_, n_);
  kernels::qr_fold(triangle, view(below.data(), n_, n_), kernels::Below::triangle, scratch.data());
  std::vector<double> y;
  for (const std::int64_t j : qr_->order) y.push_back(g[j]);
  kernels::solve_upper(triangle, true, view(y.data(), n_, 1));
  return std::numbers::sqrt2 * refine::norm2(n_, y.data()) * unit / norm_;
}

/// Takes the better measure for columns that do not meet the tolerance.
void LeastSquares::sharpen(Batch& batch) {
  for (std::size_t k = 0; k < batch.state.error.size(); ++k) {
    refine::LeastSquaresError& error = batch.state.error[k];
    if (error.value <= tolerance() || !(batch.state.squares[k] > 0) || cancelled()) continue;
    const auto c = static_cast<std::int64_t>(k);
    const double value =
        weighted_error(batch.state.x.column(c), batch.state.g.column(c), batch.state.squares[k]);
    if (value < error.value) error = {value, refine::Measure::weighted};
  }
}

/// The digits of x that a backward error does not see. Where r is not small, rounding in H'r is
/// amplified by the condition squared; Householder's QR is sqrt(m) times better than that bound,
/// because its roundings have nothing to do with r. So H'r is summed in double-double, and x
/// corrected until the corrections get no smaller.
void LeastSquares::polish(Batch& batch) {
  constexpr double kWorthIt = 30;  // errors of FP64's sums, in units of condition x u
  if (refiner_ != Refiner::cg || sums() == refine::Sums::double_double) return;
  double worst = 0;
  for (std::size_t k = 0; k < batch.state.error.size(); ++k) {
    const double size =
        norm_ * refine::norm2(n_, batch.state.x.column(static_cast<std::int64_t>(k)));
    if (size > 0) worst = std::max(worst, std::sqrt(batch.state.squares[k]) / size);
  }
  if (!(c_.condition * worst > kWorthIt)) return;
  const refine::LeastSquaresState before = batch.state;
  core::Buffer<double> x(batch.x.size()), g(batch.g.size());
  std::copy(batch.x.begin(), batch.x.end(), x.begin());
  h_->residual(batch.right, batch.state.x, batch.state.g, batch.state.squares,
               refine::Sums::double_double);
  std::copy(batch.g.begin(), batch.g.end(), g.begin());
  const std::vector<double> squares = batch.state.squares;
  refine::NormalRequest q;
  q.corrections = true;
  q.goal = 2 * 0x1p-53;
  q.tolerance = HUGE_VAL;  // two steps that do not halve the correction end it
  q.norm = norm_;
  q.sums = refine::Sums::double_double;
  q.iterations = 20;
  q.go_on = [&](int, double) { return !a_.failed() && !cancelled(); };
  const refine::Outcome outcome =
      refine::normal_cg(*h_, *preconditioner_, batch.right, batch.state, q);
  batch.state.projects = before.projects;
  refine::measure(*preconditioner_, norm_, batch.state);
  for (std::size_t k = 0; k < before.error.size(); ++k) {
    c_.columns[static_cast<std::size_t>(batch.right.column[k])].iterations +=
        outcome.system[k].iterations;
    if (batch.state.error[k].value <= tolerance()) continue;
    // Better digits must not cost the certificate.
    std::copy_n(x.data() + static_cast<std::int64_t>(k) * n_, n_,
                batch.state.x.column(static_cast<std::int64_t>(k)));
    std::copy_n(g.data() + static_cast<std::int64_t>(k) * n_, n_,
                batch.state.g.column(static_cast<std::int64_t>(k)));
    batch.state.squares[k] = squares[k];
    batch.state.error[k] = before.error[k];
  }
}

/// Columns that refinement has made worse than the tolerance get back x, what QR gave them, where
/// that is better.
void LeastSquares::restore(Batch& batch, core::Buffer<double> x) {
  const auto& errors = batch.state.error;
  const auto met = [&](const refine::LeastSquaresError& e) { return e.value <= tolerance(); };
  if (std::all_of(errors.begin(), errors.end(), met)) return;
  const std::int64_t count = batch.state.x.cols;
  Batch direct;
  direct.right = batch.right;
  direct.state = batch.state;
  direct.x = std::move(x);
  direct.g = core::Buffer<double>(n_ * count);
  direct.state.x = view(direct.x.data(), n_, count);
  direct.state.g = view(direct.g.data(), n_, count);
  direct.state.projects.assign(errors.size(), true);
  h_->residual(direct.right, direct.state.x, direct.state.g, direct.state.squares, sums());
  refine::measure(*preconditioner_, norm_, direct.state);
  sharpen(direct);
  for (std::int64_t c = 0; c < count; ++c) {
    const auto k = static_cast<std::size_t>(c);
    if (met(errors[k]) || !(direct.state.error[k].value < errors[k].value)) continue;
    std::copy_n(direct.state.x.column(c), n_, batch.state.x.column(c));
    std::copy_n(direct.state.g.column(c), n_, batch.state.g.column(c));
    batch.state.squares[k] = direct.state.squares[k];
    batch.state.error[k] = direct.state.error[k];
  }
}

}  // namespace stepwell::driver
