// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Reads a certificate: which rungs were tried and why they were abandoned, the backward error and
// its proven bound, the condition number, and the bound on the error of x. The solution is known
// here, so the bound can be checked.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

/// The covariance exp(-(d / 8)^2) of points on a line plus a nugget, rounded to multiples of 2^-30:
/// sums of its elements times small integers are exact in FP64.
std::vector<double> matrix(std::int64_t n) {
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double d = static_cast<double>(i - j) / 8;
      const double value = std::exp(-d * d) + (i == j ? 1e-4 : 0);
      a[static_cast<std::size_t>(i + j * n)] = std::round(value * 0x1p30) * 0x1p-30;
    }
  }
  return a;
}

const char* or_dash(const std::string& text) {
  return text.empty() ? "-" : text.c_str();
}

}  // namespace

int main() {
  const std::int64_t n = 1200;
  const std::vector<double> a = matrix(n);
  std::vector<double> expected, b(static_cast<std::size_t>(n)), x(b.size());
  for (std::int64_t i = 0; i < n; ++i) expected.push_back(static_cast<double>(i * 7 % 17 - 8));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      b[static_cast<std::size_t>(i)] +=
          a[static_cast<std::size_t>(i + j * n)] * expected[static_cast<std::size_t>(j)];
    }
  }

  stepwell::SolveOptions options;
  options.map = stepwell::parse_map("bf16");  // too coarse for this matrix: it has to climb
  //---- begin ask
  options.condition = true;
  options.prove = true;
  //---- end ask
  const stepwell::Certificate c =
      stepwell::solve_spd(stepwell::view(a.data(), n, n), stepwell::view(b.data(), n, 1),
                          stepwell::view(x.data(), n, 1), options);
  std::printf("outcome                %s%s%s\n", to_string(c.outcome), c.ok() ? "" : ": ",
              c.reason.c_str());
  std::printf("\n%-8s %-8s %10s %8s %9s  %s\n", "rung", "refiner", "iterations", "error", "seconds",
              "reason");
  //---- begin rungs
  for (const stepwell::LadderStep& rung : c.rungs) {
    std::printf("%-8s %-8s %10d %8.1e %9.3f  %s\n", map_text(rung.method).c_str(),
                or_dash(refiner_text(rung.method)), rung.iterations, rung.error, rung.seconds,
                or_dash(rung.reason));
  }
  //---- end rungs
  if (!c.ok()) return 1;

  const stepwell::ColumnCertificate& column = c.columns[0];
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = std::max(difference, std::fabs(x[i] - expected[i]));
    largest = std::max(largest, std::fabs(x[i]));
  }
  const double error = difference / largest;
  std::printf("\nx was found with       %s and %s\n", map_text(c.method).c_str(),
              refiner_text(c.method).c_str());
  std::printf("backward error         %.2e (tolerance %.2e)\n", column.backward_error, c.tolerance);
  std::printf("proven backward error  %.2e\n", column.proven_backward_error);
  std::printf("condition number       %.1e (estimate)\n", c.condition);
  std::printf("forward error          at most %.1e; actual %.1e\n", column.forward_error, error);
  std::printf("seconds                analysis %.3f, factor %.3f, refine %.3f, certify %.3f\n",
              c.times.analysis, c.times.factor, c.times.refine, c.times.certify);
  std::printf("workspace              %.1f MB\n", static_cast<double>(c.peak_bytes) * 1e-6);

  const bool good = column.proven_backward_error > 0 &&
                    column.proven_backward_error <= c.tolerance && c.condition > 1e3 &&
                    error <= column.forward_error && column.forward_error < 1e-6;
  return good ? 0 : 1;
}
