// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// One step of 100,000 Kalman filters: each has an innovation v of 12 measurements with covariance
// S = H P H' + R, and needs S^-1 v and log det S, for its update and for its likelihood. One filter
// has an invalid covariance. Prints which one, and the worst backward error of the others.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

constexpr std::int64_t kFilters = 100'000;
constexpr std::int64_t kMeasurements = 12;
constexpr std::int64_t kStates = 6;
constexpr std::int64_t kLost = 31'415;

/// S and v of one filter. Only the lower triangle of S is written; the upper one is not read.
void observe(std::int64_t filter, double* s, double* v) {
  std::mt19937_64 random(static_cast<std::uint64_t>(filter));
  std::uniform_real_distribution<double> uniform(-1, 1);
  double h[kMeasurements][kStates];  // H times a square root of P
  for (auto& row : h) {
    for (double& e : row) e = uniform(random);
  }
  for (std::int64_t j = 0; j < kMeasurements; ++j) {
    v[j] = uniform(random);
    for (std::int64_t i = j; i < kMeasurements; ++i) {
      double sum = i == j ? 0.01 : 0;  // R
      for (std::int64_t k = 0; k < kStates; ++k) sum += h[i][k] * h[j][k];
      s[i + j * kMeasurements] = sum;
    }
  }
  if (filter == kLost) s[7 + 7 * kMeasurements] = -1;  // a negative variance
}

}  // namespace

int main() {
  std::vector<double> s(kFilters * kMeasurements * kMeasurements);
  std::vector<double> v(kFilters * kMeasurements);
  for (std::int64_t f = 0; f < kFilters; ++f) {
    observe(f, &s[static_cast<std::size_t>(f * kMeasurements * kMeasurements)],
            &v[static_cast<std::size_t>(f * kMeasurements)]);
  }
  //---- begin solve
  std::vector<std::int32_t> pivots(kFilters);
  std::vector<double> log_determinants(kFilters), errors(kFilters);
  const stepwell::BatchReport report = stepwell::batch_solve(
      stepwell::batch<const double>(s.data(), kFilters, kMeasurements, kMeasurements),
      stepwell::batch(v.data(), kFilters, kMeasurements, 1), {},
      {pivots, log_determinants, errors, {}});
  for (const std::int64_t f : report.failures) {
    std::printf("filter %lld: pivot %d is not positive, v is unchanged\n",
                static_cast<long long>(f), pivots[static_cast<std::size_t>(f)]);
  }
  std::printf("worst backward error of the others: %.1e\n", report.backward_error);
  //---- end solve

  double likelihood = 0;
  for (std::int64_t f = 0; f < kFilters; ++f) {
    if (pivots[static_cast<std::size_t>(f)] < 0) {
      likelihood -= log_determinants[static_cast<std::size_t>(f)] / 2;
    }
  }
  std::printf("sum of -log det(S) / 2: %.6g\n", likelihood);
  const bool one_failed = report.failures.size() == 1 && report.failures[0] == kLost &&
                          pivots[kLost] == 7 && std::isnan(log_determinants[kLost]);
  // A few units of roundoff for each of the twelve rows.
  const bool accurate =
      report.backward_error > 0 && report.backward_error <= 4 * kMeasurements * 0x1p-53;
  return one_failed && accurate && std::isfinite(likelihood) ? 0 : 1;
}
