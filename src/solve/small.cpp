// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/double_double.hpp"
#include "core/fp_scope.hpp"
#include "engine/runtime.hpp"
#include "kernels/kernels.hpp"
#include "kernels/recursive.hpp"
#include "solve/spd.hpp"

/// Where nothing beats FP64: the scaled matrix is factored as one tile. What a call does beside the
/// factorization must not show at n = 50, where that takes ten microseconds.
namespace stepwell::solve {
namespace {

using factor::Clock;
using factor::seconds_since;

constexpr double kUnit = 0x1p-53;
/// Corrections, most; the first is made only where the direct solution is worse than this many
/// units, or than the tolerance.
constexpr int kCorrections = 3;
constexpr double kGoodEnough = 2 * kUnit;

class Small {
 public:
  Small(MatrixView<const double> a, Certificate& c)
      : a_(a),
        c_(c),
        n_(a.rows),
        ld_(core::round_up(n_, 8)),
        memory_(ld_ * n_ + 5 * n_, core::Contents::any),
        l_{memory_.data(), n_, n_, ld_},
        diagonal_(factor::read_diagonal(a)),
        scale_(factor::scale_factors(diagonal_, Scaling::powers_of_two)),
        exponents_(scale_) {}

  bool factor() {
    double* const sums = memory_.data() + ld_ * n_;
    std::fill_n(sums, 2 * n_, 0.0);
    kernels::LoadArgs args;
    args.a = a_;
    args.shape = kernels::Shape::lower;
    args.scales = {scale_.row.data(), scale_.col.data()};
    args.out64 = l_;
    args.row_sums = sums;
    args.col_sums = sums + n_;
    kernels::Scan scan;
    const kernels::Table& t = kernels::table();
    t.load.run(args, scan);
    for (std::int64_t i = 0; i < n_; ++i) {
      c_.norm = std::max(c_.norm, sums[i] + (sums[n_ + i] - std::abs(a_(i, i))));
    }
    if (!std::isfinite(c_.norm)) c_.norm = scan.max_abs;
    if (scan.non_finite > 0) {
      c_.outcome = SolveOutcome::non_finite;
      c_.row = scan.bad_row;
      c_.col = scan.bad_col;
      return false;
    }
    kernels::Pivot pivot;
    if (n_ <= kernels::kLeaf) {
      pivot = t.potrf_fp64.run(l_);
    } else {
      const engine::SingleThreadedBlas blas;
      const core::Buffer<std::byte> scratch(kernels::tree_scratch(n_), core::Contents::any);
      pivot = kernels::tree_potrf(t, l_, kernels::uniform_layers(Rung::fp64), scratch.data());
    }
    if (pivot.ok()) return true;
    if (diagonal_.value[static_cast<std::size_t>(pivot.index)] > 0) {
      c_.rungs.push_back(
          {"fp64", "direct", false, 0, 1, "pivot " + std::to_string(pivot.index) + " failed", 0});
    }
    c_.outcome = SolveOutcome::not_positive_definite;
    c_.pivot = pivot.index;
    c_.pivot_value = pivot.value;
    return false;
  }

  /// One right-hand side. b is read before x is written.
  SolveOutcome solve(const double* b, double* x, ColumnCertificate& column) {
    double* const rhs = memory_.data() + ld_ * n_;
    double* const y = rhs + n_;
    double* const r = y + n_;
    double* const v = r + n_;
    const ScaledColumn scaled(exponents_, b, rhs);
    std::copy_n(rhs, n_, r);
    std::fill_n(y, n_, 0.0);
    double error = 1;
    for (int k = 0; k <= kCorrections; ++k) {
      double* const better = v;
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

 private:
  void substitute(double* v) const {
    const kernels::Table& t = kernels::table();
    kernels::tile_trsv(t, l_, false, view(v, n_, 1));
    kernels::tile_trsv(t, l_, true, view(v, n_, 1));
  }

  /// r = b - H y
  void residual(const double* b, const double* y, double* r) {
    if (n_ <= kExactUpTo) return exact_residual(b, y, r);
    double* const scaled = memory_.data() + ld_ * n_ + 4 * n_;
    for (std::int64_t i = 0; i < n_; ++i) {
      scaled[i] = -scale_.col[static_cast<std::size_t>(i)] * y[i];
      r[i] = 0;
    }
    kernels::table().symmetric_product.run(a_, view<const double>(scaled, n_, 1), view(r, n_, 1));
    for (std::int64_t i = 0; i < n_; ++i) {
      r[i] = b[i] + scale_.row[static_cast<std::size_t>(i)] * r[i];
    }
  }

  /// The same in double-double.
  void exact_residual(const double* b, const double* y, double* r) const {
    for (std::int64_t i = 0; i < n_; ++i) {
      core::DoubleDouble sum;
      for (std::int64_t j = 0; j < n_; ++j) {
        const double scaled = -scale_.col[static_cast<std::size_t>(j)] * y[j];
        sum = core::multiply_add(sum, i >= j ? a_(i, j) : a_(j, i), scaled);
      }
      const double row = scale_.row[static_cast<std::size_t>(i)];
      r[i] = (core::DoubleDouble{b[i], 0} + core::DoubleDouble{row * sum.hi, row * sum.lo}).value();
    }
  }

  MatrixView<const double> a_;
  Certificate& c_;
  std::int64_t n_, ld_;
  core::Buffer<double> memory_;  ///< L, and five vectors
  MatrixView<double> l_;
  factor::Diagonal diagonal_;
  factor::Scale scale_;
  Exponents exponents_;
};

}  // namespace

std::int64_t small_bytes(std::int64_t n) {
  return core::size_product(core::round_up(n, 8) + 5, n, 8, "a small factor") +
         (n > kernels::kLeaf ? kernels::tree_scratch(n) : 0);
}

Certificate solve_small(MatrixView<const double> a, MatrixView<const double> b,
                        MatrixView<double> x, const SolveOptions& options) {
  const core::FpScope fp;
  const auto start = Clock::now();
  Certificate c;
  c.columns = blank_columns(b.cols);
  c.tolerance =
      options.tolerance > 0 ? options.tolerance : std::sqrt(static_cast<double>(a.rows)) * kUnit;
  c.map = "fp64";
  c.refiner = "direct";
  inspect_b(b, c);
  if (options.progress != nullptr && options.progress->cancel) c.outcome = SolveOutcome::cancelled;
  c.peak_bytes = small_bytes(a.rows);
  Small small(a, c);
  if (c.ok() && small.factor()) {
    c.times.factor = seconds_since(start);
    for (std::int64_t j = 0; j < b.cols; ++j) {
      ColumnCertificate& column = c.columns[static_cast<std::size_t>(j)];
      column.outcome = small.solve(b.column(j), x.column(j), column);
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
  return c;
}

}  // namespace stepwell::solve
