// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Factor once, solve often. Nonlocal heat conduction u' = -K u with K = D - W,
// w_ij = exp(-|i - j| / 20) and D the row sums of W, by implicit Euler: (I + h K) u_new = u_old.
// The matrix stays the same, and each right-hand side is known only after the previous system has
// been solved.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

/// I + h K, both triangles, column-major.
std::vector<double> step_matrix(std::int64_t n, double h) {
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == j) continue;
      const double w = std::exp(-static_cast<double>(i > j ? i - j : j - i) / 20);
      a[static_cast<std::size_t>(i + j * n)] = -h * w;
      sum += w;
    }
    a[static_cast<std::size_t>(j + j * n)] = 1 + h * sum;
  }
  return a;
}

}  // namespace

int main() {
  const std::int64_t n = 1500;
  const int steps = 20;
  //---- begin plan
  const stepwell::Plan plan = stepwell::plan_spd(n, 1);
  std::printf("%.1f MB in addition to A and b, at most %.1f\n",
              static_cast<double>(plan.bytes) * 1e-6, static_cast<double>(plan.top_bytes) * 1e-6);
  //---- end plan
  //---- begin factor
  const std::vector<double> a = step_matrix(n, 0.1);  // must outlive the solver
  stepwell::Solver solver(stepwell::view(a.data(), n, n), {}, stepwell::Structure::spd);
  const stepwell::Certificate& made = solver.factor();
  if (!made.ok()) {
    std::printf("no factor: %s\n", made.reason.c_str());
    return 1;
  }
  //---- end factor
  std::printf("factor at %s: %.1f MB, %.1f ms\n", map_text(made.method).c_str(),
              static_cast<double>(made.factor.bytes) * 1e-6, made.times.wall * 1e3);

  std::vector<double> u(static_cast<std::size_t>(n));
  u[static_cast<std::size_t>(n / 2)] = 1;  // all heat is at one point
  double seconds = 0;
  for (int k = 1; k <= steps; ++k) {
    //---- begin solve
    const auto state = stepwell::view(u.data(), n, 1);
    const stepwell::Certificate c = solver.solve(state, state);  // x may be b itself
    //---- end solve
    if (!c.ok()) {
      std::printf("step %d: %s\n", k, c.reason.c_str());
      return 1;
    }
    if (c.times.factor != 0) {
      std::printf("step %d computed another factor\n", k);
      return 1;
    }
    seconds += c.times.wall;
    if (k % 5 == 0) {
      std::printf("step %2d: %2d iterations, backward error %.1e, warmest point %.2e\n", k,
                  c.iterations, c.backward_error, u[static_cast<std::size_t>(n / 2)]);
    }
  }
  std::printf("%.1f ms per step\n", seconds / steps * 1e3);

  // The columns of K sum to zero: heat is conserved, and no temperature becomes negative.
  const double heat = std::accumulate(u.begin(), u.end(), 0.0);
  double coldest = 0;
  for (const double t : u) coldest = std::fmin(coldest, t);
  std::printf("heat %.15f, coldest point %.1e\n", heat, coldest);
  return std::fabs(heat - 1) <= 1e-12 && coldest >= -1e-14 ? 0 : 1;
}
