// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/small/small.hpp"
#include "core/clock.hpp"
#include "core/numeric/worst.hpp"

#include <algorithm>
#include <cmath>

#include "core/numeric/roundoff.hpp"
#include "kernels/kernels.hpp"
#include "kernels/scan.hpp"
#include "solvers/ladder/cost.hpp"
#include "solvers/small/small_system.hpp"
#include "solvers/systems/square_solver.hpp"

namespace stepwell::solvers {
namespace {

using core::kUnit;
using core::seconds_since;

/// Maximum number of corrections. The first is made only if the error of the direct solution is
/// above two unit roundoffs (one if the residual is computed in double-double) or above the
/// tolerance.
constexpr int kCorrections = 3;

/// An odd number of cache lines: neighbouring columns do not share sets of L1.
std::int64_t leading_dimension(std::int64_t n) {
  return core::round_up(n, 8) | 8;
}

double good_enough(refine::Sums sums) {
  return sums == refine::Sums::double_double ? kUnit : 2 * kUnit;
}

}  // namespace

SmallSystem::SmallSystem(MatrixView<const double> a, factor::Scale scale, std::int64_t batch,
                         Certificate& c)
    : a_(a),
      c_(c),
      n_(a.rows),
      ld_(leading_dimension(n_)),
      batch_(batch),
      memory_(ld_ * n_ + kVectors * n_ * batch, core::Contents::any),
      block_{memory_.data(), n_, n_, ld_},
      scale_(std::move(scale)),
      exponents_(scale_.row, scale_.col) {}

std::int64_t SmallSystem::bytes(std::int64_t n, std::int64_t batch) {
  return core::size_product(leading_dimension(n) + kVectors * batch, n, 8, "a small factor");
}

bool SmallSystem::all_finite(const kernels::Scan& scan) {
  if (!std::isfinite(c_.norm)) c_.norm = scan.max_abs;
  if (scan.non_finite == 0) return true;
  c_.outcome = SolveOutcome::non_finite;
  c_.row = scan.bad_row;
  c_.col = scan.bad_col;
  return false;
}

void SmallSystem::load(kernels::Shape shape, double* row_sums, double* col_sums,
                       kernels::Scan& scan) {
  checksums_ = refine::Checksums(n_);
  for (std::int64_t c = 0; c < n_; c += refine::Checksums::kColumns) {
    const std::int64_t width = std::min(refine::Checksums::kColumns, n_ - c);
    const std::int64_t top = shape == kernels::Shape::lower ? c : 0;
    kernels::LoadArgs args;
    args.a = a_.block(top, c, n_ - top, width);
    args.shape = shape;
    args.scales = {scale_.row.data() + top, scale_.col.data() + c};
    args.out64 = block_.block(top, c, n_ - top, width);
    if (row_sums != nullptr) args.row_sums = row_sums + top;
    if (col_sums != nullptr) args.col_sums = col_sums + c;
    kernels::Scan found;
    kernels::table().load.run(args, found);
    kernels::combine(scan, found, top, c);
    checksums_.add(c, found.checksum);
  }
}

void SmallSystem::solve(MatrixView<const double> b, MatrixView<double> x,
                        ColumnCertificate* columns) {
  if (!scaled_) {
    scaled_.emplace(product(), scale_.row, scale_.col);
    scaled_->expect(checksums_);
  }
  Batch batch{vectors(0, b.cols), vectors(1, b.cols), vectors(2, b.cols), {}, columns};
  batch.measured.resize(static_cast<std::size_t>(b.cols));
  std::vector<ScaledColumn> scaled;
  std::vector<std::int64_t> all;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    scaled.emplace_back(exponents_, b.column(c), batch.b.column(c));
    std::copy_n(batch.b.column(c), n_, batch.r.column(c));
    std::fill_n(batch.y.column(c), n_, 0.0);
    all.push_back(c);
  }
  correct(batch, std::move(all), residuals_for(*scaled_, c_.tolerance), true);
  settle(batch);
  std::vector<bool> finite;
  std::vector<std::int64_t> rounded;  // columns that were rounded to FP64's range in x
  for (std::int64_t c = 0; c < b.cols; ++c) {
    finite.push_back(scaled[c].write(exponents_, batch.y.column(c), x.column(c)));
    if (!scaled[c].read(exponents_, x.column(c), batch.y.column(c))) rounded.push_back(c);
  }
  measure_exactly(batch, rounded);
  for (std::int64_t c = 0; c < b.cols; ++c) {
    columns[c].backward_error = batch.measured[c].error;
    columns[c].outcome = outcome_of(finite[c], batch.measured[c], c_.tolerance);
  }
}

