// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Factor once, solve with A and with A'. How does J = g'u depend on f, if A u = f? With the adjoint
// system A'w = g, J = w'f: one solve gives the sensitivity of J to every element of f, whereas
// changing the elements one by one takes a solve for each.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

/// A flow from left to right that spreads: an element depends mostly on those before it.
/// Column-major.
std::vector<double> matrix(std::int64_t n) {
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto distance = static_cast<double>(i - j);
      a[static_cast<std::size_t>(i + j * n)] =
          i == j ? 2 : -std::exp(-std::fabs(distance) / (i > j ? 4 : 1)) / 4;
    }
  }
  return a;
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

}  // namespace

int main() {
  const std::int64_t n = 1600;
  const std::vector<double> a = matrix(n);  // must outlive the solver
  std::vector<double> f(static_cast<std::size_t>(n), 1.0), g(f.size());
  for (std::size_t i = f.size() - 50; i < f.size(); ++i) g[i] = 0.02;  // J: the mean of the last 50
  std::vector<double> u(f.size()), w(f.size());
  const auto column = [](std::vector<double>& v) { return stepwell::view(v.data(), n, 1); };

  //---- begin factor
  stepwell::Solver solver(stepwell::view(a.data(), n, n), {}, stepwell::Structure::general);
  if (!solver.factor().ok()) {
    std::printf("no factor: %s\n", solver.factor().reason.c_str());
    return 1;
  }
  const stepwell::Certificate state = solver.solve(column(f), column(u));
  const stepwell::Certificate adjoint = solver.solve_transposed(column(g), column(w));
  //---- end factor
  if (!state.ok() || !adjoint.ok()) return 1;
  std::printf("state: backward error %.1e; adjoint: %.1e, with the same factor\n",
              state.backward_error, adjoint.backward_error);
  std::printf("J = %.15f from the state, %.15f from the adjoint\n", dot(g, u), dot(w, f));

  // The sensitivity to one element, computed by a separate solve.
  const std::size_t at = f.size() - 60;
  f[at] += 1;
  std::vector<double> changed(f.size());
  if (!solver.solve(column(f), column(changed)).ok()) return 1;
  const double difference = dot(g, changed) - dot(g, u);
  std::printf("f[%zu] + 1: J + %.3e, predicted by the adjoint: %.3e\n", at, difference, w[at]);
  const double close = 1e-12 * std::fabs(dot(g, u));
  return std::fabs(difference - w[at]) <= close && std::fabs(dot(w, f) - w[at] - dot(g, u)) <= close
             ? 0
             : 1;
}
