// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/distributed/plan.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "factor/cholesky/setup.hpp"
#include "factor/distributed/cholesky.hpp"
#include "factor/setup.hpp"
#include "solvers/api/checks.hpp"
#include "solvers/ladder/cost.hpp"
#include "stepwell/error.hpp"

namespace stepwell::solvers {
namespace {

/// The approximate number of tiles that a plan of all ranks may visit, and the smallest number of
/// ranks that are planned.
constexpr std::int64_t kTilesPlanned = std::int64_t{1} << 24;
constexpr std::int64_t kRanksPlanned = 16;

/// Bytes that a rank needs with a factor of this map.
std::int64_t bytes_with(const PrecisionMap& map, const DistributedLayout& layout,
                        std::int64_t columns, const SolveOptions& options) {
  FactorOptions f;
  f.map = map;
  f.tile = options.tile;
  const Refiner refiner = options.refine.refiner.value_or(Refiner::cg);
  const RefinementBytes bytes = refinement_bytes(layout, columns, refiner);
  const tiles::RungMap rungs(layout.grid, map.adaptive() ? uniform(Rung::fp64) : map);
  const std::int64_t refining =
      tiles::tile_matrix_bytes(rungs, layout.distribution, layout.rank) + bytes.products;
  const std::int64_t factoring = factor::distributed_factor_bytes(
      layout.grid.n, f, layout.distribution, layout.windows, layout.rank, layout.threads);
  return bytes.vectors + std::max(refining, factoring);
}

/// The ranks that own the most of A, or all ranks if planning all of them does not take minutes.
std::vector<int> largest_owners(const tiles::Distribution& distribution, const tiles::Grid& grid) {
  std::vector<std::pair<std::int64_t, int>> owned(static_cast<std::size_t>(distribution.ranks()));
  for (std::size_t r = 0; r < owned.size(); ++r) owned[r].second = static_cast<int>(r);
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      auto& [elements, rank] = owned[static_cast<std::size_t>(distribution.owner(i, j))];
      elements += grid.size(i) * grid.size(j);
    }
  }
  std::sort(owned.begin(), owned.end(), std::greater<>());
  const std::int64_t tiles = std::max<std::int64_t>(1, grid.tiles());
  const std::int64_t count = std::max(kRanksPlanned, kTilesPlanned / tiles / tiles);
  std::vector<int> found;
  for (const auto& [elements, rank] : owned) {
    if (std::ssize(found) < count) found.push_back(rank);
  }
  return found;
}

}  // namespace

void check_distributed_options(const SolveOptions& options) {
  const auto refuse = [](const std::string& text) {
    throw Error(ErrorCode::invalid_argument, "solve_spd over ranks: " + text);
  };
  if (options.triangle != Triangle::lower) {
    refuse(
        "A is read tile by tile from its lower triangle; leave the option 'triangle' at its "
        "default");
  }
  if (options.check_symmetry) {
    refuse("only the lower triangle of A is read, so its symmetry can't be checked");
  }
  FactorOptions f;
  f.theta = options.theta;
  f.cholesky.shift = options.cholesky.shift;
  factor::check_options(f);
}

DistributedLayout layout_of(int ranks, std::int64_t n, const SolveOptions& options,
                            const DistributedOptions& distributed) {
  DistributedLayout layout;
  layout.distribution = tiles::Distribution::choose(ranks, distributed);
  layout.grid = {n, factor::choose_tile(n, options.tile)};
  layout.source = distributed.keep_tiles ? TileSource::kept : TileSource::regenerated;
  if (!distributed.checkpoint.empty()) layout.windows = factor::Windows::always;
  return layout;
}

Plan plan_of_rank(const DistributedLayout& layout, std::int64_t columns,
                  const SolveOptions& options) {
  const std::int64_t n = layout.grid.n;
  Plan plan = plan_spd(n, columns, options);  // its bytes are replaced below
  const bool direct = plan.method.refiner == Refiner::direct;
  const PrecisionMap first = options.map ? *options.map
                             : direct    ? uniform(Rung::fp64)
                                         : uniform(ladder_rungs()[0]);
  plan.bytes = plan.top_bytes = bytes_with(first, layout, columns, options);
  const auto or_at = [&](const PrecisionMap& map) {
    plan.top_bytes = std::max(plan.top_bytes, bytes_with(map, layout, columns, options));
  };
  if (!options.map && !direct) or_at(covariance_map(n, options.tile));
  for (const Rung step : ladder_rungs()) {
    if (options.climb) or_at(uniform(step));
  }
  return plan;
}

Plan plan_of_all(int ranks, int threads, std::int64_t n, std::int64_t columns,
                 const SolveOptions& options, const DistributedOptions& distributed) {
  Checks("plan_spd over ranks").plan(n, columns);
  check_distributed_options(options);
  DistributedLayout layout = layout_of(ranks, n, options, distributed);
  layout.threads = threads;
  Plan plan;
  std::int64_t bytes = 0, top_bytes = 0;
  for (const int rank : largest_owners(layout.distribution, layout.grid)) {
    layout.rank = rank;
    plan = plan_of_rank(layout, columns, options);
    bytes = std::max(bytes, plan.bytes);
    top_bytes = std::max(top_bytes, plan.top_bytes);
  }
  plan.bytes = bytes;
  plan.top_bytes = top_bytes;
  return plan;
}

}  // namespace stepwell::solvers