void SmallSystem::correct(Batch& batch, std::vector<std::int64_t> live, refine::Sums sums,
                          bool first) {
  for (int k = 0; k <= kCorrections && !live.empty(); ++k) {
    const auto count = static_cast<std::int64_t>(live.size());
    const MatrixView<double> better = vectors(3, count), left = vectors(4, count);
    for (std::int64_t s = 0; s < count; ++s) {
      std::copy_n(batch.r.column(live[s]), n_, better.column(s));
    }
    substitute(better);
    for (std::int64_t s = 0; s < count; ++s) {
      const double* const before = batch.y.column(live[s]);
      double* const now = better.column(s);
      for (std::int64_t i = 0; i < n_; ++i) now[i] += before[i];
    }
    residuals(batch, live, better, left, sums);
    std::vector<std::int64_t> still;
    for (std::int64_t s = 0; s < count; ++s) {
      const std::int64_t c = live[s];
      const Measured now = measure(batch, c, better.column(s), left.column(s), sums);
      const bool only = first && k == 0;
      if (!only && !(now.error < batch.measured[c].error)) continue;
      std::copy_n(better.column(s), n_, batch.y.column(c));
      std::copy_n(left.column(s), n_, batch.r.column(c));
      batch.measured[c] = now;
      if (!only) ++batch.columns[c].iterations;
      if (!(now.error <= std::min(good_enough(sums), c_.tolerance))) still.push_back(c);
    }
    live = std::move(still);
  }
}

void SmallSystem::settle(Batch& batch) {
  const auto columns_that_are = [&](Verdict verdict) {
    std::vector<std::int64_t> which;
    for (std::int64_t c = 0; c < batch.b.cols; ++c) {
      if (judge(batch.measured[c], c_.tolerance) == verdict) which.push_back(c);
    }
    return which;
  };
  const std::vector<std::int64_t> open = columns_that_are(Verdict::open);
  if (open.empty() || residuals_for(*scaled_, c_.tolerance) == refine::Sums::double_double) return;
  measure_exactly(batch, open);
  std::vector<std::int64_t> missed;
  for (const std::int64_t c : open) {
    if (judge(batch.measured[c], c_.tolerance) != Verdict::met) missed.push_back(c);
  }
  correct(batch, std::move(missed), refine::Sums::double_double, false);
}

void SmallSystem::residuals(const Batch& batch, const std::vector<std::int64_t>& which,
                            MatrixView<const double> x, MatrixView<double> r, refine::Sums sums) {
  const MatrixView<double> b = vectors(5, x.cols);
  for (std::int64_t s = 0; s < x.cols; ++s) {
    std::copy_n(batch.b.column(which[static_cast<std::size_t>(s)]), n_, b.column(s));
  }
  scaled_->residual(b, x, r, sums);
}

Measured SmallSystem::measure(const Batch& batch, std::int64_t c, const double* y, const double* r,
                              refine::Sums sums) const {
  return measured_error(c_.norm, sizes_of(exponents_, batch.b.column(c), y, r), n_,
                        scaled_->residual_error_bound(sums));
}

