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

SmallSystem::SmallSystem(MatrixView<const double> a, factor::Scale scale, std::int64_t batch,
                         Certificate& c)
    : a_(a),
      c_(c),
      n_(a.rows),
      ld_(core::round_up(n_, 8)),
      batch_(batch),
      memory_(ld_ * n_ + kVectors * n_ * batch, core::Contents::any),
      block_{memory_.data(), n_, n_, ld_},
      scale_(std::move(scale)),
      exponents_(scale_.row, scale_.col) {}

std::int64_t SmallSystem::bytes(std::int64_t n, std::int64_t batch) {
  return core::size_product(core::round_up(n, 8) + kVectors * batch, n, 8, "a small factor");
}

bool SmallSystem::all_finite(const kernels::Scan& scan) {
  if (!std::isfinite(c_.norm)) c_.norm = scan.max_abs;
  if (scan.non_finite == 0) return true;
  c_.outcome = SolveOutcome::non_finite;
  c_.row = scan.bad_row;
  c_.col = scan.bad_col;
  return false;
}

void SmallSystem::solve(MatrixView<const double> b, MatrixView<double> x,
                        ColumnCertificate* columns) {
  const MatrixView<double> rhs = vectors(0, b.cols), y = vectors(1, b.cols), r = vectors(2, b.cols);
  std::vector<ScaledColumn> scaled;
  std::vector<std::int64_t> live;  // columns that are not done
  std::vector<double> error(static_cast<std::size_t>(b.cols), 1.0);
  for (std::int64_t c = 0; c < b.cols; ++c) {
    scaled.emplace_back(exponents_, b.column(c), rhs.column(c));
    std::copy_n(rhs.column(c), n_, r.column(c));
    std::fill_n(y.column(c), n_, 0.0);
    live.push_back(c);
  }
  const auto error_of = [&](std::int64_t c, const double* of, const double* residue) {
    return backward_error(c_.norm, sizes_of(exponents_, rhs.column(c), of, residue));
  };
  for (int k = 0; k <= kCorrections && !live.empty(); ++k) {
    const auto count = static_cast<std::int64_t>(live.size());
    const MatrixView<double> better = vectors(3, count), left = vectors(4, count);
    for (std::int64_t s = 0; s < count; ++s) std::copy_n(r.column(live[s]), n_, better.column(s));
    substitute(better);
    for (std::int64_t s = 0; s < count; ++s) {
      const double* const before = y.column(live[s]);
      double* const now = better.column(s);
      for (std::int64_t i = 0; i < n_; ++i) now[i] += before[i];
    }
    residuals(live, better, left);
    std::vector<std::int64_t> still;
    for (std::int64_t s = 0; s < count; ++s) {
      const std::int64_t c = live[s];
      const double now = error_of(c, better.column(s), left.column(s));
      if (!(now < error[c]) && k > 0) continue;
      std::copy_n(better.column(s), n_, y.column(c));
      std::copy_n(left.column(s), n_, r.column(c));
      error[c] = now;
      columns[c].iterations = k;
      if (!(now <= std::min(kGoodEnough, c_.tolerance))) still.push_back(c);
    }
    live = std::move(still);
  }
  for (std::int64_t c = 0; c < b.cols; ++c) {
    const bool finite = scaled[c].write(exponents_, y.column(c), x.column(c));
    if (!scaled[c].read(exponents_, x.column(c), y.column(c))) {
      residuals({c}, view<const double>(y.column(c), n_, 1), view(r.column(c), n_, 1));
    }
    columns[c].backward_error = error_of(c, y.column(c), r.column(c));
    columns[c].outcome = !finite                                     ? SolveOutcome::overflow
                         : columns[c].backward_error <= c_.tolerance ? SolveOutcome::converged
                                                                     : SolveOutcome::not_converged;
  }
}

void SmallSystem::residuals(const std::vector<std::int64_t>& which, MatrixView<const double> y,
                            MatrixView<double> r) {
  const MatrixView<double> rhs = vectors(0, batch_), scaled = vectors(5, y.cols);
  if (n_ <= kExactUpTo) {
    for (std::int64_t s = 0; s < y.cols; ++s) {
      exact_residual(rhs.column(which[static_cast<std::size_t>(s)]), y.column(s), r.column(s));
    }
    return;
  }
  for (std::int64_t s = 0; s < y.cols; ++s) {
    for (std::int64_t i = 0; i < n_; ++i) {
      scaled(i, s) = -scale_.col[static_cast<std::size_t>(i)] * y(i, s);
    }
  }
  multiply(scaled, r);
  for (std::int64_t s = 0; s < y.cols; ++s) {
    const double* const b = rhs.column(which[static_cast<std::size_t>(s)]);
    for (std::int64_t i = 0; i < n_; ++i) {
      r(i, s) = b[i] + scale_.row[static_cast<std::size_t>(i)] * r(i, s);
    }
  }
}

/// The same for one column in double-double.
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

std::int64_t small_bytes(std::int64_t n, std::int64_t columns, Structure structure) {
  const bool spd = structure == Structure::spd;
  const std::int64_t batch = spd ? 1 : small_batch(columns);
  return SmallSystem::bytes(n, batch) + (spd && n > kernels::kLeaf ? kernels::tree_scratch(n) : 0);
}

std::int64_t small_batch(std::int64_t columns) {
  constexpr std::int64_t kMost = 64;
  return std::clamp<std::int64_t>(columns, 1, kMost);
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
  c.peak_bytes = small_bytes(n, columns, structure);
  return c;
}

void solve_small(SmallSystem& system, MatrixView<const double> b, MatrixView<double> x,
                 const SolveOptions& options, factor::Clock::time_point start, Certificate& c) {
  inspect_b(b, c);
  if (options.progress != nullptr && options.progress->cancel) c.outcome = SolveOutcome::cancelled;
  if (c.ok() && system.factor()) {
    c.times.factor = seconds_since(start);
    for (std::int64_t j = 0; j < b.cols; j += system.batch()) {
      const std::int64_t count = std::min(system.batch(), b.cols - j);
      system.solve(b.block(0, j, b.rows, count), x.block(0, j, x.rows, count),
                   c.columns.data() + j);
    }
    for (const ColumnCertificate& column : c.columns) {
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
