// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/certify/verified_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numeric/exponent.hpp"
#include "core/numeric/roundoff.hpp"
#include "core/numeric/worst.hpp"
#include "engine/runtime.hpp"
#include "kernels/blas/lapack.hpp"

namespace stepwell::solvers {
namespace {

using core::kUnit;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Number of columns that are multiplied at a time.
constexpr std::int64_t kColumns = 64;

/// Below this rho, X is improved only if the bounds on the norm are not tight.
constexpr double kFine = 0x1p-7;

/// The norm is tight if its upper bound is at most this multiple of its lower bound.
constexpr double kTight = 3;

/// The relative error of a sum of n products, with room for the errors of the sums around it.
double gamma(std::int64_t n) {
  return static_cast<double>(n + 4) * kUnit;
}

void set_identity(MatrixView<double> a) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    std::fill_n(a.column(j), a.rows, 0.0);
    a(j, j) = 1;
  }
}

/// An upper bound on ||A||_inf, including the rounding errors of its sums.
double norm_of(MatrixView<const double> a) {
  std::vector<double> sums(static_cast<std::size_t>(a.rows));
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      sums[static_cast<std::size_t>(i)] += std::abs(a(i, j));
  }
  return *std::max_element(sums.begin(), sums.end()) * (1 + gamma(a.cols));
}

/// Bounds what an element of a residual may lose by underflow: H x is computed as diag(row) (A
/// (diag(col) x)).
double underflow(const Exponents& exponents, double h_norm) {
  const int least_col = *std::min_element(exponents.col.begin(), exponents.col.end());
  const int largest_row = *std::max_element(exponents.row.begin(), exponents.row.end());
  const auto terms = static_cast<double>(exponents.row.size() + 1);
  return std::ldexp(h_norm, -1074 - least_col) + std::ldexp(terms, -1074 + largest_row);
}

/// Calls f(first, count) for blocks of columns.
template <class F>
void by_columns(std::int64_t n, F f) {
  for (std::int64_t j = 0; j < n; j += kColumns) f(j, std::min(kColumns, n - j));
}

}  // namespace

VerifiedInverse::VerifiedInverse(refine::ScaledOperator& h, const Exponents& exponents)
    : n_(h.order()),
      exponents_(exponents),
      memory_(n_ * n_),
      rho_(std::numeric_limits<double>::infinity()),
      doubt_(h.residual_error_bound(refine::Sums::double_double)),
      norm_{kUnknown, false} {
  const core::Buffer<double> matrix(n_ * n_), factor(n_ * n_), residual(n_ * n_);
  const MatrixView<double> a = view(matrix.data(), n_, n_), lu = view(factor.data(), n_, n_),
                           e = view(residual.data(), n_, n_);
  const auto columns = [&](MatrixView<double> of, std::int64_t first, std::int64_t count) {
    return of.block(0, first, n_, count);
  };
  set_identity(e);
  by_columns(n_, [&](std::int64_t first, std::int64_t count) {
    h.apply(columns(e, first, count), columns(a, first, count), refine::Sums::fp64,
            refine::Reads::fp64);
  });
  h_norm_ = norm_of(a);
  lost_ = underflow(exponents, h_norm_);
  std::copy(matrix.begin(), matrix.end(), factor.begin());
  const engine::SingleThreadedBlas blas;
  std::vector<int> pivots(static_cast<std::size_t>(n_));
  if (kernels::getrf(lu, pivots.data()) >= 0) return;
  set_identity(x());
  kernels::getrs(lu, pivots.data(), false, x());
  kernels::subtract_product(a, x(), e);
  find_sums();
  rho_ = residual_norm(a, e, gamma(n_));
  if (rho_ < kFine) find_norm(h);
  if (!norm_.tight) {
    const auto exact_residual = [&] {
      const core::Buffer<double> memory(n_ * n_);
      const MatrixView<double> identity = view(memory.data(), n_, n_);
      set_identity(identity);
      by_columns(n_, [&](std::int64_t first, std::int64_t count) {
        h.residual(columns(identity, first, count), columns(x(), first, count),
                   columns(e, first, count), refine::Sums::double_double);
      });
    };
    exact_residual();
    kernels::getrs(lu, pivots.data(), false, e);
    for (std::int64_t k = 0; k < n_ * n_; ++k) memory_[k] += residual[k];
    exact_residual();
    find_sums();
    rho_ = residual_norm(a, e, doubt_);
    find_norm(h);
  }
}

void VerifiedInverse::find_sums() {
  sums_.assign(static_cast<std::size_t>(n_), 0.0);
  for (std::int64_t j = 0; j < n_; ++j) {
    for (std::int64_t i = 0; i < n_; ++i) sums_[static_cast<std::size_t>(i)] += std::abs(x()(i, j));
  }
}