void SmallSystem::measure_exactly(Batch& batch, const std::vector<std::int64_t>& which) {
  const auto count = static_cast<std::int64_t>(which.size());
  if (count == 0) return;
  const MatrixView<double> y = vectors(3, count), r = vectors(4, count);
  for (std::int64_t s = 0; s < count; ++s) std::copy_n(batch.y.column(which[s]), n_, y.column(s));
  residuals(batch, which, y, r, refine::Sums::double_double);
  for (std::int64_t s = 0; s < count; ++s) {
    std::copy_n(r.column(s), n_, batch.r.column(which[s]));
    batch.measured[which[s]] =
        measure(batch, which[s], y.column(s), r.column(s), refine::Sums::double_double);
  }
}

void SmallSystem::check_unchanged() {
  const std::int64_t column = scaled_ ? scaled_->take_changed_column() : -1;
  if (column < 0) return;
  c_.outcome = SolveOutcome::changed;
  c_.row = c_.structure == Structure::spd ? column : 0;
  c_.col = column;
}

bool is_plain(const SolveOptions& o, Structure structure) {
  return !o.map && !o.condition && !o.prove && !o.check_symmetry && o.refine.iterations == 0 &&
         o.refine.working == Format::fp64 && !o.refine.exact_residual &&
         o.refine.refiner.value_or(default_refiner(structure)) == default_refiner(structure);
}

bool is_small(std::int64_t n, const SolveOptions& options, Structure structure) {
  return n > 0 && n < direct_below(structure) && is_plain(options, structure);
}

std::int64_t small_bytes(std::int64_t n, std::int64_t columns, Structure structure) {
  return SmallSystem::bytes(n, structure == Structure::spd ? 1 : small_batch(columns));
}

std::int64_t small_batch(std::int64_t columns) {
  constexpr std::int64_t kMost = 64;
  return std::clamp<std::int64_t>(columns, 1, kMost);
}

Certificate blank_certificate(std::int64_t n, std::int64_t columns, Structure structure,
                              const SolveOptions& options) {
  Certificate c;
  c.structure = structure;
  c.columns = blank_columns(columns);
  c.tolerance =
      options.tolerance > 0 ? options.tolerance : std::sqrt(static_cast<double>(n)) * kUnit;
  c.method = {structure == Structure::spd ? Factorization::cholesky : Factorization::lu,
              uniform(Rung::fp64), Refiner::direct};
  c.peak_bytes = small_bytes(n, columns, structure);
  c.threads_reason = kSmallSystem;
  return c;
}

void solve_small(SmallSystem& system, MatrixView<const double> b, MatrixView<double> x,
                 const SolveOptions& options, core::Clock::time_point start, Certificate& c) {
  const RightHandSums sums(b);
  scan_b(b, c);
  if (options.engine.progress != nullptr && options.engine.progress->cancel)
    c.outcome = SolveOutcome::cancelled;
  if (c.ok() && system.factor()) {
    c.times.factor = seconds_since(start);
    for (std::int64_t j = 0; j < b.cols; j += system.batch()) {
      const std::int64_t count = std::min(system.batch(), b.cols - j);
      system.solve(b.block(0, j, b.rows, count), x.block(0, j, x.rows, count),
                   c.columns.data() + j);
    }
    system.check_unchanged();
    sums.check(b, x, c);
    if (c.outcome == SolveOutcome::changed) {
      for (ColumnCertificate& column : c.columns) column.outcome = c.outcome;
    }
    for (const ColumnCertificate& column : c.columns) {
      if (column.outcome != SolveOutcome::converged && c.ok()) c.outcome = column.outcome;
      c.backward_error = core::worst(c.backward_error, column.backward_error);
      c.iterations = std::max(c.iterations, column.iterations);
    }
    c.rungs.push_back({c.method, true, c.iterations, c.backward_error, "", 0});
    if (!c.ok()) c.rungs.back().reason = "corrections stagnated";
  } else {
    for (ColumnCertificate& column : c.columns) column.outcome = c.outcome;
  }
  c.times.wall = seconds_since(start);
  if (!c.ok()) explain(c);
}

}  // namespace stepwell::solvers
