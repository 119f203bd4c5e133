// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Gaussian process regression: from noisy values of a function at 2500 points in the unit square,
// predicts its mean and standard deviation at a few other points. The covariance is Matern 3/2. All
// systems, one for the mean and one for each deviation, have the same matrix and are solved in one
// call.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

constexpr double kLength = 0.25;
constexpr double kNoise = 0.1;  // standard deviation

struct Point {
  double x, y;
};

double truth(Point p) {
  return std::sin(5 * p.x) * std::cos(4 * p.y) + 0.5 * p.x * p.y;
}

double matern(Point p, Point q) {
  const double s = std::sqrt(3.0) * std::hypot(p.x - q.x, p.y - q.y) / kLength;
  return (1 + s) * std::exp(-s);
}

}  // namespace

int main() {
  const std::int64_t n = 2500;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> noise(0, kNoise);
  std::vector<Point> places;
  for (std::int64_t i = 0; i < n; ++i) places.push_back({unit(random), unit(random)});
  std::sort(places.begin(), places.end(), [](Point p, Point q) { return p.x < q.x; });
  const std::vector<Point> tests = {{0.1, 0.2}, {0.5, 0.5}, {0.31, 0.84}, {0.77, 0.05}, {0.9, 0.9}};

  const auto size = static_cast<std::size_t>(n);
  std::vector<double> k(size * size);  // the covariance plus the noise, lower triangle
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t i = j; i < size; ++i) {
      k[i + j * size] = matern(places[i], places[j]) + (i == j ? kNoise * kNoise : 0);
    }
  }
  // Right-hand sides: the values, then the covariances with each test point.
  const auto columns = static_cast<std::int64_t>(tests.size()) + 1;
  std::vector<double> b;
  for (const Point p : places) b.push_back(truth(p) + noise(random));
  for (const Point t : tests) {
    for (const Point p : places) b.push_back(matern(p, t));
  }
  std::vector<double> x(b.size());
  const stepwell::Certificate c =
      stepwell::solve_spd(stepwell::view(k.data(), n, n), stepwell::view(b.data(), n, columns),
                          stepwell::view(x.data(), n, columns));
  std::printf("%lld points, %lld right-hand sides: %s\n", static_cast<long long>(n),
              static_cast<long long>(columns), to_string(c.outcome));
  for (const stepwell::LadderStep& rung : c.rungs) {
    std::printf("  %s: %d iterations, error %.1e%s%s\n", map_text(rung.method).c_str(),
                rung.iterations, rung.error,
                rung.reason.empty() ? "" : "; climbed: ", rung.reason.c_str());
  }
  if (!c.ok()) {
    std::printf("%s\n", c.reason.c_str());
    return 1;
  }
  std::printf("backward error %.1e, %.3f s\n\n", c.backward_error, c.times.wall);

  std::printf("%12s %8s %8s %10s\n", "place", "mean", "truth", "deviation");
  bool good = true;
  for (std::size_t t = 0; t < tests.size(); ++t) {
    const double* const cross = b.data() + (t + 1) * size;
    const double* const weights = x.data() + (t + 1) * size;
    double mean = 0, variance = matern(tests[t], tests[t]);
    for (std::size_t i = 0; i < size; ++i) {
      mean += cross[i] * x[i];
      variance -= cross[i] * weights[i];
    }
    const double deviation = std::sqrt(variance);
    std::printf("(%.2f, %.2f) %8.3f %8.3f %10.3f\n", tests[t].x, tests[t].y, mean, truth(tests[t]),
                deviation);
    good = good && deviation < kNoise && std::fabs(mean - truth(tests[t])) <= 4 * deviation;
  }
  return good ? 0 : 1;
}
