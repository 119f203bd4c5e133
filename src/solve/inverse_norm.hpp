// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace stepwell::driver {

/// The largest sum of |elements| of a column of an inverse, from a few solves with it (Hager 1984;
/// Higham 1988, Algorithm 4.1). 'solve' replaces a vector v by B^-1 v, 'solve_transposed' by
/// B^-T v. A lower bound, within a factor of three as a rule.
template <class Solve, class SolveTransposed>
double inverse_norm(std::int64_t n, Solve solve, SolveTransposed solve_transposed) {
  const auto sum_of = [](const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += std::abs(x);
    return sum;
  };
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> v(size, 1 / static_cast<double>(n));
  solve(v);
  double estimate = sum_of(v);
  constexpr int kMost = 5;
  std::vector<double> signs(size);
  std::size_t last = size;
  for (int k = 1; k < kMost; ++k) {
    std::vector<double> now(size);
    for (std::size_t i = 0; i < size; ++i) now[i] = v[i] < 0 ? -1 : 1;
    if (now == signs) break;
    signs = now;
    solve_transposed(now);
    const auto largest = std::max_element(
        now.begin(), now.end(), [](double x, double y) { return std::abs(x) < std::abs(y); });
    const auto j = static_cast<std::size_t>(largest - now.begin());
    if (j == last) break;
    last = j;
    v.assign(size, 0.0);
    v[j] = 1;
    solve(v);
    const double better = sum_of(v);
    if (!(better > estimate)) break;
    estimate = better;
  }
  // A vector that no exact cancellation fools.
  for (std::size_t i = 0; i < size; ++i) {
    const double place = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
    v[i] = (i % 2 == 0 ? 1 : -1) * (1 + place);
  }
  solve(v);
  return std::max(estimate, 2 * sum_of(v) / (3 * static_cast<double>(n)));
}

}  // namespace stepwell::driver
