// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "attack/oracle/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepwell::attack {
namespace {

template <class T>
T magnitude(T x) {
  return x < 0 ? -x : x;
}

}  // namespace

SquareOracle::SquareOracle(const Matrix& a, bool transposed) : a_(a), transposed_(transposed) {
  std::vector<long double> sums(static_cast<std::size_t>(a.rows));
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) sums[transposed ? j : i] += std::abs(a(i, j));
  }
  for (const long double sum : sums) norm_ = std::max(norm_, sum);
}

template <class T>
std::vector<T> SquareOracle::residual(const double* b, const std::vector<T>& x) const {
  std::vector<T> r(b, b + a_.rows);
  for (std::int64_t j = 0; j < a_.cols; ++j) {
    const double* const column = a_.data.data() + j * a_.rows;
    if (transposed_) {
      T sum = 0;
      for (std::int64_t i = 0; i < a_.rows; ++i) sum += static_cast<T>(column[i]) * x[i];
      r[j] -= sum;
    } else {
      const T factor = x[j];
      for (std::int64_t i = 0; i < a_.rows; ++i) r[i] -= static_cast<T>(column[i]) * factor;
    }
  }
  return r;
}
template std::vector<Quad> SquareOracle::residual(const double*, const std::vector<Quad>&) const;

ColumnTruth::ColumnTruth(const SquareOracle& oracle, const double* b, const double* x)
    : oracle_(oracle), b_(b), x_(x) {
  const std::int64_t n = oracle.order();
  if (std::all_of(x, x + n, [](double e) { return std::isfinite(e); })) {
    measure<long double>(0x1p-63L);
  } else {
    error_ = std::numeric_limits<long double>::infinity();
    exact_ = true;
  }
}

/// Sums of n terms have an error of (n + 2) half units of the terms' magnitudes, which add up in
/// row i to at most ||A|| ||x|| + ||b||. Twice that, for the norms and the quotient.
template <class T>
void ColumnTruth::measure(long double unit) {
  const std::int64_t n = oracle_.order();
  const std::vector<T> r = oracle_.residual(b_, std::vector<T>(x_, x_ + n));
  T largest = 0;
  long double x_norm = 0, b_norm = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    largest = std::max(largest, magnitude(r[i]));
    x_norm = std::max<long double>(x_norm, std::abs(x_[i]));
    b_norm = std::max<long double>(b_norm, std::abs(b_[i]));
  }
  const long double size = oracle_.norm() * x_norm + b_norm;
  error_ = largest == 0 ? 0 : static_cast<long double>(largest) / size;
  doubt_ = static_cast<long double>(n + 4) * (unit + error_ * 0x1p-63L);
}

bool ColumnTruth::above(double limit) {
  if (error_ + doubt_ <= limit) return false;
  if (!exact_) {
    measure<Quad>(0x1p-112L);
    exact_ = true;
  }
  return !(error_ - doubt_ <= limit);
}

}  // namespace stepwell::attack
