// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/analysis/scaled.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numeric/exponent.hpp"
#include "core/numeric/roundoff.hpp"

namespace stepwell::solvers {
namespace {

int power_of(double power_of_two) {
  return core::exponent_of(power_of_two);
}

}  // namespace

Exponents::Exponents(const std::vector<double>& row_powers, const std::vector<double>& col_powers)
    : row(row_powers.size()), col(col_powers.size()), power_col(col_powers) {
  std::transform(row_powers.begin(), row_powers.end(), row.begin(), power_of);
  std::transform(col_powers.begin(), col_powers.end(), col.begin(), power_of);
  inverse_row.reserve(row.size());
  for (const double r : row_powers) inverse_row.push_back(1 / r);
}

int Exponents::largest() const {
  return *std::max_element(row.begin(), row.end()) + *std::max_element(col.begin(), col.end());
}

std::vector<double> Exponents::relative(const std::vector<int>& exponents) {
  const int largest = *std::max_element(exponents.begin(), exponents.end());
  std::vector<double> result(exponents.size());
  std::transform(exponents.begin(), exponents.end(), result.begin(),
                 [&](int e) { return core::times_power_of_two(1, e - largest); });
  return result;
}

ScaledColumn::ScaledColumn(const Exponents& exponents, const double* b, double* out)
    : n_(static_cast<std::int64_t>(exponents.row.size())) {
  int largest = std::numeric_limits<int>::min();
  for (std::int64_t i = 0; i < n_; ++i) {
    if (b[i] == 0 || !std::isfinite(b[i])) continue;
    largest =
        std::max(largest, core::exponent_of(b[i]) + exponents.row[static_cast<std::size_t>(i)]);
  }
  if (largest != std::numeric_limits<int>::min()) exponent_ = largest;
  for (std::int64_t i = 0; i < n_; ++i) {
    out[i] = core::times_power_of_two(b[i], exponents.row[static_cast<std::size_t>(i)] - exponent_);
  }
}

bool ScaledColumn::write(const Exponents& exponents, const double* y, double* x) const {
  bool finite = true;
  for (std::int64_t i = 0; i < n_; ++i) {
    x[i] = core::times_power_of_two(y[i], exponents.col[static_cast<std::size_t>(i)] + exponent_);
    finite = finite && std::isfinite(x[i]);
  }
  return finite;
}

bool ScaledColumn::fits(const Exponents& exponents, const double* y) const {
  for (std::int64_t i = 0; i < n_; ++i) {
    const int power = exponents.col[static_cast<std::size_t>(i)] + exponent_;
    if (!std::isfinite(core::times_power_of_two(y[i], power))) return false;
  }
  return true;
}

bool ScaledColumn::read(const Exponents& exponents, const double* x, double* y) const {
  bool same = true;
  for (std::int64_t i = 0; i < n_; ++i) {
    const double back =
        core::times_power_of_two(x[i], -(exponents.col[static_cast<std::size_t>(i)] + exponent_));
    same = same && back == y[i];
    y[i] = back;
  }
  return same;
}

Sizes sizes_of(const Exponents& e, const double* b, const double* y, const double* r,
               const double* d) {
  Sizes s;
  double poison = 0;  // NaN if an element is not finite, which std::max would ignore
  for (std::size_t i = 0; i < e.row.size(); ++i) {
    const double yi = d == nullptr ? y[i] : y[i] + d[i];
    s.b = std::max(s.b, std::abs(b[i] * e.inverse_row[i]));
    s.r = std::max(s.r, std::abs(r[i] * e.inverse_row[i]));
    s.x = std::max(s.x, std::abs(yi * e.power_col[i]));
    poison += (r[i] + yi) * 0;
  }
  s.r += poison;
  return s;
}

double backward_error(double norm, const Sizes& s) {
  if (s.r == 0) return 0;
  const double size = norm * s.x + s.b;
  if (std::isfinite(size) && norm * s.x >= std::numeric_limits<double>::min()) return s.r / size;
  // The product left FP64's range. Each quotient below omits one term of the denominator, which
  // makes it larger.
  const double by_x = s.r / norm / s.x;
  const double by_b = s.r / s.b;
  return s.b > 0 && by_b < by_x ? by_b : by_x;
}

Measured measured_error(double norm, const Sizes& s, std::int64_t n, double doubt) {
  using core::kUnit;
  if (s.x == 0 && !std::isnan(s.r)) return {s.b > 0 ? 1.0 : 0.0, 0};  // r is b
  const auto terms = static_cast<double>(n);
  Measured m{backward_error(norm, s), doubt};
  m.doubt += (m.error + m.doubt) * 2 * (terms + 8) * kUnit;
  m.doubt += terms * ((1 + norm) * 0x1p-1074) / (norm * s.x + s.b);
  return m;
}

}  // namespace stepwell::solvers
