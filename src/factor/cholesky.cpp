// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "core/checked.hpp"
#include "factor/call.hpp"
#include "factor/factor_data.hpp"
#include "factor/left_looking.hpp"
#include "factor/scaling.hpp"
#include "kernels/kernels.hpp"
#include "kernels/scan.hpp"
#include "stepwell/error.hpp"

/// The attempts of a factorization: at the map's rungs first, then with L rounded toward zero, then
/// with growing shifts (Higham & Pranesh, Algorithm 3.1), and in fp64 when none of that helps.
namespace stepwell {
namespace factor {
namespace {

using tiles::Grid;
using tiles::Rounding;
using tiles::RungMap;

/// Below this many tiles a side there is too little to do side by side.
constexpr std::int64_t kTilesForWorkers = 3;
/// Shifts c tried after a breakdown: 1/4, doubled up to 4096 or until c u reaches 1/16. Beyond, the
/// factor would precondition hardly better than the diagonal, and an indefinite matrix would pass
/// for a definite one.
constexpr double kFirstShift = 0.25;
constexpr double kLastShift = 4096;
constexpr double kLargestShift = 0x1p-4;

[[noreturn]] void misuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, "cholesky: " + text);
}

/// One tile for small matrices at fp64 or fp32: the recursion inside it beats LAPACK's own
/// factorization by a sixth there, and a call has nothing to copy or to solve with.
constexpr std::int64_t kOneTile = 1024;

Grid choose_grid(std::int64_t n, const FactorOptions& options) {
  if (n < 0) misuse("a matrix of order " + std::to_string(n));
  const bool plain = !options.map.adaptive() && options.map.layers.size() == 1 &&
                     info(options.map.layers[0]).planes == 0;
  if (plain && options.tile == 0 && n > 0 && n <= kOneTile) {
    return {n, core::round_up(n, kernels::kPanel)};
  }
  return {n, choose_tile(n, options.tile)};
}

void check(MatrixView<const double> a, const FactorOptions& options) {
  if (a.rows != a.cols) {
    misuse("the matrix is " + std::to_string(a.rows) + " x " + std::to_string(a.cols) +
           "; it must be square");
  }
  require_view(a.data, a.rows, a.cols, a.ld, "cholesky: the matrix");
  if (options.spread && options.map.adaptive()) misuse("an adaptive map can't be spread");
  if (!(options.theta > 0 && options.theta <= 1)) misuse("theta must lie in (0, 1]");
  if (!(options.shift >= 0 && options.shift < 1e9)) misuse("shift must be from 0 to 1e9");
}

/// Every T-th row of A from the first on, then from the second on, ... with T block columns: each
/// of them has rows from all over A.
std::vector<std::int64_t> elimination_order(const Grid& grid, const FactorOptions& options) {
  std::vector<std::int64_t> order;
  if (!options.spread || grid.tiles() < 2) return order;
  order.reserve(static_cast<std::size_t>(grid.n));
  for (std::int64_t first = 0; first < grid.tiles(); ++first) {
    for (std::int64_t i = first; i < grid.n; i += grid.tiles()) order.push_back(i);
  }
  return order;
}

engine::GraphOptions workers_for(const RungMap& map, const FactorOptions& options) {
  const bool enough = map.grid().tiles() >= kTilesForWorkers;
  engine::GraphOptions g = graph_options(enough, options.context, options.progress);
  g.scratch_bytes = tiles::scratch_bytes(map);
  if (options.spread) {  // where a block of A is gathered
    g.scratch_bytes = std::max(g.scratch_bytes, 8 * map.grid().tile * map.grid().tile);
  }
  return g;
}

std::int64_t peak_bytes(const RungMap& map, const engine::GraphOptions& g) {
  const auto scans = map.grid().count() * static_cast<std::int64_t>(sizeof(kernels::Scan) + 9);
  return tiles::tile_matrix_bytes(map) + workspace_bytes(map, static_cast<int>(workers_of(g))) +
         workers_of(g) * g.scratch_bytes + scans + map.grid().n * 24;
}

/// The rungs an adaptive map chooses from, cheap to dear. bf16x3 and fp32 are equally accurate; on
/// a matrix engine six bf16 products are the faster ones.
std::vector<Rung> adaptive_ladder() {
  const bool engine = kernels::table().update_at(Rung::bf16x3).isa == core::Isa::amx;
  return {Rung::bf16, Rung::bf16x2, engine ? Rung::bf16x3 : Rung::fp32, Rung::fp64};
}

/// The first element of the lower triangle, column by column, that is not finite.
std::optional<std::pair<std::int64_t, std::int64_t>> find_non_finite(MatrixView<const double> a) {
  const Grid grid{a.rows, kDefaultTile};
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    std::optional<std::pair<std::int64_t, std::int64_t>> first;  // column, row
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      kernels::Scan scan;
      kernels::LoadArgs args;
      args.a = a.block(i * grid.tile, j * grid.tile, grid.size(i), grid.size(j));
      args.shape = i == j ? kernels::Shape::lower : kernels::Shape::full;
      kernels::load(kernels::table(), args, scan);
      if (scan.non_finite == 0) continue;
      const std::pair found{j * grid.tile + scan.bad_col, i * grid.tile + scan.bad_row};
      if (!first || found < *first) first = found;
    }
    if (first) return std::pair{first->second, first->first};
  }
  return std::nullopt;
}

