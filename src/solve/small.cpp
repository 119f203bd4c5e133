// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solve/small.hpp"

#include <algorithm>
#include <cmath>

#include "core/double_double.hpp"
#include "kernels/recursive.hpp"
#include "solve/cost.hpp"
#include "solve/small_system.hpp"
#include "solve/solver.hpp"

namespace stepwell::driver {
namespace {

using factor::seconds_since;

constexpr double kUnit = 0x1p-53;
/// Corrections, most; the first is made only where the direct solution is worse than this many
/// units, or than the tolerance.
constexpr int kCorrections = 3;
constexpr double kGoodEnough = 2 * kUnit;

}  // namespace

SmallSystem::SmallSystem(MatrixView<const double> a, factor::Scale scale, Certificate& c)
    : a_(a),
      c_(c),
      n_(a.rows),
      ld_(core::round_up(n_, 8)),
      memory_(ld_ * n_ + 5 * n_, core::Contents::any),
      block_{memory_.data(), n_, n_, ld_},
      scale_(std::move(scale)),
      exponents_(scale_.row, scale_.col) {}

std::int64_t SmallSystem::bytes(std::int64_t n) {
  return core::size_product(core::round_up(n, 8) + 5, n, 8, "a small factor");
}

bool SmallSystem::all_finite(const kernels::Scan& scan) {
  if (!std::isfinite(c_.norm)) c_.norm = scan.max_abs;
  if (scan.non_finite == 0) return true;
  c_.outcome = SolveOutcome::non_finite;
  c_.row = scan.bad_row;
  c_.col = scan.bad_col;
  return false;
}

SolveOutcome SmallSystem::solve(const double* b, double* x, ColumnCertificate& column) {
  double* const rhs = vector(0);
  double* const y = vector(1);
  double* const r = vector(2);
  double* const better = vector(3);
  const ScaledColumn scaled(exponents_, b, rhs);
  std::copy_n(rhs, n_, r);
  std::fill_n(y, n_, 0.0);
  double error = 1;
  for (int k = 0; k <= kCorrections; ++k) {
    std::copy_n(r, n_, better);
    substitute(better);
    for (std::int64_t i = 0; i < n_; ++i) better[i] += y[i];
    residual(rhs, better, r);
    const double now = backward_error(c_.norm, sizes_of(exponents_, rhs, better, r));
    if (!(now < error) && k > 0) {
      residual(rhs, y, r);
      break;
    }
    std::copy_n(better, n_, y);
    error = now;
    column.iterations = k;
    if (error <= std::min(kGoodEnough, c_.tolerance)) break;
  }
  const bool finite = scaled.write(exponents_, y, x);
  if (!scaled.read(exponents_, x, y)) residual(rhs, y, r);
  column.backward_error = backward_error(c_.norm, sizes_of(exponents_, rhs, y, r));
  if (!finite) return SolveOutcome::overflow;
  return column.backward_error <= c_.tolerance ? SolveOutcome::converged
                                               : SolveOutcome::not_converged;
}

/// r = b - H y
void SmallSystem::residual(const double* b, const double* y, double* r) const {
  if (n_ <= kExactUpTo) return exact_residual(b, y, r);
  double* const scaled = vector(4);
  for (std::int64_t i = 0; i < n_; ++i) {
    scaled[i] = -scale_.col[static_cast<std::size_t>(i)] * y[i];
    r[i] = 0;
  }
  multiply(scaled, r);
  for (std::int64_t i = 0; i < n_; ++i) {
    r[i] = b[i] + scale_.row[static_cast<std::size_t>(i)] * r[i];
  }
}

/// The same in double-double.
void SmallSystem::exact_residual(const double* b, const double* y, double* r) const {
  for (std::int64_t i = 0; i < n_; ++i) {
    core::DoubleDouble sum;
    for (std::int64_t j = 0; j < n_; ++j) {
      const double scaled = -scale_.col[static_cast<std::size_t>(j)] * y[j];
      sum = core::multiply_add(sum, element(i, j), scaled);
    }
    const double row = scale_.row[static_cast<std::size_t>(i)];
    r[i] = (core::DoubleDouble{b[i], 0} + core::DoubleDouble{row * sum.hi, row * sum.lo}).value();
  }
}

bool is_plain(const SolveOptions& o, Structure structure) {
  return !o.map && !o.condition && !o.prove && !o.check_symmetry && o.iterations == 0 &&
         o.working == Format::fp64 && !o.exact_residual &&
         o.refiner.value_or(default_refiner(structure)) == default_refiner(structure);
}

bool is_small(std::int64_t n, const SolveOptions& options, Structure structure) {
  return n > 0 && n < direct_below(structure) && is_plain(options, structure);
}

std::int64_t small_bytes(std::int64_t n, Structure structure) {
  const bool tree = structure == Structure::spd && n > kernels::kLeaf;
  return SmallSystem::bytes(n) + (tree ? kernels::tree_scratch(n) : 0);
}

Certificate blank_certificate(std::int64_t n, std::int64_t columns, Structure structure,
                              const SolveOptions& options) {
  Certificate c;
  c.structure = name_of(structure);
  c.columns = blank_columns(columns);
  c.tolerance =
      options.tolerance > 0 ? options.tolerance : std::sqrt(static_cast<double>(n)) * kUnit;
  c.map = "fp64";
  c.refiner = "direct";
  c.peak_bytes = small_bytes(n, structure);
  return c;
}

void solve_small(SmallSystem& system, MatrixView<const double> b, MatrixView<double> x,
                 const SolveOptions& options, factor::Clock::time_point start, Certificate& c) {
  inspect_b(b, c);
  if (options.progress != nullptr && options.progress->cancel) c.outcome = SolveOutcome::cancelled;
  if (c.ok() && system.factor()) {
    c.times.factor = seconds_since(start);
    for (std::int64_t j = 0; j < b.cols; ++j) {
      ColumnCertificate& column = c.columns[static_cast<std::size_t>(j)];
      column.outcome = system.solve(b.column(j), x.column(j), column);
      if (column.outcome != SolveOutcome::converged && c.ok()) c.outcome = column.outcome;
      if (!(column.backward_error <= c.backward_error)) c.backward_error = column.backward_error;
      c.iterations = std::max(c.iterations, column.iterations);
    }
    c.rungs.push_back({"fp64", "direct", true, c.iterations, c.backward_error, "", 0});
    if (!c.ok()) c.rungs.back().reason = "no correction gained more";
  } else {
    for (ColumnCertificate& column : c.columns) column.outcome = c.outcome;
  }
  c.times.wall = seconds_since(start);
  if (!c.ok()) explain(c);
}

}  // namespace stepwell::driver
