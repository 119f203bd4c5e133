// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Solves A x = b with a general matrix: Fredholm's integral equation, u(s) minus the integral of
// K(s, t) u(t) over t in [0, 1] equals f(s), discretized by the rectangle rule; its matrix is not
// symmetric. Then makes the matrix singular, and prints why there is no x.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

/// I - K / n with K(s, t) = exp(-s) cos(3 t), column-major.
std::vector<double> matrix(std::int64_t n) {
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j) {
    const double t = (static_cast<double>(j) + 0.5) / static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i) {
      const double s = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
      a[static_cast<std::size_t>(i + j * n)] =
          (i == j ? 1 : 0) - std::exp(-s) * std::cos(3 * t) / static_cast<double>(n);
    }
  }
  return a;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& x) {
  const std::size_t n = x.size();
  std::vector<double> y(n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) y[i] += a[i + j * n] * x[j];
  }
  return y;
}

/// Solves and prints the outcome.
stepwell::Certificate solve(const std::vector<double>& a, const std::vector<double>& b,
                            std::vector<double>& x) {
  const auto n = static_cast<std::int64_t>(b.size());
  //---- begin solve
  const stepwell::Certificate c =
      stepwell::solve(stepwell::view(a.data(), n, n), stepwell::view(b.data(), n, 1),
                      stepwell::view(x.data(), n, 1));  // detects the structure of A
  if (c.ok()) {
    std::printf("%s: solved as %s at %s, %d iterations with %s, backward error %.1e\n",
                to_string(c.outcome), to_string(c.structure), map_text(c.method).c_str(),
                c.iterations, refiner_text(c.method).c_str(), c.backward_error);
  } else {
    std::printf("%s: %s\n", to_string(c.outcome), c.reason.c_str());
  }
  //---- end solve
  return c;
}

}  // namespace

int main() {
  const std::int64_t n = 1600;
  std::vector<double> a = matrix(n);
  std::vector<double> expected;
  for (std::int64_t i = 0; i < n; ++i) expected.push_back(std::sin(static_cast<double>(i) / 100));
  const std::vector<double> b = product(a, expected);
  std::vector<double> x(b.size());

  if (!solve(a, b, x).ok()) return 1;
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::fmax(worst, std::fabs(x[i] - expected[i]));
  }
  std::printf("largest error of x: %.1e\n", worst);
  if (!(worst <= 1e-12)) return 1;  // written so that NaN is an error, too

  for (std::int64_t i = 0; i < n; ++i) a[static_cast<std::size_t>(i + 700 * n)] = 0;
  const stepwell::Certificate c = solve(a, b, x);
  return c.outcome == stepwell::SolveOutcome::singular && c.pivot == 700 ? 0 : 1;
}
