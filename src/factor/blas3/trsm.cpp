// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <new>

#include "core/buffer.hpp"
#include "core/checks.hpp"
#include "core/clock.hpp"
#include "core/memory_error.hpp"
#include "factor/blas3/syrk_codelets.hpp"
#include "factor/blas3/trsm_codelets.hpp"
#include "factor/cholesky/codelets.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "factor/setup.hpp"
#include "stepwell/error.hpp"
#include "stepwell/level3.hpp"

/// B <- B L^-T: the block rows of B are treated like those of L in the factorization, with a
/// left-looking sweep over the previous columns, then a product with the inverted diagonal blocks.
namespace stepwell {
namespace factor {
namespace {

using engine::Access;
using engine::DataId;
using engine::Use;
using tiles::RungMap;

/// Number of block columns of L that are prepared at the same time.
constexpr std::int64_t kRing = 2;

std::int64_t solution_bytes(const TrsmRules& rules) {
  std::int64_t bytes = 0;
  for (std::int64_t i = 0; i < rules.down.tiles(); ++i) {
    for (std::int64_t j = 0; j < rules.across().tiles(); ++j) bytes += rules.shape(i, j).bytes();
  }
  return bytes;
}

/// With the stored factor L', L = diag(1 / scale.row) L' / sqrt(gain), so
/// B L^-T = sqrt(gain) B diag(scale.row) L'^-T.
class TrsmGraph {
 public:
  TrsmGraph(engine::Graph& graph, const TrsmRules& rules, const FactorData& factor,
            MatrixView<double> b)
      : graph_(graph),
        rules_(rules),
        row_(static_cast<std::size_t>(b.rows)),
        solution_(solution_bytes(rules)),
        ring_(kRing * ring_bytes(*rules.map)) {
    const RungMap& map = *rules.map;
    col_factors_ = graph.add(factor.scale.row.data(), 8 * b.cols);
    std::byte* at = ring_.data();
    for (std::int64_t r = 0; r < kRing; ++r) {
      inverses_.push_back(graph.add(at, inverse_bytes(map)));
      at += inverse_bytes(map);
      const std::int64_t row = map.grid().tiles() * row_stride(map);
      if (row > 0) rows_.push_back(graph.add(at, row));
      at += row;
    }
    at = solution_.data();
    for (std::int64_t i = 0; i < rules.down.tiles(); ++i) {
      const std::int64_t first = i * rules.down.tile;
      const std::int64_t rows = rules.down.size(i);
      row_factors_.push_back(graph.add(row_.data() + first, 8 * rows));
      for (std::int64_t j = 0; j < map.grid().tiles(); ++j) {
        x_.push_back(graph.add(at, rules.shape(i, j).bytes()));
        at += rules.shape(i, j).bytes();
        b_.push_back(graph.add(b.block(first, j * map.grid().tile, rows, map.grid().size(j))));
      }
    }
    for (std::int64_t j = 0; j < map.grid().tiles(); ++j) {
      for (std::int64_t i = j; i < map.grid().tiles(); ++i) {
        const tiles::TileIn tile = factor.l.tile(i, j);
        l_.push_back(graph.add(tile.data, tile.shape.bytes()));
      }
    }
  }

  static std::int64_t ring_bytes(const RungMap& map) {
    return inverse_bytes(map) + map.grid().tiles() * row_stride(map);
  }

  /// Computes the factors of block row i of B.
  void scale(std::int64_t i) {
    std::vector<Use> uses = {{row_factors(i), Access::write}, {col_factors_, Access::read}};
    for (std::int64_t j = 0; j < rules_.across().tiles(); ++j) {
      uses.push_back({b(i, j), Access::read});
    }
    graph_.insert(trsm_scale_codelet(), TrsmTask{&rules_, i, 0}, uses, {});
  }

  /// Prepares block column j of L: inverts its diagonal blocks and copies block row j to rows
  /// order.
  void prepare(std::int64_t j) {
    const Use inverse[] = {{this->inverse(j), Access::write}, {l(j, j), Access::read}};
    graph_.insert(trsm_invert_codelet(), TrsmTask{&rules_, 0, j}, inverse, {1});
    if (rows_.empty() || j == 0) return;
    std::vector<Use> uses = {{rows(j), Access::write}};
    for (std::int64_t k = 0; k < j; ++k) uses.push_back({l(j, k), Access::read});
    graph_.insert(rows_codelet(), RowsTask{rules_.map, j, 0, j}, uses, {1});
  }

