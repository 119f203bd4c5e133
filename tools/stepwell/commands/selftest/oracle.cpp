// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "commands/selftest/selftest.hpp"
#include "core/numeric/double_double.hpp"

namespace stepwell::tool::selftest {
namespace {

using core::DoubleDouble;

/// The exponent of the power of two above the largest element, 0 if all are zero.
int power_of_largest(const double* x, std::int64_t count) {
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[i]));
  int power = 0;
  std::frexp(largest, &power);
  return power;
}

std::vector<double> shifted(std::vector<double> x, int power) {
  for (double& e : x) e = std::ldexp(e, power);
  return x;
}

/// A system that is scaled so that the largest element of each column and of b is in [1/2, 1).
struct Scaled {
  std::int64_t rows, cols;
  std::vector<double> a, b, x;

  /// one_scale: the same power of two for all columns.
  Scaled(MatrixView<const double> m, const std::vector<double>& rhs, std::vector<double> solution,
         bool one_scale)
      : rows(m.rows), cols(m.cols), a(m.rows * m.cols), x(std::move(solution)) {
    std::vector<int> power(cols);
    for (std::int64_t j = 0; j < cols; ++j) power[j] = power_of_largest(m.column(j), rows);
    if (one_scale)
      std::fill(power.begin(), power.end(), *std::max_element(power.begin(), power.end()));
    const int of_b = power_of_largest(rhs.data(), rows);
    b = shifted(rhs, -of_b);
    for (std::int64_t j = 0; j < cols; ++j) {
      for (std::int64_t i = 0; i < rows; ++i) a[i + j * rows] = std::ldexp(m(i, j), -power[j]);
      x[j] = std::ldexp(x[j], power[j] - of_b);
    }
  }

  std::vector<DoubleDouble> residual() const {
    std::vector<DoubleDouble> r(rows);
    for (std::int64_t i = 0; i < rows; ++i) r[i].hi = b[i];
    for (std::int64_t j = 0; j < cols; ++j) {
      for (std::int64_t i = 0; i < rows; ++i) {
        r[i] = core::multiply_add(r[i], -a[i + j * rows], x[j]);
      }
    }
    return r;
  }
};

double length(const std::vector<double>& x) {
  double sum = 0;
  for (const double e : x) sum += e * e;
  return std::sqrt(sum);
}

}  // namespace

double backward_error(MatrixView<const double> a, const std::vector<double>& b,
                      const std::vector<double>& x) {
  const Scaled s(a, b, x, true);
  std::vector<double> sums(s.rows);
  for (std::int64_t j = 0; j < s.cols; ++j) {
    for (std::int64_t i = 0; i < s.rows; ++i) sums[i] += std::abs(s.a[i + j * s.rows]);
  }
  double largest = 0, x_norm = 0, b_norm = 0;
  for (const DoubleDouble& r : s.residual()) {
    if (!(std::abs(r.value()) <= largest)) largest = std::abs(r.value());
    if (std::isnan(largest)) return largest;
  }
  for (const double e : s.x) x_norm = std::max(x_norm, std::abs(e));
  for (const double e : s.b) b_norm = std::max(b_norm, std::abs(e));
  const double norm = *std::max_element(sums.begin(), sums.end());
  return largest == 0 ? 0 : largest / (norm * x_norm + b_norm);
}

double least_squares_error(MatrixView<const double> a, const std::vector<double>& b,
                           const std::vector<double>& x) {
  const Scaled s(a, b, x, false);
  const std::vector<DoubleDouble> r = s.residual();
  std::vector<double> rounded, gradient;
  for (const DoubleDouble& e : r) rounded.push_back(e.value());
  for (std::int64_t j = 0; j < s.cols; ++j) {
    DoubleDouble sum;
    for (std::int64_t i = 0; i < s.rows; ++i) {
      const double element = s.a[i + j * s.rows];
      sum = core::multiply_add(sum, element, r[i].hi);
      sum = core::multiply_add(sum, element, r[i].lo);
    }
    gradient.push_back(sum.value());
  }
  const double norm = length(s.a), of_r = length(rounded);
  if (of_r == 0) return 0;
  return std::min(of_r / length(s.x), length(gradient) / of_r) / norm;
}

}  // namespace stepwell::tool::selftest
