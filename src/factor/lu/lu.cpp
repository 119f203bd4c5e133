// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/lu.hpp"
#include "core/numeric/worst.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "core/checks.hpp"
#include "core/clock.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/memory_error.hpp"
#include "engine/runtime.hpp"
#include "factor/lu/equilibrate.hpp"
#include "factor/lu/graph.hpp"
#include "factor/lu/lu_data.hpp"
#include "factor/lu/workspace.hpp"
#include "factor/setup.hpp"
#include "kernels/kernels.hpp"
#include "stepwell/error.hpp"

namespace stepwell {
namespace factor {
namespace {

using tiles::Grid;
using tiles::RungMap;

[[noreturn]] void misuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, "lu: " + text);
}

RungMap map_for(std::int64_t n, const FactorOptions& options) {
  if (n < 0) misuse("the order is " + std::to_string(n) + "; it can't be negative");
  const PrecisionMap& map = options.map;
  if (map.adaptive() || (map.layers.size() > 1 && !map.graded())) {
    misuse("the map is '" + to_string(map) + "'; use one rung or a graded map");
  }
  if (map.graded() && std::ranges::find(map.layers, Rung::fp64) != map.layers.end()) {
    misuse("the map '" + to_string(map) + "' mixes fp64 with other rungs");
  }
  tiles::require_mixable(map, "lu");
  return RungMap({n, choose_lu_tile(n, options.tile)}, map);
}

void check(MatrixView<const double> a, const FactorOptions& options) {
  if (a.rows != a.cols) {
    misuse("the matrix is " + std::to_string(a.rows) + " x " + std::to_string(a.cols) +
           "; it must be square");
  }
  core::require_view(a.data, a.rows, a.cols, a.ld, "lu: the matrix");
  if (!(options.theta > 0 && options.theta <= 1)) misuse("theta must lie in (0, 1]");
}

engine::GraphOptions workers_for(const RungMap& map, const FactorOptions& options) {
  engine::GraphOptions g = graph_options(useful_threads(map.grid().tiles()), options.engine.context,
                                         options.engine.progress);
  g.scratch_bytes = lu_scratch_bytes(map);
  return g;
}

std::int64_t peak_bytes(const RungMap& map, const engine::GraphOptions& g,
                        const FactorOptions& options) {
  const std::int64_t n = map.grid().n;
  const std::int64_t transformed =
      options.lu.pivoting == Pivoting::butterfly ? core::size_product(n, n, 8, "a copy of A") : 0;
  return 2 * tiles::tile_matrix_bytes(map) + lu_workspace_bytes(map) +
         workers_of(g) * g.scratch_bytes + transformed + n * 40 + map.grid().count() * 18;
}

/// The elements of H are below 1 and those of L at most 1; the rest of fp16's range is for the
/// growth of G, which is about n^(2/3) for random matrices (Trefethen & Schreiber 1990).
double choose_gain(const RungMap& map, double theta) {
  if (!map.uses(Rung::fp16)) return 1;
  const double growth = std::cbrt(std::pow(static_cast<double>(map.grid().n), 2));
  return std::ldexp(1.0, std::ilogb(theta * info(Format::fp16).largest / growth));
}

/// Whether tiles of the map can hold a value. The sums of a tile are in fp32, so they may exceed
/// fp16's range without any effect on the pivots.
bool fits(const RungMap& map, double x) {
  const Format narrowest = map.uses(Rung::fp16) ? Format::fp16 : Format::fp32;
  return x <= info(map.coarsest() == Rung::fp64 ? Format::fp64 : narrowest).largest;
}

/// The largest of the values; NaN if one of them is NaN.
double largest_of(const std::vector<double>& sizes) {
  double largest = 0;
  for (const double x : sizes) largest = core::worst(largest, x);
  return largest;
}

}  // namespace

