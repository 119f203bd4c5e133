// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Computes the Cholesky factor of a covariance matrix with four precision maps, and prints its
// size, its accuracy, and what the library did to compute it.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

/// exp(-|i - j| / 50) with a nugget; only the lower triangle is needed.
std::vector<double> covariance(std::int64_t n) {
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      const double value = std::exp(-static_cast<double>(i - j) / 50) + (i == j ? 0.01 : 0);
      a[static_cast<std::size_t>(i + j * n)] = value;
    }
  }
  return a;
}

/// The largest |a_ij - sum_k l_ik l_jk| over a sample of elements.
double worst_residual(const std::vector<double>& a, const std::vector<double>& l, std::int64_t n) {
  double worst = 0;
  for (std::int64_t j = 0; j < n; j += 97) {
    for (std::int64_t i = j; i < n; i += 89) {
      double sum = a[static_cast<std::size_t>(i + j * n)];
      for (std::int64_t k = 0; k <= j; ++k) {
        sum -= l[static_cast<std::size_t>(i + k * n)] * l[static_cast<std::size_t>(j + k * n)];
      }
      worst = std::fmax(worst, std::fabs(sum));
    }
  }
  return worst;
}

}  // namespace

int main() {
  const std::int64_t n = 1200;
  const std::vector<double> a = covariance(n);
  std::vector<double> l(a.size());
  for (const char* map : {"bf16", "bf16x2", "adaptive:1e-6", "fp64"}) {
    //---- begin factor
    stepwell::FactorOptions options;
    options.map = stepwell::parse_map(map);
    const stepwell::Factor factor = stepwell::cholesky(stepwell::view(a.data(), n, n), options);
    const stepwell::FactorReport& report = factor.report();
    if (!factor.ok()) {
      std::printf("%s: %s at pivot %lld\n", map, to_string(report.outcome),
                  static_cast<long long>(report.pivot));
      return 1;
    }
    //---- end factor
    factor.copy_to(stepwell::view(l.data(), n, n));
    std::printf("%-14s %6.1f MB, attempts %d, shift %g u, residual %.1e\n", map,
                static_cast<double>(report.bytes) * 1e-6, static_cast<int>(report.attempts.size()),
                report.shift, worst_residual(a, l, n));
  }
  return 0;
}
