// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Every map and refiner ends at the same accuracy. The time and its distribution differ: a coarse
// factor is computed faster but needs more iterations. The matrix is the covariance of a smooth
// field (Matern 3/2) at random points, for which graded maps were designed.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "stepwell/stepwell.hpp"

namespace {

std::vector<double> covariance(std::int64_t n) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit;
  std::vector<double> px, py;
  for (std::int64_t i = 0; i < n; ++i) {
    px.push_back(unit(random));
    py.push_back(unit(random));
  }
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::size_t j = 0; j < px.size(); ++j) {
    for (std::size_t i = j; i < px.size(); ++i) {
      const double s = std::sqrt(3.0) * std::hypot(px[i] - px[j], py[i] - py[j]) / 0.05;
      a[i + j * px.size()] = (1 + s) * std::exp(-s) + (i == j ? 1e-2 : 0);
    }
  }
  return a;
}

struct Choice {
  const char* map;  ///< null: the library chooses
  stepwell::Refiner refiner;
};

}  // namespace

int main() {
  using stepwell::Refiner;
  const std::int64_t n = 2560;  // five block columns
  const std::vector<double> a = covariance(n);
  const std::vector<double> b(static_cast<std::size_t>(n), 1.0);
  std::vector<double> x(b.size());
  std::printf("%-30s %-10s %7s %10s %9s %9s %9s\n", "map", "refiner", "shift", "iterations",
              "factor s", "refine s", "error");
  for (const Choice& choice :
       {Choice{"bf16", Refiner::cg}, Choice{"bf16x2", Refiner::cg}, Choice{"fp32", Refiner::cg},
        Choice{"fp64", Refiner::cg}, Choice{"graded:bf16x3*1,bf16x2*1,bf16", Refiner::cg},
        Choice{"graded:bf16x3*1,bf16x2*1,bf16", Refiner::gmres},
        Choice{"bf16x2", Refiner::ir_gmres}, Choice{nullptr, Refiner::cg}}) {
    //---- begin options
    stepwell::SolveOptions options;
    if (choice.map != nullptr) options.map = stepwell::parse_map(choice.map);
    options.refine.refiner = choice.refiner;
    options.climb = choice.map == nullptr;  // stay at the map that is compared
    //---- end options
    const stepwell::Certificate c =
        stepwell::solve_spd(stepwell::view(a.data(), n, n), stepwell::view(b.data(), n, 1),
                            stepwell::view(x.data(), n, 1), options);
    if (!c.ok()) {
      std::printf("%s: %s\n", map_text(c.method).c_str(), c.reason.c_str());
      return 1;
    }
    std::printf("%-30s %-10s %7g %10d %9.3f %9.3f %9.1e%s\n", map_text(c.method).c_str(),
                refiner_text(c.method).c_str(), c.shift, c.iterations, c.times.factor,
                c.times.refine, c.backward_error,
                choice.map == nullptr ? "  <- the library's choice" : "");
    if (choice.map != nullptr && map_text(c.method) != choice.map) {
      std::printf("  %s broke down %zu times\n", choice.map, c.factor.attempts.size() - 1);
    }
    if (!(c.backward_error <= c.tolerance)) return 1;
  }
  return 0;
}
