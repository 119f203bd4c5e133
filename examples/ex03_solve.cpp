// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Solves A x = b and checks the certificate before it uses x; then does the same with a matrix that
// is not positive definite, and prints why there is no x.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

/// a_ij = 1 / (1 + |i - j|), column-major. Only the lower triangle is filled and read.
std::vector<double> matrix(std::int64_t n) {
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      a[static_cast<std::size_t>(i + j * n)] = 1 / static_cast<double>(1 + i - j);
    }
  }
  return a;
}

/// A x, from the lower triangle.
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& x) {
  const std::size_t n = x.size();
  std::vector<double> y(n);
  for (std::size_t j = 0; j < n; ++j) {
    y[j] += a[j + j * n] * x[j];
    for (std::size_t i = j + 1; i < n; ++i) {
      y[i] += a[i + j * n] * x[j];
      y[j] += a[i + j * n] * x[i];
    }
  }
  return y;
}

/// Solves and prints the outcome.
stepwell::Certificate solve(const std::vector<double>& a, const std::vector<double>& b,
                            std::vector<double>& x) {
  const auto n = static_cast<std::int64_t>(b.size());
  //---- begin solve
  const stepwell::Certificate c =
      stepwell::solve_spd(stepwell::view(a.data(), n, n), stepwell::view(b.data(), n, 1),
                          stepwell::view(x.data(), n, 1));
  if (c.ok()) {
    std::printf("%s: %s with %s, %d iterations, backward error %.1e (tolerance %.1e)\n",
                to_string(c.outcome), map_text(c.method).c_str(), refiner_text(c.method).c_str(),
                c.iterations, c.backward_error, c.tolerance);
  } else {
    std::printf("%s: %s\n", to_string(c.outcome), c.reason.c_str());
  }
  //---- end solve
  return c;
}

}  // namespace

int main() {
  const std::int64_t n = 1500;
  std::vector<double> a = matrix(n);
  std::vector<double> expected;
  for (std::int64_t i = 0; i < n; ++i) expected.push_back(std::sin(static_cast<double>(i) / 10));
  const std::vector<double> b = product(a, expected);
  std::vector<double> x(b.size());

  if (!solve(a, b, x).ok()) return 1;
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::fmax(worst, std::fabs(x[i] - expected[i]));
  }
  std::printf("largest error of x: %.1e\n", worst);
  if (!(worst <= 1e-12)) return 1;  // written so that NaN is an error, too

  a[static_cast<std::size_t>(700 + 700 * n)] = -1;
  const stepwell::Certificate c = solve(a, b, x);
  return c.outcome == stepwell::SolveOutcome::not_positive_definite && c.pivot == 700 ? 0 : 1;
}