double VerifiedInverse::residual_norm(MatrixView<const double> h, MatrixView<const double> e,
                                      double error) const {
  std::vector<double> sizes(static_cast<std::size_t>(n_)), terms(sizes);
  for (std::int64_t j = 0; j < n_; ++j) {
    for (std::int64_t i = 0; i < n_; ++i) {
      const auto s = static_cast<std::size_t>(i);
      sizes[s] += std::abs(e(i, j));
      terms[s] += std::abs(h(i, j)) * sums_[static_cast<std::size_t>(j)];
    }
  }
  const double lost = static_cast<double>(n_) * lost_;
  double largest = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double row = (sizes[i] + error * (terms[i] + 1) + lost) * (1 + 4 * gamma(n_));
    largest = core::worst(largest, row);
  }
  return largest;
}

/// The largest row sum of |A^-1| = diag(col) |H^-1| diag(row), with both scales divided by their
/// largest elements.
void VerifiedInverse::find_norm(refine::Operator& h) {
  const std::vector<double> before = exponents_.relative_rows(), after = exponents_.relative_cols();
  std::vector<double> rows(sums_.size());
  for (std::int64_t j = 0; j < n_; ++j) {
    const double weight = before[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i < n_; ++i) {
      rows[static_cast<std::size_t>(i)] += std::abs(x()(i, j)) * weight;
    }
  }
  double low = 0, high = 0, size = 0;
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double doubt = rho_ < 1 ? rho_ / (1 - rho_) * sums_[i] : HUGE_VAL;
    low = std::max(low, after[i] * (rows[i] * (1 - gamma(n_)) - doubt));
    high = std::max(high, after[i] * (rows[i] * (1 + gamma(n_)) + doubt));
    if (after[i] * rows[i] > size) {
      size = after[i] * rows[i];
      largest = static_cast<std::int64_t>(i);
    }
  }
  const bool tight = std::isfinite(high) && low > 0 && high <= kTight * low;
  norm_ = {tight ? low : from_below(h, largest), tight};
}

/// A lower bound from a vector x that A makes small: A x = s - r with |s_i| = 1, so that ||A^-1||
/// is at least ||x|| / ||s - r||. s has the signs of a row of X.
double VerifiedInverse::from_below(refine::Operator& h, std::int64_t row) const {
  const std::vector<double> before = exponents_.relative_rows(), after = exponents_.relative_cols();
  const core::Buffer<double> s(n_), y(n_), r(n_);
  for (std::int64_t j = 0; j < n_; ++j) {
    s[j] = std::copysign(before[static_cast<std::size_t>(j)], x()(row, j));
    for (std::int64_t i = 0; i < n_; ++i) y[i] += x()(i, j) * s[j];
  }
  const auto column = [&](const core::Buffer<double>& v) { return view(v.data(), n_, 1); };
  h.residual(column(s), column(y), column(r), refine::Sums::double_double);
  double of_x = 0, of_y = 0, of_r = 0;
  for (std::int64_t i = 0; i < n_; ++i) {
    const auto k = static_cast<std::size_t>(i);
    of_x = std::max(of_x, after[k] * std::abs(y[i]));
    of_y = std::max(of_y, std::abs(y[i]));
    of_r = core::worst(of_r, std::abs(r[i]) / before[k]);
  }
  double hidden = 0;
  for (std::int64_t i = 0; i < n_; ++i) {
    const double of_residual = doubt_ * (h_norm_ * of_y + 1) + lost_;
    hidden = std::max(hidden, of_residual / before[static_cast<std::size_t>(i)]);
  }
  const double bound = of_x * (1 - 4 * kUnit) / (1 + of_r * (1 + 4 * kUnit) + hidden);
  return bound > 0 && std::isfinite(bound) ? bound : kUnknown;
}

/// |H^-1 r| <= |X||r| + rho / (1 - rho) max |r| |X| 1, where |r| includes its rounding errors.
double VerifiedInverse::forward_error(const double* b, const double* y, const double* r) const {
  if (!(rho_ < 1)) return kUnknown;
  double of_b = 0, of_y = 0, of_r = 0;
  for (std::int64_t i = 0; i < n_; ++i) {
    of_b = std::max(of_b, std::abs(b[i]));
    of_y = std::max(of_y, std::abs(y[i]));
  }
  const double hidden = doubt_ * (h_norm_ * of_y + of_b) + lost_;
  std::vector<double> error(sums_.size());
  for (std::int64_t j = 0; j < n_; ++j) {
    const double size = std::abs(r[j]) * (1 + 4 * kUnit) + hidden;
    of_r = core::worst(of_r, size);
    for (std::int64_t i = 0; i < n_; ++i) {
      error[static_cast<std::size_t>(i)] += std::abs(x()(i, j)) * size;
    }
  }
  const std::vector<double> after = exponents_.relative_cols();
  double of_x = 0, of_error = 0;
  for (std::int64_t i = 0; i < n_; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double e = after[k] * (error[k] + rho_ / (1 - rho_) * of_r * sums_[k]);
    of_error = core::worst(of_error, e);
    of_x = std::max(of_x, after[k] * std::abs(y[i]));
  }
  if (of_error == 0 && of_b == 0) return kUnit;  // x = 0 is exact; 0 would mean 'not requested'
  const double bound = of_error / of_x * (1 + 4 * gamma(n_));
  return bound < 1 ? std::max(bound, std::numeric_limits<double>::min()) : kUnknown;
}

}  // namespace stepwell::solvers
