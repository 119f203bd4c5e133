// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "attack/matrices/matrix.hpp"

#include <algorithm>
#include <cmath>

namespace stepwell::attack {
namespace {

constexpr double kLarge = 1e300;

double finite_or(double value, double otherwise) {
  return std::isfinite(value) ? value : otherwise;
}

/// b = A y for a y with random or equal elements.
void fill_product(const Matrix& a, bool equal, double* b, Random& random) {
  std::fill_n(b, a.rows, 0.0);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const double y = equal ? 0.5 : random.normal();
    for (std::int64_t i = 0; i < a.rows; ++i) b[i] += a(i, j) * y;
  }
  for (std::int64_t i = 0; i < a.rows; ++i) b[i] = finite_or(b[i], 1);
}

}  // namespace

void copy_to_upper(Matrix& a) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
  }
}

Matrix equal_off_diagonals(std::int64_t n, double off_diagonal, double diagonal) {
  Matrix a(n, n);
  std::fill(a.data.begin(), a.data.end(), off_diagonal);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = diagonal;
  return a;
}

double spectrum(int kind, std::int64_t k, std::int64_t n, double condition, Random& random) {
  const double t = n > 1 ? static_cast<double>(k) / static_cast<double>(n - 1) : 0;
  switch (kind) {
    case 0:
      return std::pow(condition, -t);
    case 1:
      return 1 - t * (1 - 1 / condition);
    case 2:
      return k == n - 1 ? 1 / condition : 1;
    case 3:
      return k == 0 ? 1 : 1 / condition;
    default:
      return std::pow(condition, -random.uniform());
  }
}

void reflect(Matrix& a, int count, Sides sides, Random& random) {
  std::vector<double> v(std::max(a.rows, a.cols)), product(a.rows);
  for (int c = 0; c < count; ++c) {
    for (double& e : v) e = random.normal();
    const auto two_by_square = [&](std::int64_t length) {
      double sum = 0;
      for (std::int64_t i = 0; i < length; ++i) sum += v[i] * v[i];
      return 2 / sum;
    };
    if (sides != Sides::right) {
      const double f = two_by_square(a.rows);
      for (std::int64_t j = 0; j < a.cols; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < a.rows; ++i) sum += v[i] * a(i, j);
        for (std::int64_t i = 0; i < a.rows; ++i) a(i, j) -= f * sum * v[i];
      }
    }
    if (sides == Sides::left) continue;
    const double f = two_by_square(a.cols);
    std::fill(product.begin(), product.end(), 0.0);
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = 0; i < a.rows; ++i) product[i] += a(i, j) * v[j];
    }
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = 0; i < a.rows; ++i) a(i, j) -= f * v[j] * product[i];
    }
  }
}

void scale_at_random(Named& named, bool symmetric, Random& random) {
  Matrix& a = named.a;
  if (random.chance(0.3)) {
    constexpr double kMost[] = {3, 40, 140};
    const double most = random.one_of(kMost);
    std::vector<double> row(a.rows), column(a.cols);
    for (double& e : row) e = random.power_of_ten(-most, most);
    for (double& e : column) e = random.power_of_ten(-most, most);
    if (symmetric) column = row;
    const std::int64_t which = symmetric ? 0 : random.integer(0, 2);
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = 0; i < a.rows; ++i) {
        double& x = a(i, j);
        if (which != 2) x *= row[i];
        if (which != 1) x *= column[j];
        x = finite_or(x, std::copysign(kLarge, x));
        if (std::isnan(x)) x = 0;
      }
    }
    if (symmetric) copy_to_upper(a);
    named.name += " graded by 1e" + std::to_string(static_cast<int>(most));
  }
  if (!random.chance(0.4)) return;
  struct Range {
    int low, high;
  };
  constexpr Range kPowers[] = {
      {-300, 300}, {-1070, -1020}, {950, 1023}, {-140, -140}, {-1020, -900}};
  const Range range = random.one_of(kPowers);
  const int power = static_cast<int>(random.integer(range.low, range.high));
  for (double& x : a.data) {
    x = std::ldexp(x, power);
    if (!std::isfinite(x)) x = std::copysign(1.7e308, x);
  }
  named.name += " 2^" + std::to_string(power);
}

void fill_right_side(const Matrix& a, double* b, Random& random) {
  const std::int64_t n = a.rows;
  switch (random.integer(0, 10)) {
    case 0:
      fill_product(a, true, b, random);
      break;
    case 1:
      fill_product(a, false, b, random);
      break;
    case 2:
      std::fill_n(b, n, 0.0);
      b[random.integer(0, n - 1)] = 1;
      break;
    case 3:
    case 7:  // equal elements, so that all rounding errors have the same sign
      std::fill_n(b, n, random.chance(0.8) ? 1.0 : random.chance(0.5) ? 0.1 : 0.0);
      break;
    case 4:
      for (std::int64_t i = 0; i < n; ++i) b[i] = random.sign() * random.power_of_ten(-100, 100);
      break;
    case 5: {
      const int power = static_cast<int>(random.integer(-1074, 1000));
      for (std::int64_t i = 0; i < n; ++i) b[i] = std::ldexp(random.normal(), power);
      break;
    }
    case 6: {
      double largest = 0;
      for (const double x : a.data) largest = std::max(largest, std::abs(x));
      for (std::int64_t i = 0; i < n; ++i) b[i] = largest * random.between(-0.5, 0.5);
      break;
    }
    default:
      for (std::int64_t i = 0; i < n; ++i) b[i] = random.normal();
  }
  for (std::int64_t i = 0; i < n; ++i) b[i] = finite_or(b[i], kLarge);
}

}  // namespace stepwell::attack
