// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/ladder/ladder.hpp"

#include <algorithm>

#include "factor/cholesky/setup.hpp"
#include "factor/setup.hpp"
#include "solvers/ladder/cost.hpp"

namespace stepwell::solvers {
namespace {

/// Below this flatness bf16 typically breaks down or needs a hundred iterations (log-uniform
/// spectra from a condition number of 3e3 on: 2 / ln kappa), and its factor is time lost.
constexpr double kTooSteepForBf16 = 0.25;

/// The unit roundoff of a map's coarsest rung; eps of an adaptive one.
double unit_of(const PrecisionMap& map) {
  if (map.adaptive()) return map.eps;
  double unit = 0;
  for (const Rung r : map.layers) unit = std::max(unit, info(r).unit_roundoff);
  return unit;
}

/// The requested map, if there is one, and the rungs of this machine that are finer.
std::vector<Step> factor_steps(const SolveOptions& options) {
  std::vector<Step> steps;
  if (options.map) steps.push_back({StepKind::factor, *options.map});
  if (options.map && !options.climb) return steps;
  const double unit = options.map ? unit_of(*options.map) : 1;
  for (const Rung r : ladder_rungs()) {
    if (info(r).unit_roundoff < unit) steps.push_back({StepKind::factor, uniform(r)});
  }
  return steps;
}

std::vector<Step> spd_steps(std::int64_t n, const Analysis& analysis, const SolveOptions& options) {
  std::vector<Step> steps = factor_steps(options);
  if (options.map || ladder_rungs()[0] != Rung::bf16) return steps;
  if (analysis.flatness < kClusters) {
    steps[0].map = covariance_map(n, options.tile);
    steps.erase(steps.begin() + 1);  // where that breaks down, uniform bf16x2 does so too
    // There bf16x3 breaks down, or needs so many iterations that an FP64 factor with exact sums
    // takes no longer (n = 4096, condition 1e8: 0.29 s both; 1e10: 0.40 and 0.30).
    const tiles::Grid grid{n, factor::choose_tile(n, options.tile)};
    if (factor::fp64_rung(grid) != Rung::fp64) {
      std::erase_if(steps, [](const Step& s) { return s.map == uniform(Rung::bf16x3); });
    }
  } else if (analysis.flatness < kTooSteepForBf16) {
    steps.erase(steps.begin());
  }
  return steps;
}

/// LAPACK's own factor is the last step, because what it says of a singular matrix is what the
/// field relies on.
std::vector<Step> general_steps(const Analysis& analysis, const SolveOptions& options) {
  std::vector<Step> steps = factor_steps(options);
  if (options.climb) steps.push_back({StepKind::lapack, uniform(Rung::fp64)});
  if (analysis.random_diagonal && !options.map && steps.size() > 3) steps.erase(steps.begin());
  return steps;
}

}  // namespace

Refiner default_refiner(Structure structure) {
  return structure == Structure::general ? Refiner::fgmres : Refiner::cg;
}

Method least_squares_method(const Step& step) {
  const bool qr = step.kind == StepKind::qr;
  return {qr ? Factorization::qr : Factorization::cholesky, step.map, std::nullopt};
}

Ladder ladder_for(Structure structure, std::int64_t n, const Analysis& analysis,
                  const SolveOptions& options) {
  const bool general = structure == Structure::general;
  const bool direct = !options.map && n < direct_below(structure);
  Ladder ladder;
  ladder.may_climb = options.climb;
  if (direct) {
    if (general) ladder.steps.push_back({StepKind::lapack, uniform(Rung::fp64)});
    ladder.steps.push_back({StepKind::factor, uniform(Rung::fp64)});
  } else {
    ladder.steps = general ? general_steps(analysis, options) : spd_steps(n, analysis, options);
  }
  ladder.steps[0].first = true;
  for (std::size_t k = 1; k < ladder.steps.size() && general; ++k) {
    Step& step = ladder.steps[k];
    step.restart = step.map == uniform(Rung::fp64);
    step.last_resort = step.kind == StepKind::lapack;
  }
  const Refiner usual = default_refiner(structure);
  if (!analysis.inverse_diagonal.empty() && !direct && !options.map &&
      options.refine.refiner.value_or(usual) == usual) {
    ladder.steps.insert(ladder.steps.begin(), {StepKind::unpreconditioned, {}});
  }
  return ladder;
}

Ladder ladder_for(std::int64_t m, std::int64_t n, std::int64_t columns,
                  const LeastSquaresOptions& options) {
  // Below, threads and tiles cost more than QR.
  constexpr double kForGram = 1e6;
  const Step qr{StepKind::qr, uniform(Rung::fp64)};
  Ladder ladder;
  ladder.may_climb = options.climb;
  const double products = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(n);
  if (options.qr || (!options.map && products < kForGram)) {
    ladder.steps = {qr};
    return ladder;
  }
  const std::vector<Rung>& all = ladder_rungs();
  const auto cost = [&](Rung rung) {
    return step_seconds({StepKind::factor, uniform(rung)}, m, n, columns);
  };
  const Rung first = options.map ? options.map->layers[0]
                                 : *std::min_element(all.begin(), all.end(), [&](Rung r, Rung s) {
                                     return cost(r) < cost(s);
                                   });
  ladder.steps.push_back({StepKind::factor, uniform(first)});
  if (!options.climb) return ladder;
  for (const Rung r : all) {
    if (info(r).unit_roundoff < info(first).unit_roundoff) {
      ladder.steps.push_back({StepKind::factor, uniform(r)});
    }
  }
  ladder.steps.push_back(qr);
  return ladder;
}

}  // namespace stepwell::solvers