LuFactor lu_scaled(MatrixView<const double> a, const Scale& scale, const FactorOptions& options) {
  const core::FpScope fp;
  check(a, options);
  const auto start = core::Clock::now();
  const RungMap map = map_for(a.rows, options);
  const engine::GraphOptions g = workers_for(map, options);
  auto data = std::make_unique<LuData>();
  FactorReport& r = data->report;
  r.peak_bytes = peak_bytes(map, g, options);
  core::require_memory(r.peak_bytes, "an LU factor of order " + std::to_string(a.rows));
  data->n = a.rows;
  data->g = tiles::TileMatrix(map, {}, 0, tiles::TileOrder::by_rows);
  data->l = tiles::TileMatrix(map, {}, 0, tiles::TileOrder::by_rows);
  data->scale = scale;
  r.mu = choose_gain(map, options.theta);
  for (double& x : data->scale.row) x *= r.mu;

  LuState state;
  state.a = a;
  state.scale = &data->scale;
  state.pivoting = options.lu.pivoting == Pivoting::partial;
  state.g = &data->g;
  state.l = &data->l;
  core::Buffer<double> transformed;
  Scale ones;
  if (!state.pivoting) {
    engine::ThreadPool pool(engine::pool_threads(options.engine.context));
    data->butterflies.emplace(a.rows, options.lu.seed);
    transformed = core::Buffer<double>(core::size_product(a.rows, a.rows, "a copy of A"),
                                       core::Contents::any);
    const MatrixView<double> out = view(transformed.data(), a.rows, a.rows);
    transform(pool, a, data->scale, *data->butterflies, out);
    ones.row.assign(data->scale.row.size(), 1.0);
    ones.col = ones.row;
    state.a = out;
    state.scale = &ones;
  }
  announce(options.engine.progress, lu_task_count(map));
  engine::Graph graph(g);
  run_lu_graph(graph, state);

  const double g_largest = largest_of(state.results.largest_g);
  const double l_largest = largest_of(state.results.largest_l);
  const tiles::Pivot pivot = state.results.pivot;
  const bool cancelled = options.engine.progress != nullptr && options.engine.progress->cancel;
  const bool failed = !pivot.ok() || !fits(map, g_largest) || !fits(map, l_largest);
  r.outcome = cancelled                      ? FactorOutcome::cancelled
              : !failed                      ? FactorOutcome::ok
              : map.coarsest() == Rung::fp64 ? FactorOutcome::singular
                                             : FactorOutcome::breakdown;
  data->order = std::move(state.order);
  r.map = options.map;
  r.pivot = pivot.index;
  r.pivot_value = pivot.value;
  r.tile = map.grid().tile;
  r.tiles = map.counts();
  r.unit_roundoff = info(map.coarsest()).unit_roundoff;
  r.growth = std::max(g_largest / r.mu, l_largest);
  r.bytes = data->g.bytes() + data->l.bytes();
  book(graph.times(), r.times);
  r.times.wall = core::seconds_since(start);
  r.attempts.push_back({r.map, 0, false, r.pivot, r.pivot_value, r.times.wall});
  return LuData::make(std::move(data));
}

}  // namespace factor

LuFactor::LuFactor() try : data_(std::make_unique<LuData>()) {
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}
LuFactor::LuFactor(std::unique_ptr<LuData> data) : data_(std::move(data)) {}
LuFactor::~LuFactor() = default;
LuFactor::LuFactor(LuFactor&& other) noexcept = default;
LuFactor& LuFactor::operator=(LuFactor&& other) noexcept = default;

std::int64_t LuFactor::order() const {
  return data_->n;
}

const FactorReport& LuFactor::report() const {
  return data_->report;
}

const std::vector<std::int64_t>& LuFactor::permutation() const {
  return data_->order;
}

void LuFactor::copy_to(MatrixView<double> g, MatrixView<double> l) const try {
  const std::int64_t n = order();
  if (!ok()) throw Error(ErrorCode::invalid_argument, "copy_to: there is no factor to copy");
  if (data_->butterflies) {
    throw Error(ErrorCode::invalid_argument,
                "copy_to: the factors of a transformed A can't be copied");
  }
  for (const MatrixView<double> out : {g, l}) {
    if (out.rows == n && out.cols == n) continue;
    throw Error(ErrorCode::invalid_argument,
                "copy_to: the outputs must be " + std::to_string(n) + " x " + std::to_string(n));
  }
  // diag(row) A diag(col) P' = G L'. Without the scaling, G becomes diag(row)^-1 G diag(col)^-1 and
  // L becomes diag(col)^-1 L diag(col), which keeps its unit diagonal; col is in P's order.
  const core::FpScope fp;
  std::vector<double> row, col, inverse_col;
  for (const double s : data_->scale.row) row.push_back(1 / s);
  for (const std::int64_t k : data_->order) {
    col.push_back(data_->scale.col[static_cast<std::size_t>(k)]);
    inverse_col.push_back(1 / col.back());
  }
  const kernels::Table& t = kernels::table();
  const tiles::Grid& grid = data_->l.grid();
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    const std::int64_t c = j * grid.tile;
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      const std::int64_t q = i * grid.tile;
      tiles::copy_tile(t, data_->g.tile(i, j), {row.data() + q, inverse_col.data() + c},
                       g.block(q, c, grid.size(i), grid.size(j)));
      tiles::copy_tile(t, data_->l.tile(i, j), {inverse_col.data() + q, col.data() + c},
                       l.block(q, c, grid.size(i), grid.size(j)));
    }
    for (std::int64_t k = c; k < c + grid.size(j); ++k) {
      std::fill_n(g.column(k), c, 0.0);
      std::fill_n(l.column(k), c, 0.0);
    }
  }
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

LuFactor lu(MatrixView<const double> a, const FactorOptions& options) try {
  const core::FpScope fp;
  factor::check(a, options);
  const auto start = core::Clock::now();
  factor::Equilibration e;
  {
    engine::ThreadPool pool(engine::pool_threads(options.engine.context));
    e = factor::equilibrate(a, pool);
  }
  if (e.row >= 0) {
    auto data = std::make_unique<LuData>();
    data->n = a.rows;
    data->report.outcome = FactorOutcome::non_finite;
    data->report.row = e.row;
    data->report.col = e.col;
    return LuData::make(std::move(data));
  }
  LuFactor factor = factor::lu_scaled(a, e.scale, options);
  FactorReport& report = LuData::of(factor).report;
  report.max_abs = e.max_abs;
  report.times.norms = core::seconds_since(start) - report.times.wall;
  report.times.wall = core::seconds_since(start);
  return factor;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

std::int64_t lu_bytes(std::int64_t n, const FactorOptions& options) try {
  const tiles::RungMap map = factor::map_for(n, options);
  return factor::peak_bytes(map, factor::workers_for(map, options), options);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
