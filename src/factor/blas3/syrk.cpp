// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <new>
#include <optional>

#include "core/buffer.hpp"
#include "core/checks.hpp"
#include "core/clock.hpp"
#include "core/memory_error.hpp"
#include "factor/blas3/residue_syrk.hpp"
#include "factor/blas3/syrk_codelets.hpp"
#include "factor/setup.hpp"
#include "stepwell/error.hpp"
#include "stepwell/level3.hpp"

/// C <- beta C + alpha A A': A is first narrowed into the forms that its products need; then each
/// tile of C is one task.
namespace stepwell {
namespace factor {
namespace {

using engine::Access;
using engine::DataId;
using engine::Use;
using tiles::RungMap;

/// Number of block rows of A that have a copy in rows order at the same time.
constexpr std::int64_t kRing = 2;

/// The finest rung with planes that the map uses, if any.
std::optional<Rung> finest_packed(const RungMap& map) {
  std::optional<Rung> finest;
  for (const Rung rung : mixable_rungs) {
    if (info(rung).planes == 0 || !map.uses(rung)) continue;
    if (!finest || tiles::coarser(*finest, rung) == *finest) finest = rung;
  }
  return finest;
}

/// Whether elements up to 'largest' in size can be narrowed without scaling: no sum overflows, and
/// what underflows is small relative to the rest.
bool in_range(double largest, bool fp16) {
  if (largest == 0) return true;
  return fp16 ? largest >= 0.5 && largest <= 0x1p15 : largest >= 0x1p-40 && largest <= 0x1p50;
}

/// Inserts the three kinds of tasks, and holds their memory and data ids.
class SyrkGraph {
 public:
  SyrkGraph(engine::Graph& graph, const SyrkRules& s, MatrixView<const double> a,
            MatrixView<double> c)
      : graph_(graph), s_(s), narrow_(narrow_bytes(s)), rows_(ring_bytes(s)) {
    const tiles::Grid& grid = s.map.grid();
    for (std::int64_t j = 0; j < grid.tiles(); ++j) {
      if (!a.empty()) a_.push_back(graph.add(a.block(j * grid.tile, 0, grid.size(j), a.cols)));
      for (std::int64_t i = j; i < grid.tiles(); ++i) {
        c_.push_back(graph.add(c.block(i * grid.tile, j * grid.tile, grid.size(i), grid.size(j))));
      }
    }
    const std::int64_t groups = (s.across.tiles() + kSyrkGroup - 1) / kSyrkGroup;
    std::byte* at = narrow_.data();
    for (std::int64_t g = 0; at != nullptr && g < grid.tiles() * groups; ++g) {
      const std::int64_t bytes = group_tiles(g % groups) * s.tile_bytes();
      groups_.push_back(graph.add(at, bytes));
      at += bytes;
    }
    const std::int64_t row = s.across.tiles() * s.packed_bytes();
    for (std::int64_t r = 0; row > 0 && r < kRing; ++r) {
      ring_.push_back(graph.add(rows_.data() + r * row, row));
    }
  }

  static std::int64_t narrow_bytes(const SyrkRules& s) {
    return core::size_product(s.map.grid().tiles(), s.across.tiles(), s.tile_bytes(), "A");
  }
  static std::int64_t ring_bytes(const SyrkRules& s) {
    return kRing * s.across.tiles() * s.packed_bytes();
  }

  bool narrows() const { return !groups_.empty(); }
  std::int64_t task_count() const {
    return std::ssize(groups_) + (ring_.empty() ? 0 : s_.map.grid().tiles()) +
           s_.map.grid().count();
  }

  void narrow(std::int64_t i, SyrkResults& results) {
    for (std::int64_t k0 = 0; k0 < s_.across.tiles() && !groups_.empty(); k0 += kSyrkGroup) {
      const std::int64_t k1 = std::min(k0 + kSyrkGroup, s_.across.tiles());
      const Use uses[] = {{group(i, k0 / kSyrkGroup), Access::write}, {a(i), Access::read}};
      graph_.insert(syrk_narrow_codelet(), SyrkNarrowTask{&s_, &results, i, k0, k1}, uses, {});
    }
  }

  void rows(std::int64_t j) {
    if (ring_.empty()) return;
    std::vector<Use> uses = {{ring(j), Access::write}};
    add_row(j, uses);
    graph_.insert(syrk_rows_codelet(), SyrkRowTask{&s_, j}, uses, {1});
  }

  void tile(std::int64_t i, std::int64_t j) {
    const Rung rung = s_.map.at(i, j);
    const bool overwrites = s_.beta == 0 && i != j;  // above the diagonal C stays as it is
    std::vector<Use> uses = {{c(i, j), overwrites ? Access::write : Access::read_write}};
    if (info(rung).planes > 0) {
      add_row(i, uses);
      if (!ring_.empty()) uses.push_back({ring(j), Access::read});
    } else {
      const auto add = [&](std::int64_t row) {
        if (rung == Rung::fp32) return add_row(row, uses);
        if (!a_.empty()) uses.push_back({a(row), Access::read});
      };
      add(i);
      if (i != j) add(j);
    }
    graph_.insert(syrk_tile_codelet(), SyrkTileTask{&s_, i, j}, uses, {});
  }

