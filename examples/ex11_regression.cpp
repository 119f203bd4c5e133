// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Linear regression with an intercept: 60,000 observations of 24 variables, stored by rows in the
// order of observation. Prints some coefficients and the standard deviation of the noise. Then adds
// a variable that is the sum of two others, and prints which column depends on the others.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

constexpr std::int64_t kVariables = 24;
constexpr double kNoise = 0.5;

double truth(std::int64_t j) {
  return j == 0 ? 3 : std::cos(static_cast<double>(j));  // 0: the intercept
}

/// Observations one after the other; each has a one for the intercept, then the variables.
struct Data {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> x, y;
};

Data observe(std::int64_t rows, bool sum_of_two) {
  Data d{rows, kVariables + 1 + (sum_of_two ? 1 : 0), {}, {}};
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<double> row = {1};
    for (std::int64_t j = 1; j <= kVariables; ++j) row.push_back(10 + normal(random));
    double y = kNoise * normal(random);
    for (std::int64_t j = 0; j <= kVariables; ++j) y += truth(j) * row[static_cast<std::size_t>(j)];
    if (sum_of_two) row.push_back(row[3] + row[8]);
    d.x.insert(d.x.end(), row.begin(), row.end());
    d.y.push_back(y);
  }
  return d;
}

}  // namespace

int main() {
  const Data d = observe(60'000, false);
  std::vector<double> beta(static_cast<std::size_t>(d.cols));
  //---- begin regress
  const stepwell::Certificate c = stepwell::lstsq(stepwell::by_rows(d.x.data(), d.rows, d.cols),
                                                  stepwell::view(d.y.data(), d.rows, 1),
                                                  stepwell::view(beta.data(), d.cols, 1));
  if (!c.ok()) {
    std::printf("%s: %s\n", to_string(c.outcome), c.reason.c_str());
    return 1;
  }
  const double freedom = static_cast<double>(d.rows - d.cols);
  const double deviation = c.columns[0].residual_norm / std::sqrt(freedom);
  std::printf("%s: rung %s, %d iterations, backward error %.1e by the %s\n", to_string(c.outcome),
              map_text(c.method).c_str(), c.iterations, c.backward_error,
              to_string(c.columns[0].measure));
  std::printf("standard deviation of the noise: %.3f\n", deviation);
  //---- end regress
  bool good = std::fabs(deviation - kNoise) <= 0.01;
  // The standard error of the coefficient of a variable with variance 1. That of the intercept,
  // which is not checked, is larger, because the variables have a mean of 10.
  const double error = kNoise / std::sqrt(static_cast<double>(d.rows));
  for (std::int64_t j = 1; j < d.cols; ++j) {
    const double off = std::fabs(beta[static_cast<std::size_t>(j)] - truth(j));
    if (j <= 3) {
      std::printf("beta[%d] %.4f, true %.4f\n", static_cast<int>(j),
                  beta[static_cast<std::size_t>(j)], truth(j));
    }
    good = good && off <= 6 * error;
  }

  const Data e = observe(1000, true);
  std::vector<double> gamma(static_cast<std::size_t>(e.cols));
  //---- begin dependent
  const stepwell::Certificate twice = stepwell::lstsq(stepwell::by_rows(e.x.data(), e.rows, e.cols),
                                                      stepwell::view(e.y.data(), e.rows, 1),
                                                      stepwell::view(gamma.data(), e.cols, 1));
  std::printf("%s: %s\n", to_string(twice.outcome), twice.reason.c_str());
  for (const std::int64_t j : twice.dependent) {
    std::printf("omit column %d, whose coefficient is %g\n", static_cast<int>(j),
                gamma[static_cast<std::size_t>(j)]);
  }
  //---- end dependent
  good = good && twice.outcome == stepwell::SolveOutcome::rank_deficient &&
         twice.dependent.size() == 1;
  return good ? 0 : 1;
}
