// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/general.hpp"
#include "core/clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/numeric/exponent.hpp"
#include "factor/lu/equilibrate.hpp"
#include "factor/lu/lu_data.hpp"
#include "kernels/scan.hpp"
#include "refine/vectors.hpp"
#include "solvers/cost.hpp"

namespace stepwell::solvers {
namespace {

using core::Clock;
using core::seconds_since;

constexpr double kUnit = 0x1p-53;

/// The largest growth times unit roundoff that a factor below FP64 may have, by sqrt(n): what is
/// above has no digits left, and no refiner gets anywhere with it.
constexpr double kMostGrowth = 1;

/// Sums of rows, and of columns, that differ by no more than this: A needs no equilibration, and no
/// second pass that looks for one.
constexpr double kEven = 16;

/// Below this ratio of the Frobenius norms beside and on the diagonal, GMRES with the diagonal
/// gains a digit in every product or two, if what is beside it is spread out; no factor is as
/// cheap.
constexpr double kNearDiagonal = 0.1;

/// Up to this ratio of the mean squares on the diagonal and of all elements, the diagonal is like
/// any other: U diag(s) V' with random bases, or random numbers. Their elements grow by n^(2/3) and
/// bf16 takes 40 iterations or hundreds, or 25 where all singular values but one are equal, and its
/// factor is time lost.
constexpr double kRandomDiagonal = 4;

/// x larger than this share of 1 / (sqrt(n) u) times b: A is singular to working accuracy, and may
/// be so exactly.
constexpr double kSuspect = 0x1p-4;

/// The middle of the powers of two in a scale.
int middle_of(const std::vector<double>& powers) {
  const auto [low, high] = std::minmax_element(powers.begin(), powers.end());
  return (core::exponent_of(*low) + core::exponent_of(*high)) / 2;
}

/// Moves a power of two from one side to the other until both have the same middle: A may be near
/// the end of FP64's range, and neither diag(col) x nor A times that may get there.
void balance(factor::Scale& scale) {
  const int shift = (middle_of(scale.row) - middle_of(scale.col)) / 2;
  const auto move = [](double& power, int by) {
    power = core::power_of_two(std::clamp(core::exponent_of(power) + by, -1020, 1020));
  };
  for (double& r : scale.row) move(r, -shift);
  for (double& c : scale.col) move(c, shift);
}

}  // namespace

General::General(MatrixView<const double> a, const SolveOptions& options, std::int64_t priced_as)
    : Solver(Structure::general, a.rows, threads_for(a.rows, options.context), options, priced_as),
      a_(a),
      transposed_(options.transposed),
      product_(pool_, a),
      transposed_product_(pool_, a, true) {
  const bool small = !options.map && priced_ < direct_below(Structure::general);
  const bool allowed = small || options.climb;
  lapack_rung_ = !allowed ? maps_.size() + 1 : small ? 0 : maps_.size();
  if (allowed) {
    maps_.insert(maps_.begin() + static_cast<std::ptrdiff_t>(lapack_rung_), uniform(Rung::fp64));
  }
}

/// A lower bound on ||H||_2 from a few of its columns.
double General::column_norm() const {
  constexpr std::int64_t kColumns = 16;
  const std::int64_t n = order();
  double largest = 0;
  for (std::int64_t k = 0; k < std::min(n, kColumns); ++k) {
    const std::int64_t j = k * n / std::min(n, kColumns);
    double squares = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double h = (scale_.row[static_cast<std::size_t>(i)] * a_(i, j)) *
                       scale_.col[static_cast<std::size_t>(j)];
      squares += h * h;
    }
    largest = std::max(largest, std::sqrt(squares));
  }
  return largest;
}

void General::analyze() {
  if (options_.progress != nullptr) options_.progress->enter(Phase::analysis);
  found_ = refine::scan_general(pool_, a_);
  analyzed_ = true;
  if (found_.scan.non_finite > 0) return;
  even_ = found_.norm_inf <= kEven * found_.least_row && found_.norm_1 <= kEven * found_.least_col;
  scale_ = even_ ? factor::even_scale(order(), found_.scan.max_abs)
                 : factor::equilibrate(a_, pool_).scale;
  balance(scale_);
  forward_.emplace(product_, scale_.row, scale_.col);
  backward_.emplace(transposed_product_, scale_.col, scale_.row);
  const auto norm = [&](double sum) { return std::isfinite(sum) ? sum : found_.scan.max_abs; };
  forward_->scaled.expect(found_.checksums);
  backward_->scaled.expect(found_.checksums);
  forward_->norm = norm(found_.norm_inf);
  backward_->norm = norm(found_.norm_1);
  forward_->scaled_norm = backward_->scaled_norm = column_norm();
  if (!even_) return;
  double squares = 0;
  const double one = scale_.row[0] * scale_.col[0];
  for (std::int64_t i = 0; i < order(); ++i) squares += (one * a_(i, i)) * (one * a_(i, i));
  const double whole = one * kernels::frobenius(found_.scan);
  diagonal_share_ = squares / (whole * whole);
  const bool random = diagonal_share_ * static_cast<double>(order()) <= kRandomDiagonal;
  if (random && !options_.map && maps_.size() > 3 && rung_ == 0) rung_ = start_ = 1;
}

