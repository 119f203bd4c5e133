// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/numeric/worst.hpp"

namespace stepwell::solvers {

/// A lower bound on the norm of an inverse.
struct InverseNorm {
  double value = 0;    ///< NaN: nothing is known; 0: not computed yet
  bool tight = false;  ///< usually within a factor of three; otherwise A may be singular
};

/// norm * inverse * 2^exponent, where the product of any two factors may be outside FP64's range.
double condition_of(double norm, double inverse, int exponent);

inline double sum_of_sizes(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += std::abs(x);
  return sum;
}

/// Three vectors v of 1-norm at most 1 for which the largest ||B^-1 v||_1 is close to ||B^-1||_1,
/// the largest column sum of |B^-1|: usually within a factor of three (Hager 1984; Higham 1988,
/// Algorithm 4.1). 'solve' replaces a vector v by about B^-1 v, 'solve_transposed' by about B^-T v:
/// they only guide the search.
template <class Solve, class SolveTransposed>
std::array<std::vector<double>, 3> inverse_probes(std::int64_t n, Solve solve,
                                                  SolveTransposed solve_transposed) {
  const auto size = static_cast<std::size_t>(n);
  const std::vector<double> even(size, 1 / static_cast<double>(n));
  std::vector<double> v = even, best = even;
  solve(v);
  double estimate = sum_of_sizes(v);
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
    const std::vector<double> unit = v;
    solve(v);
    const double better = sum_of_sizes(v);
    if (!(better > estimate)) break;
    estimate = better;
    best = unit;
  }
  // A vector that guards against exact cancellation in the search.
  std::vector<double> alternating(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double place = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
    alternating[i] = (i % 2 == 0 ? 2 : -2) * (1 + place) / (3 * static_cast<double>(n));
  }
  return {even, best, alternating};
}

/// The largest ||B^-1 v||_1 of the probes v, a lower bound on ||B^-1||_1.
template <class Solve, class SolveTransposed>
double inverse_norm(std::int64_t n, Solve solve, SolveTransposed solve_transposed) {
  double norm = 0;
  for (std::vector<double>& v : inverse_probes(n, solve, solve_transposed)) {
    solve(v);
    norm = core::worst(norm, sum_of_sizes(v));
  }
  return norm;
}

}  // namespace stepwell::solvers
