// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <new>

#include "core/memory_error.hpp"
#include "solvers/checks.hpp"
#include "solvers/cost.hpp"
#include "solvers/lapack_factor.hpp"
#include "solvers/lower_triangle_copy.hpp"
#include "solvers/small.hpp"
#include "solvers/solver.hpp"
#include "stepwell/lu.hpp"

namespace stepwell {
namespace {

using solvers::direct_below;

FactorOptions factor_options(const SolveOptions& options) {
  FactorOptions f;
  f.tile = options.tile;
  f.context = options.context;
  f.pivoting = options.pivoting;
  f.seed = options.seed;
  return f;
}

/// All of a plan but for its memory.
Plan plan_of(std::int64_t n, std::int64_t columns, const SolveOptions& options, Structure structure,
             const PrecisionMap& map, bool direct) {
  Plan plan;
  const Rung rung = map.adaptive() ? Rung::bf16x2 : map.layers[0];
  plan.map = to_string(map);
  plan.refiner =
      direct ? "direct" : to_string(options.refiner.value_or(solvers::default_refiner(structure)));
  plan.iterations = solvers::expected_iterations(rung);
  plan.seconds = solvers::factor_seconds(rung, n, structure) +
                 plan.iterations * solvers::iteration_seconds(rung, n, columns, structure);
  return plan;
}

PrecisionMap first_map(const SolveOptions& options, bool direct) {
  return options.map ? *options.map : direct ? uniform(Rung::fp64) : uniform(solvers::ladder()[0]);
}

}  // namespace

Plan plan_spd(std::int64_t n, std::int64_t columns, const SolveOptions& options) try {
  solvers::Checks("plan_spd").plan(n, columns);
  const bool direct = !options.map && n < direct_below();
  const PrecisionMap map = first_map(options, direct);
  Plan plan = plan_of(n, columns, options, Structure::spd, map, direct);
  const std::int64_t mirror = solvers::LowerTriangleCopy::bytes(n, options);
  if (direct && solvers::is_plain(options, Structure::spd)) {
    plan.bytes = plan.top_bytes = mirror + solvers::small_bytes(n, columns, Structure::spd);
    return plan;
  }
  FactorOptions f = factor_options(options);
  f.map = map;
  const Refiner refiner = options.refiner.value_or(Refiner::cg);
  const std::int64_t beside = mirror + solvers::refinement_bytes(n, columns, refiner);
  plan.bytes = factor_bytes(n, f) + beside;
  plan.top_bytes = plan.bytes;
  const auto or_at = [&](const PrecisionMap& other) {
    f.map = other;
    plan.top_bytes = std::max(plan.top_bytes, factor_bytes(n, f) + beside);
  };
  if (!options.map && !direct) {  // where A may make the ladder start
    f.spread = true;
    or_at(solvers::covariance_map());
    f.spread = false;
    if (solvers::ladder().size() > 2) or_at(uniform(solvers::ladder()[1]));
  }
  for (const Rung step : solvers::ladder()) {  // small ones at low rungs take more than FP64
    if (options.climb) or_at(uniform(step));
  }
  return plan;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Plan plan_general(std::int64_t n, std::int64_t columns, const SolveOptions& options) try {
  const solvers::Checks check("plan_general");
  check.plan(n, columns);
  check.general(options);
  const bool direct = !options.map && n < direct_below(Structure::general);
  const PrecisionMap map = first_map(options, direct);
  Plan plan = plan_of(n, columns, options, Structure::general, map, direct);
  const std::int64_t beside = solvers::refinement_bytes(
      n, columns, options.refiner.value_or(solvers::default_refiner(Structure::general)),
      Structure::general);
  const std::int64_t lapack = solvers::LapackFactor::bytes(n) + beside;
  FactorOptions f = factor_options(options);
  f.map = map;
  if (direct) {
    const bool plain = solvers::is_plain(options, Structure::general);
    plan.bytes = plain ? solvers::small_bytes(n, columns, Structure::general) : lapack;
    plan.top_bytes = std::max({plan.bytes, lapack, lu_bytes(n, f) + beside});
    return plan;
  }
  plan.bytes = lu_bytes(n, f) + beside;
  plan.top_bytes = plan.bytes;
  for (const Rung step : solvers::ladder()) {
    f.map = uniform(step);
    if (options.climb) plan.top_bytes = std::max(plan.top_bytes, lu_bytes(n, f) + beside);
  }
  if (options.climb) plan.top_bytes = std::max(plan.top_bytes, lapack);
  return plan;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