bool General::check_matrix(Certificate& c) {
  const auto start = Clock::now();
  if (!analyzed_) analyze();
  c.times.analysis += seconds_since(start);
  if (found_.scan.non_finite > 0) {
    c.norm = transposed_ ? found_.norm_1 : found_.norm_inf;
    c.outcome = SolveOutcome::non_finite;
    c.row = found_.scan.bad_row;
    c.col = found_.scan.bad_col;
    return false;
  }
  c.norm = side().norm;
  return true;
}

/// With random numbers beside it, the spectral radius of D^-1 A - I is about twice the ratio.
bool General::without_factor(Batch& batch, Certificate& c) {
  if (options_.map || !even_ || is_lapack(rung_) || refiner_ != default_refiner(structure_)) {
    return false;
  }
  if (!(1 - diagonal_share_ <= kNearDiagonal * kNearDiagonal * diagonal_share_)) return false;
  std::vector<double> inverse(static_cast<std::size_t>(order()));
  for (std::int64_t i = 0; i < order(); ++i) {
    const double h = scale_.row[0] * scale_.col[0] * a_(i, i);
    if (h == 0) return false;
    inverse[static_cast<std::size_t>(i)] = 1 / h;
  }
  return refine_unpreconditioned(std::move(inverse), batch, c);
}

Solver::Made General::make_factor() {
  if (is_lapack(rung_)) {
    lapack_.emplace(pool_, a_, found_.scan.max_abs);
    zero_pivot_ = lapack_->report().pivot;
    return {lapack_->report(), Rung::fp64};
  }
  FactorOptions f;
  f.map = maps_[rung_];
  f.tile = options_.tile;
  f.theta = options_.theta;
  f.pivoting = options_.pivoting;
  f.seed = options_.seed;
  f.context = options_.context;
  f.progress = options_.progress;
  LuFactor factor = factor::lu_scaled(a_, scale_, f);
  Made made{factor.report(), factor.ok() ? factor.data().l.map().coarsest() : Rung::fp64};
  // LAPACK's word decides.
  if (made.report.outcome == FactorOutcome::singular) {
    made.report.outcome = FactorOutcome::breakdown;
  }
  if (factor.ok()) lu_ = std::move(factor);
  return made;
}

void General::drop_factor() {
  lu_.reset();
  lapack_.reset();
}

std::unique_ptr<refine::Preconditioner> General::precondition(const Side& of) {
  const bool transposed = &of == &*backward_;
  if (lapack_) return std::make_unique<LapackPreconditioner>(*lapack_, of.exponents, transposed);
  return std::make_unique<refine::FactorPreconditioner>(pool_, lu_->data(), scale_.row, scale_.col,
                                                        transposed);
}

/// The second of two factors in FP64 gets the stronger refiner.
Refiner General::refiner_for(Rung coarsest) const {
  if (rung_ > 0 && rung_ + 1 == maps_.size() && is_lapack(rung_)) return refiner_;
  return Solver::refiner_for(coarsest);
}

std::string General::flaw_of(const FactorReport& report) const {
  if (report.map == to_string(uniform(Rung::fp64))) return "";
  const double most = kMostGrowth * std::sqrt(static_cast<double>(order()));
  if (report.growth * report.unit_roundoff <= most) return "";
  char growth[32];
  std::snprintf(growth, sizeof growth, "%.1e", report.growth);
  return std::string("its elements grew by ") + growth;
}

/// In the scale of H, where the size of x says something of the matrix.
std::string General::doubt_about(const Batch& batch) {
  const bool lapack_above = lapack_rung_ > rung_ && may_climb();
  if (!lapack_above && zero_pivot_ < 0) return "";
  const std::int64_t n = order();
  const double most = kSuspect / (std::sqrt(static_cast<double>(n)) * kUnit);
  for (std::int64_t k = 0; k < batch.count; ++k) {
    const double b = refine::norm2(n, batch.b.data() + k * n);
    const double y = refine::norm2(n, batch.y.data() + k * n);
    const bool fits =
        batch.column[static_cast<std::size_t>(k)].fits(side().exponents, batch.y.data() + k * n);
    if (side().scaled_norm * y <= most * b && fits) continue;
    if (!lapack_above && !fits) continue;  // so be it
    suspect_ = true;
    if (!fits) return "x overflows, which LAPACK's may not";
    return zero_pivot_ < 0 ? "A may be singular, which LAPACK's factor tells"
                           : "A is singular to working accuracy, and exactly so for LAPACK";
  }
  return "";
}

void General::conclude(Certificate& c) const {
  if (c.outcome != SolveOutcome::not_converged || zero_pivot_ < 0) return;
  c.outcome = SolveOutcome::singular;
  c.pivot = zero_pivot_;
  c.pivot_value = 0;
}

std::size_t General::rung_above() const {
  return suspect_ && lapack_rung_ > rung_ ? lapack_rung_ : rung_ + 1;
}

}  // namespace stepwell::solvers