/// ||A||_F and max |a_ij| of the symmetric matrix from the scans of its lower tiles.
void summarize_scans(const Attempt& attempt, const Diagonal& diagonal, FactorReport& report) {
  kernels::Scan lower;
  const Grid& grid = attempt.l->grid();
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      kernels::combine(lower, attempt.scans[static_cast<std::size_t>(grid.index(i, j))],
                       i * grid.tile, j * grid.tile);
    }
  }
  kernels::Scan middle;
  kernels::LoadArgs args;
  args.a = view(diagonal.value.data(), grid.n, std::int64_t{1});
  kernels::load(kernels::table(), args, middle);
  report.max_abs = lower.max_abs;
  kernels::Scan both;  // each element below the diagonal counts twice
  both.big = 2 * lower.big - middle.big;
  both.mid = 2 * lower.mid - middle.mid;
  both.small = 2 * lower.small - middle.small;
  report.norm = kernels::frobenius(both);
}

/// A factorization under way: what does not change between attempts, and the result.
class Cholesky {
 public:
  Cholesky(MatrixView<const double> a, const FactorOptions& options)
      : a_(a),
        options_(options),
        grid_(choose_grid(a.rows, options)),
        order_(elimination_order(grid_, options)),
        diagonal_(read_diagonal(a, order_)),
        start_(std::chrono::steady_clock::now()) {}

  Factor run() {
    data_->n = a_.rows;
    data_->order = order_;
    report().map = to_string(options_.map);
    report().scaling = options_.scaling;
    report().tile = grid_.tile;
    if (!diagonal_.finite) {
      report_non_finite();
    } else if (!diagonal_.positive && options_.escalate) {
      attempt_fp64();  // it can't succeed, and says at which pivot
    } else {
      descend();
    }
    const FactorOutcome outcome = report().outcome;
    if (outcome == FactorOutcome::breakdown || outcome == FactorOutcome::not_positive_definite) {
      report_non_finite();  // then that is why
    }
    report().times.wall = seconds_since(start_);
    return Factor(std::move(data_));
  }

 private:
  FactorReport& report() { return data_->report; }

  /// The attempts, cheapest first.
  void descend() {
    const RungMap map = resolve_map();
    const double u = unit_of(map);
    double shift = options_.shift;
    Rounding rounding = Rounding::nearest;
    if (attempt(map, shift, rounding) || !options_.escalate) return;
    if (report_non_finite()) return;
    if (map.coarsest() == Rung::fp64) return;
    const bool rounds = info(map.coarsest()).planes > 0 && map.coarsest() != Rung::bf16x3;
    if (rounds) {
      rounding = Rounding::toward_zero;
      if (attempt(map, shift, rounding)) return;
    }
    for (shift = std::max(kFirstShift, 2 * shift);
         shift <= kLastShift && shift * u <= kLargestShift; shift *= 2) {
      if (attempt(map, shift, rounding)) return;
    }
    attempt_fp64();
  }

  /// What shifts are counted in: the error that the map makes.
  double unit_of(const RungMap& map) const {
    const bool asked = options_.map.adaptive() && map.coarsest() != Rung::fp64;
    return asked ? options_.map.eps : info(map.coarsest()).unit_roundoff;
  }

  RungMap resolve_map() {
    if (!options_.map.adaptive()) return RungMap(grid_, options_.map);
    const auto start = std::chrono::steady_clock::now();
    const Scale scale = scale_factors(diagonal_, options_.scaling);
    engine::GraphOptions g = workers_for(RungMap(grid_, uniform(Rung::fp32)), options_);
    g.scratch_bytes = tiles::scratch_bytes(grid_.tile);
    announce(options_.progress, grid_.count());
    engine::Graph graph(g);
    const RungMap map(grid_, options_.map.eps, tile_norms(graph, a_, grid_, scale),
                      adaptive_ladder());
    report().times.norms = seconds_since(start);
    return map;
  }

