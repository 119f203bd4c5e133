// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <new>

#include "core/memory_error.hpp"
#include "engine/threads/thread_pool.hpp"
#include "factor/cholesky/setup.hpp"
#include "solvers/analysis/lower_triangle_copy.hpp"
#include "solvers/api/checks.hpp"
#include "solvers/ladder/cost.hpp"
#include "solvers/small/small.hpp"
#include "solvers/systems/lapack_factor.hpp"
#include "solvers/systems/square_solver.hpp"
#include "stepwell/lu.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell {
namespace {

using solvers::direct_below;

FactorOptions factor_options(const SolveOptions& options) {
  FactorOptions f;
  f.tile = options.tile;
  f.engine.context = options.engine.context;
  f.lu.pivoting = options.lu.pivoting;
  f.lu.seed = options.lu.seed;
  return f;
}

/// A plan without its memory requirements.
Plan plan_of(std::int64_t n, std::int64_t columns, const SolveOptions& options, Structure structure,
             const PrecisionMap& map, bool direct) {
  Plan plan;
  const Rung rung = map.adaptive() ? Rung::bf16x2 : map.layers[0];
  plan.method = {structure == Structure::general ? Factorization::lu : Factorization::cholesky, map,
                 direct ? Refiner::direct
                        : options.refine.refiner.value_or(solvers::default_refiner(structure))};
  plan.iterations = solvers::expected_iterations(rung);
  plan.seconds = solvers::factor_seconds(rung, n, structure) +
                 plan.iterations * solvers::iteration_seconds(rung, n, columns, structure);
  return plan;
}

/// Without a copy of A.
std::int64_t bytes_of(const solvers::RefinementBytes& bytes) {
  return bytes.vectors + bytes.products;
}

PrecisionMap first_map(const SolveOptions& options, bool direct) {
  return options.map ? *options.map
         : direct    ? uniform(Rung::fp64)
                     : uniform(solvers::ladder_rungs()[0]);
}

}  // namespace

Plan plan_spd(std::int64_t n, std::int64_t columns, const SolveOptions& options) try {
  const solvers::Checks check("plan_spd");
  check.plan(n, columns);
  check.map(options.map);
  const bool small = !options.map && n < direct_below();
  const bool many = solvers::many_columns(n, columns, options, Structure::spd);
  const bool direct = small || many;
  const PrecisionMap map = first_map(options, direct);
  Plan plan = plan_of(n, columns, options, Structure::spd, map, direct);
  if (many) plan.seconds = solvers::direct_seconds(n, columns, Structure::spd);
  const int threads = engine::pool_threads(options.engine.context);
  const std::int64_t copy = solvers::LowerTriangleCopy::bytes(n, options);
  if (small && solvers::is_plain(options, Structure::spd)) {
    plan.bytes = plan.top_bytes = copy + solvers::small_bytes(n, columns, Structure::spd);
    return plan;
  }
  FactorOptions f = factor_options(options);
  const Refiner refiner = options.refine.refiner.value_or(Refiner::cg);
  const solvers::RefinementBytes refinement =
      solvers::refinement_bytes(n, columns, refiner, Structure::spd);
  const std::int64_t more =
      copy + bytes_of(refinement) +
      (many ? solvers::many_columns_bytes(n, columns, Structure::spd, threads) : 0);
  const auto bytes_at = [&](const PrecisionMap& of) {
    f.map = of;
    const std::int64_t factoring = factor_bytes(n, f);
    if (!solvers::wants_copy(of)) return factoring + more;
    const std::int64_t kept =
        tiles::tile_matrix_bytes(tiles::RungMap(factor::choose_grid(n, f), of));
    return std::max(factoring, kept + refinement.copy) + more;
  };
  plan.bytes = bytes_at(map);
  plan.top_bytes = plan.bytes;
  const auto or_at = [&](const PrecisionMap& other) {
    plan.top_bytes = std::max(plan.top_bytes, bytes_at(other));
  };
  if (!options.map && !direct) {  // depending on A, the ladder may start with these maps
    f.spread = true;
    or_at(solvers::covariance_map(n, options.tile));
    f.spread = false;
    if (solvers::ladder_rungs().size() > 2) or_at(uniform(solvers::ladder_rungs()[1]));
  }
  // Small matrices need more memory at low rungs than at FP64.
  for (const Rung step : solvers::ladder_rungs()) {
    if (options.climb) or_at(uniform(step));
  }
  return plan;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Plan plan_general(std::int64_t n, std::int64_t columns, const SolveOptions& options) try {
  const solvers::Checks check("plan_general");
  check.plan(n, columns);
  check.map(options.map);
  check.general(options);
  const bool direct = !options.map && n < direct_below(Structure::general);
  const bool many = solvers::many_columns(n, columns, options, Structure::general);
  const PrecisionMap map = first_map(options, direct || many);
  Plan plan = plan_of(n, columns, options, Structure::general, map, direct);
  if (many) {
    plan.method.refiner = Refiner::ir;
    plan.seconds = solvers::direct_seconds(n, columns, Structure::general);
  }
  const Refiner refiner =
      options.refine.refiner.value_or(solvers::default_refiner(Structure::general));
  const int threads = engine::pool_threads(options.engine.context);
  const std::int64_t more =
      bytes_of(solvers::refinement_bytes(n, columns, refiner, Structure::general)) +
      (many ? solvers::many_columns_bytes(n, columns, Structure::general, threads) : 0);
  const std::int64_t lapack = solvers::LapackFactor::peak_bytes(n, threads) + more;
  FactorOptions f = factor_options(options);
  f.map = map;
  if (direct) {
    const bool plain = solvers::is_plain(options, Structure::general);
    plan.bytes = plain ? solvers::small_bytes(n, columns, Structure::general) : lapack;
    plan.top_bytes = std::max({plan.bytes, lapack, lu_bytes(n, f) + more});
    return plan;
  }
  plan.bytes = many ? lapack : lu_bytes(n, f) + more;
  plan.top_bytes = plan.bytes;
  for (const Rung step : solvers::ladder_rungs()) {
    f.map = uniform(step);
    if (options.climb) plan.top_bytes = std::max(plan.top_bytes, lu_bytes(n, f) + more);
  }
  if (options.climb) plan.top_bytes = std::max(plan.top_bytes, lapack);
  return plan;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
