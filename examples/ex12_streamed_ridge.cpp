// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Ridge regression with a matrix that is never stored: a function of time is fitted by 120 random
// cosines at 40,000 times, and a callback computes the rows when they are needed. The first column,
// all ones, stands for the mean, and is not penalised.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

constexpr std::int64_t kTimes = 40'000;
constexpr std::int64_t kCosines = 120;

double time_at(std::int64_t i) {
  return static_cast<double>(i) / static_cast<double>(kTimes);
}

double truth(double t) {
  return 20 + std::sin(12 * t) + 0.5 * std::exp(-30 * (t - 0.6) * (t - 0.6));
}

}  // namespace

int main() {
  std::mt19937_64 random(12);
  std::normal_distribution<double> normal;
  std::vector<double> frequency, phase;
  for (std::int64_t j = 0; j < kCosines; ++j) {
    frequency.push_back(15 * normal(random));
    phase.push_back(3.2 * normal(random));
  }
  std::vector<double> y;
  for (std::int64_t i = 0; i < kTimes; ++i) y.push_back(truth(time_at(i)) + 0.3 * normal(random));
  const std::int64_t n = kCosines + 1;
  const auto feature = [&](double t, std::int64_t j) {
    const auto k = static_cast<std::size_t>(j - 1);
    return j == 0 ? 1 : std::cos(frequency[k] * t + phase[k]);
  };
  std::vector<double> x(static_cast<std::size_t>(n));

  //---- begin stream
  const stepwell::TallMatrix a =
      stepwell::from_function(kTimes, n, [&](std::int64_t first, std::int64_t count, double* out) {
        for (std::int64_t i = first; i < first + count; ++i) {
          for (std::int64_t j = 0; j < n; ++j) *out++ = feature(time_at(i), j);
        }
      });
  stepwell::LeastSquaresOptions options;
  options.weights.assign(static_cast<std::size_t>(n), 1);
  options.weights[0] = 0;  // the mean
  const double lambda = 1;
  const stepwell::Certificate c = stepwell::ridge(a, stepwell::view(y.data(), kTimes, 1),
                                                  stepwell::view(x.data(), n, 1), lambda, options);
  //---- end stream
  if (!c.ok()) {
    std::printf("%s: %s\n", to_string(c.outcome), c.reason.c_str());
    return 1;
  }
  std::printf("%s: rung %s, %d iterations, %.1f MiB for a matrix of %.1f MiB\n",
              to_string(c.outcome), map_text(c.method).c_str(), c.iterations,
              static_cast<double>(c.peak_bytes) / 0x1p20,
              static_cast<double>(8 * kTimes * n) / 0x1p20);
  double worst = 0;
  for (const double t : {0.1, 0.3, 0.5, 0.6, 0.7, 0.9}) {
    double fitted = 0;
    for (std::int64_t j = 0; j < n; ++j) fitted += x[static_cast<std::size_t>(j)] * feature(t, j);
    std::printf("t = %.1f: %.3f, true %.3f\n", t, fitted, truth(t));
    worst = std::fmax(worst, std::fabs(fitted - truth(t)));
  }
  return worst <= 0.1 ? 0 : 1;  // written so that NaN is an error, too
}