 private:
  std::int64_t group_tiles(std::int64_t g) const {
    return std::min(kSyrkGroup, s_.across.tiles() - g * kSyrkGroup);
  }
  DataId group(std::int64_t i, std::int64_t g) const {
    const std::int64_t groups = (s_.across.tiles() + kSyrkGroup - 1) / kSyrkGroup;
    return groups_[static_cast<std::size_t>(i * groups + g)];
  }
  DataId a(std::int64_t i) const { return a_[static_cast<std::size_t>(i)]; }
  DataId c(std::int64_t i, std::int64_t j) const {
    return c_[static_cast<std::size_t>(s_.map.grid().index(i, j))];
  }
  DataId ring(std::int64_t j) const { return ring_[static_cast<std::size_t>(j % kRing)]; }
  void add_row(std::int64_t i, std::vector<Use>& uses) const {
    for (std::int64_t k = 0; k < s_.across.tiles(); k += kSyrkGroup) {
      uses.push_back({group(i, k / kSyrkGroup), Access::read});
    }
  }

  engine::Graph& graph_;
  const SyrkRules& s_;
  core::Buffer<std::byte> narrow_, rows_;
  std::vector<DataId> a_, c_, groups_, ring_;
};

void check(MatrixView<const double> a, MatrixView<double> c) {
  core::require_view(a.data, a.rows, a.cols, a.ld, "syrk: A");
  core::require_view(c.data, c.rows, c.cols, c.ld, "syrk: C");
  if (c.rows == a.rows && c.cols == a.rows) return;
  throw Error(ErrorCode::invalid_argument,
              "syrk: C is " + std::to_string(c.rows) + " x " + std::to_string(c.cols) + "; with " +
                  std::to_string(a.rows) + " rows of A it must be square of that order");
}

/// The power of two that brings elements up to 'largest' in size to the upper part of the range.
double choose_scale(double largest, bool fp16) {
  if (in_range(largest, fp16)) return 1;
  return std::ldexp(1.0, (fp16 ? 9 : 0) - std::ilogb(largest));
}

/// At int8x14: no tasks, because sums are exact and need no order.
Level3Report in_residues(double alpha, MatrixView<const double> a, double beta,
                         MatrixView<double> c, const Level3Options& options) {
  const auto start = core::Clock::now();
  engine::ThreadPool pool(engine::pool_threads(options.engine.context));
  Level3Report report;
  report.peak_bytes = residue_syrk_bytes(a.rows, a.cols, pool.size());
  core::require_memory(report.peak_bytes, "syrk: the residues of A");
  report.cancelled = !residue_syrk(pool, alpha, a, beta, c, options.engine.progress);
  report.times.workers = pool.size();
  report.times.wall = report.times.update = core::seconds_since(start);
  return report;
}

}  // namespace
}  // namespace factor

Level3Report syrk(double alpha, MatrixView<const double> a, double beta, MatrixView<double> c,
                  const Level3Options& options) try {
  using namespace factor;
  const auto start = core::Clock::now();
  check(a, c);
  if (options.map == uniform(Rung::int8x14)) return in_residues(alpha, a, beta, c, options);
  SyrkRules s;
  SyrkResults results;
  s.alpha = alpha;
  s.beta = beta;
  const std::int64_t tile = choose_tile(std::max(a.rows, a.cols), options.tile);
  tiles::require_mixable(options.map, "syrk");
  s.map = RungMap({a.rows, tile}, options.map);
  s.across = {a.cols, tile};
  if (const auto finest = finest_packed(s.map)) {
    s.packed = *finest;
    s.planes = info(*finest).planes;
  }
  s.fp32 = s.map.uses(Rung::fp32);

  engine::GraphOptions g =
      graph_options(s.map.grid().count(), options.engine.context, options.engine.progress);
  g.scratch_bytes = syrk_scratch_bytes(tile);
  Level3Report report;
  report.peak_bytes =
      SyrkGraph::narrow_bytes(s) + SyrkGraph::ring_bytes(s) + workers_of(g) * g.scratch_bytes;
  core::require_memory(report.peak_bytes, "syrk: the narrow copy of A");

  engine::Graph graph(g);
  SyrkGraph insert(graph, s, a, c);
  const engine::TaskGuard guard(graph);
  const std::int64_t tiles = s.map.grid().tiles();
  announce(options.engine.progress, insert.task_count());
  const auto narrow_all = [&] {
    for (std::int64_t i = 0; i < tiles; ++i) insert.narrow(i, results);
    graph.wait();
  };
  narrow_all();
  s.scale = choose_scale(results.largest, s.map.uses(Rung::fp16));
  if (s.scale != 1 && insert.narrows()) narrow_all();
  for (std::int64_t j = 0; j < tiles && !graph.stopped(); ++j) {
    insert.rows(j);
    for (std::int64_t i = j; i < tiles; ++i) insert.tile(i, j);
  }
  finish(graph, start, report);
  return report;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