  void tile(std::int64_t i, std::int64_t j) {
    std::vector<Use> uses = {{b(i, j), Access::read_write},
                             {row_factors(i), Access::read},
                             {col_factors_, Access::read}};
    if (!rows_.empty() && j > 0) uses.push_back({rows(j), Access::read});
    for (std::int64_t k = 0; k < j; ++k) uses.push_back({x(i, k), Access::read});
    for (std::int64_t k = 0; k < j; ++k) {
      if (info(rules_.map->at(j, k)).planes == 0) uses.push_back({l(j, k), Access::read});
    }
    uses.push_back({x(i, j), Access::write});
    uses.push_back({inverse(j), Access::read});
    graph_.insert(trsm_tile_codelet(), TrsmTask{&rules_, i, j}, uses, {});
  }

 private:
  DataId inverse(std::int64_t j) const { return inverses_[static_cast<std::size_t>(j % kRing)]; }
  DataId rows(std::int64_t j) const { return rows_[static_cast<std::size_t>(j % kRing)]; }
  DataId row_factors(std::int64_t i) const { return row_factors_[static_cast<std::size_t>(i)]; }
  DataId b(std::int64_t i, std::int64_t j) const { return b_[index(i, j)]; }
  DataId x(std::int64_t i, std::int64_t j) const { return x_[index(i, j)]; }
  std::size_t index(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * rules_.across().tiles() + j);
  }
  DataId l(std::int64_t i, std::int64_t j) const {
    return l_[static_cast<std::size_t>(rules_.across().index(i, j))];
  }

  engine::Graph& graph_;
  const TrsmRules& rules_;
  std::vector<double> row_;  ///< factors of B's rows
  core::Buffer<std::byte> solution_, ring_;
  std::vector<DataId> inverses_, rows_, row_factors_, x_, b_, l_;
  DataId col_factors_ = 0;
};

void check(const Factor& l, MatrixView<double> b) {
  if (!l.ok()) throw Error(ErrorCode::invalid_argument, "trsm: the factorization did not succeed");
  if (!l.permutation().empty()) {
    throw Error(ErrorCode::invalid_argument, "trsm: the factor is of a permuted matrix");
  }
  core::require_view(b.data, b.rows, b.cols, b.ld, "trsm: B");
  if (b.cols == l.order()) return;
  throw Error(ErrorCode::invalid_argument, "trsm: B has " + std::to_string(b.cols) +
                                               " columns; the factor's order is " +
                                               std::to_string(l.order()));
}

}  // namespace
}  // namespace factor

Level3Report trsm(const Factor& l, MatrixView<double> b, const Level3Options& options) try {
  using namespace factor;
  const auto start = core::Clock::now();
  check(l, b);
  const RungMap& map = FactorData::of(l).l.map();
  const TrsmRules rules{&map, {b.rows, map.grid().tile}, std::sqrt(FactorData::of(l).scale.gain)};
  const std::int64_t down = rules.down.tiles();
  const std::int64_t across = map.grid().tiles();
  engine::GraphOptions g = graph_options(down * across > 2 ? down * across : 1,
                                         options.engine.context, options.engine.progress);
  g.scratch_bytes = syrk_scratch_bytes(map.grid().tile);
  Level3Report report;
  report.peak_bytes =
      solution_bytes(rules) + kRing * TrsmGraph::ring_bytes(map) + workers_of(g) * g.scratch_bytes;
  core::require_memory(report.peak_bytes, "trsm: the narrow copy of the solution");

  engine::Graph graph(g);
  announce(options.engine.progress, down + across * (down + (map.most_planes() > 0 ? 2 : 1)) -
                                        (map.most_planes() > 0 && across > 0 ? 1 : 0));
  TrsmGraph insert(graph, rules, FactorData::of(l), b);
  const engine::TaskGuard guard(graph);
  for (std::int64_t i = 0; i < down; ++i) insert.scale(i);
  for (std::int64_t j = 0; j < across && !graph.stopped(); ++j) {
    insert.prepare(j);
    for (std::int64_t i = 0; i < down; ++i) insert.tile(i, j);
  }
  finish(graph, start, report);
  return report;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
