// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <new>

#include "core/memory_error.hpp"
#include "solve/checks.hpp"
#include "solve/cost.hpp"
#include "solve/lapack_factor.hpp"
#include "solve/mirror.hpp"
#include "solve/small.hpp"
#include "solve/solver.hpp"
#include "stepwell/lu.hpp"

namespace stepwell {
namespace {

using driver::direct_below;

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
      direct ? "direct" : to_string(options.refiner.value_or(driver::default_refiner(structure)));
  plan.iterations = driver::expected_iterations(rung);
  plan.seconds = driver::factor_seconds(rung, n, structure) +
                 plan.iterations * driver::iteration_seconds(rung, n, columns, structure);
  return plan;
}

PrecisionMap first_map(const SolveOptions& options, bool direct) {
  return options.map ? *options.map : direct ? uniform(Rung::fp64) : uniform(driver::ladder()[0]);
}

}  // namespace

Plan plan_spd(std::int64_t n, std::int64_t columns, const SolveOptions& options) try {
  driver::Checks("plan_spd").plan(n, columns);
  const bool direct = !options.map && n < direct_below();
  const PrecisionMap map = first_map(options, direct);
  Plan plan = plan_of(n, columns, options, Structure::spd, map, direct);
  const std::int64_t mirror = driver::Mirror::bytes(n, options);
  if (direct && driver::is_plain(options, Structure::spd)) {
    plan.bytes = plan.top_bytes = mirror + driver::small_bytes(n, columns, Structure::spd);
    return plan;
  }
  FactorOptions f = factor_options(options);
  f.map = map;
  const Refiner refiner = options.refiner.value_or(Refiner::cg);
  const std::int64_t beside = mirror + driver::refinement_bytes(n, columns, refiner);
  plan.bytes = factor_bytes(n, f) + beside;
  plan.top_bytes = plan.bytes;
  const auto or_at = [&](const PrecisionMap& other) {
    f.map = other;
    plan.top_bytes = std::max(plan.top_bytes, factor_bytes(n, f) + beside);
  };
  if (!options.map && !direct) {  // where A may make the ladder start
    f.spread = true;
    or_at(driver::covariance_map());
    f.spread = false;
    if (driver::ladder().size() > 2) or_at(uniform(driver::ladder()[1]));
  }
  for (const Rung step : driver::ladder()) {  // small ones at low rungs take more than FP64
    if (options.climb) or_at(uniform(step));
  }
  return plan;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Plan plan_general(std::int64_t n, std::int64_t columns, const SolveOptions& options) try {
  const driver::Checks check("plan_general");
  check.plan(n, columns);
  check.general(options);
  const bool direct = !options.map && n < direct_below(Structure::general);
  const PrecisionMap map = first_map(options, direct);
  Plan plan = plan_of(n, columns, options, Structure::general, map, direct);
  const std::int64_t beside = driver::refinement_bytes(
      n, columns, options.refiner.value_or(driver::default_refiner(Structure::general)),
      Structure::general);
  const std::int64_t lapack = driver::LapackFactor::bytes(n) + beside;
  FactorOptions f = factor_options(options);
  f.map = map;
  if (direct) {
    const bool plain = driver::is_plain(options, Structure::general);
    plan.bytes = plain ? driver::small_bytes(n, columns, Structure::general) : lapack;
    plan.top_bytes = std::max({plan.bytes, lapack, lu_bytes(n, f) + beside});
    return plan;
  }
  plan.bytes = lu_bytes(n, f) + beside;
  plan.top_bytes = plan.bytes;
  for (const Rung step : driver::ladder()) {
    f.map = uniform(step);
    if (options.climb) plan.top_bytes = std::max(plan.top_bytes, lu_bytes(n, f) + beside);
  }
  if (options.climb) plan.top_bytes = std::max(plan.top_bytes, lapack);
  return plan;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