  void attempt_fp64() {
    const RungMap map(grid_, uniform(Rung::fp64));
    attempt(map, 0, Rounding::nearest);
  }

  /// Factors once; returns false if a pivot failed and another attempt may help.
  bool attempt(const RungMap& map, double shift, Rounding rounding) {
    const auto start = std::chrono::steady_clock::now();
    const engine::GraphOptions g = workers_for(map, options_);
    FactorReport& r = report();
    r.peak_bytes = peak_bytes(map, g);
    data_->l = {};
    require_memory(r.peak_bytes, "a factor of order " + std::to_string(grid_.n));
    data_->l = tiles::TileMatrix(map);
    data_->scale = scale_factors(diagonal_, options_.scaling);
    r.mu = choose_mu(map, diagonal_, data_->scale, options_.theta, shift);
    data_->scale.multiply_gain(r.mu);
    r.unit_roundoff = unit_of(map);

    Attempt attempt;
    attempt.a = a_;
    attempt.order = order_;
    attempt.scale = &data_->scale;
    attempt.diagonal_factor = 1 + shift * r.unit_roundoff;
    attempt.rounding = rounding;
    attempt.l = &data_->l;
    announce(options_.progress, task_count(map));
    engine::Graph graph(g);
    left_looking(graph, attempt);

    const bool cancelled = options_.progress != nullptr && options_.progress->cancel;
    const bool all_fp64 = map.coarsest() == Rung::fp64;
    r.outcome = cancelled            ? FactorOutcome::cancelled
                : attempt.pivot.ok() ? FactorOutcome::ok
                : all_fp64           ? FactorOutcome::not_positive_definite
                                     : FactorOutcome::breakdown;
    r.map = to_string(all_fp64 && map.is_uniform() ? uniform(Rung::fp64) : options_.map);
    r.pivot = attempt.pivot.index;
    if (r.pivot >= 0 && !order_.empty()) r.pivot = order_[static_cast<std::size_t>(r.pivot)];
    r.pivot_value = attempt.pivot.value;
    r.tiles = map.counts();
    r.shift = shift;
    r.toward_zero = rounding == Rounding::toward_zero;
    r.bytes = data_->l.bytes();
    book(graph.times(), r.times);
    r.attempts.push_back(
        {r.map, shift, r.toward_zero, r.pivot, r.pivot_value, seconds_since(start)});
    if (r.outcome == FactorOutcome::ok) summarize_scans(attempt, diagonal_, r);
    return r.outcome != FactorOutcome::breakdown;
  }

  bool report_non_finite() {
    const auto found = find_non_finite(a_);
    if (!found) return false;
    report().outcome = FactorOutcome::non_finite;
    report().row = found->first;
    report().col = found->second;
    report().pivot = -1;
    return true;
  }

  MatrixView<const double> a_;
  const FactorOptions& options_;
  Grid grid_;
  std::vector<std::int64_t> order_;
  Diagonal diagonal_;
  std::chrono::steady_clock::time_point start_;
  std::unique_ptr<FactorData> data_ = std::make_unique<FactorData>();
};

}  // namespace
}  // namespace factor

Factor cholesky(MatrixView<const double> a, const FactorOptions& options) {
  const core::FpScope fp;
  factor::check(a, options);
  return factor::Cholesky(a, options).run();
}

std::int64_t factor_bytes(std::int64_t n, const FactorOptions& options) {
  const tiles::Grid grid = factor::choose_grid(n, options);
  const auto peak = [&](const PrecisionMap& p) {
    const tiles::RungMap map(grid, p);
    return factor::peak_bytes(map, factor::workers_for(map, options));
  };
  if (!options.map.adaptive()) return peak(options.map);
  // Tiles at fp64 take the most, packed ones with three planes the most memory beside L.
  const PrecisionMap both{{Rung::bf16x3, Rung::fp64}, 0};
  const auto beside = [&](const PrecisionMap& p) {
    return peak(p) - tiles::tile_matrix_bytes(tiles::RungMap(grid, p));
  };
  return tiles::tile_matrix_bytes(tiles::RungMap(grid, uniform(Rung::fp64))) +
         std::max(beside(both), beside({{Rung::bf16x3, Rung::bf16x3}, 0}));
}

}  // namespace stepwell
