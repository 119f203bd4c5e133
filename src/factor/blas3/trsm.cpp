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
#include "factor/cholesky/codelets.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "factor/setup.hpp"
#include "kernels/kernels.hpp"
#include "stepwell/error.hpp"
#include "stepwell/level3.hpp"

/// B <- B L^-T: the block rows of B are treated like those of L in the factorization, with a
/// left-looking sweep over the previous columns, then a product with the inverted diagonal blocks.
namespace stepwell {
namespace factor {
namespace {

using engine::Access;
using engine::DataId;
using engine::Phase;
using engine::Task;
using engine::Use;
using tiles::Grid;
using tiles::RungMap;

/// Number of block columns of L that are prepared at the same time.
constexpr std::int64_t kRing = 2;

/// State shared by the tasks. With the stored factor L', L = diag(1 / scale.row) L' / sqrt(gain),
/// so B L^-T = sqrt(gain) B diag(scale.row) L'^-T.
struct Trsm {
  const FactorData* factor = nullptr;
  MatrixView<double> b;
  Grid down;                ///< grid of B's rows
  std::vector<double> row;  ///< powers of two that bring each row's largest element near 1

  const RungMap& map() const { return factor->l.map(); }
  const Grid& across() const { return factor->l.grid(); }
  /// X(i, j) has the rung of the diagonal tile that it is solved with.
  tiles::TileShape shape(std::int64_t i, std::int64_t j) const {
    return {map().at(j, j), down.size(i), across().size(j)};
  }
};

struct TrsmTask {
  Trsm* s;
  std::int64_t i, j;
};

/// Computes the scale factors of block row i. Data: none, because B belongs to the caller.
void run_scale(Task& task, const void* arguments) {
  const auto& x = *static_cast<const TrsmTask*>(arguments);
  const std::int64_t first = x.i * x.s->down.tile;
  const std::int64_t rows = x.s->down.size(x.i);
  double* const largest = x.s->row.data() + first;
  for (std::int64_t j = 0; j < x.s->b.cols; ++j) {
    const double* const column = x.s->b.column(j) + first;
    const double col = x.s->factor->scale.row[static_cast<std::size_t>(j)];
    for (std::int64_t r = 0; r < rows; ++r) {
      const double size = std::abs(column[r]) * col;
      largest[r] = size > largest[r] ? size : largest[r];
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const bool usable = largest[r] > 0 && std::isfinite(largest[r]);
    largest[r] = usable ? std::ldexp(1.0, -std::clamp(std::ilogb(largest[r]), -1000, 1000)) : 1;
  }
  task.lap(Phase::load);
}

/// Data: the inverse of column j (write), L(j, j) (read).
void run_invert(Task& task, const void* arguments) {
  const auto& x = *static_cast<const TrsmTask*>(arguments);
  tiles::invert_stored(kernels::table(), {shape_of(x.s->map(), x.j, x.j), task.data(1)},
                       inverse_of(x.s->map(), x.j, task.data(0)), task.scratch());
  task.lap(Phase::diagonal);
}

template <class T>
void write_back(MatrixView<const T> x, const std::vector<double>& unscale, MatrixView<double> b) {
  const core::FpScope fp;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    const T* const from = x.column(c);
    double* const to = b.column(c);
    for (std::int64_t r = 0; r < b.rows; ++r) {
      to[r] = static_cast<double>(from[r]) * unscale[static_cast<std::size_t>(r)];
    }
  }
}

/// Data: row j of L in rows order (read, if it exists), X(i, k) for k < j (read), L(j, k) where it
/// is plain (read), X(i, j) (write), the inverse of column j (read).
void run_tile(Task& task, const void* arguments) {
  const auto& x = *static_cast<const TrsmTask*>(arguments);
  Trsm& s = *x.s;
  const kernels::Table& t = kernels::table();
  const RungMap& map = s.map();
  const std::int64_t row = x.i * s.down.tile;
  const std::int64_t col = x.j * s.across().tile;
  const tiles::TileShape shape = s.shape(x.i, x.j);
  const tiles::Sums sums{shape.rung, shape.rows, shape.cols, task.scratch()};
  std::byte* const scratch = task.scratch() + core::round_up(sums.bytes(), 64);
  const MatrixView<double> b = s.b.block(row, col, shape.rows, shape.cols);
  const double* const scale = s.row.data() + row;
  kernels::Scan scan;
  tiles::load_tile(t, b, tiles::Shape::full, {scale, s.factor->scale.row.data() + col}, 1, sums,
                   scan);
  task.lap(Phase::load);

  std::size_t next = 0;
  std::byte* const copies = map.most_planes() > 0 && x.j > 0 ? task.data(next++) : nullptr;
  std::vector<tiles::TileIn> left;
  for (std::int64_t k = 0; k < x.j; ++k) left.push_back({s.shape(x.i, k), task.data(next++)});
  std::vector<tiles::RightTile> right;
  for (std::int64_t k = 0; k < x.j; ++k) {
    tiles::TileIn stored{shape_of(map, x.j, k), nullptr};
    if (!stored.shape.is_packed()) stored.data = task.data(next++);
    right.push_back({stored, rows_of(map, x.j, k, 0, copies)});
  }
  tiles::sweep(t, sums, left, right, tiles::Shape::full, scratch);
  task.lap(Phase::update);

  tiles::solve_tile(t, inverse_of(map, x.j, task.data(next + 1)), sums, tiles::Rounding::nearest,
                    {shape, task.data(next)}, scratch);
  std::vector<double> unscale(static_cast<std::size_t>(b.rows));
  const double gain = std::sqrt(s.factor->scale.gain);
  for (std::size_t r = 0; r < unscale.size(); ++r) unscale[r] = gain / scale[r];
  if (sums.wide()) {
    write_back<double>(sums.fp64(), unscale, b);
  } else {
    write_back<float>(sums.fp32(), unscale, b);
  }
  task.lap(Phase::solve);
}

const engine::Codelet& scale_codelet() {
  static const auto* const codelet = new engine::Codelet("trsm_scale", run_scale);
  return *codelet;
}
const engine::Codelet& invert_codelet() {
  static const auto* const codelet = new engine::Codelet("trsm_invert", run_invert);
  return *codelet;
}
const engine::Codelet& trsm_codelet() {
  static const auto* const codelet = new engine::Codelet("trsm_tile", run_tile);
  return *codelet;
}

std::int64_t solution_bytes(const Trsm& s) {
  std::int64_t bytes = 0;
  for (std::int64_t i = 0; i < s.down.tiles(); ++i) {
    for (std::int64_t j = 0; j < s.across().tiles(); ++j) bytes += s.shape(i, j).bytes();
  }
  return bytes;
}

class TrsmGraph {
 public:
  TrsmGraph(engine::Graph& graph, Trsm& s)
      : graph_(graph), s_(s), solution_(solution_bytes(s)), ring_(kRing * ring_bytes(s.map())) {
    const RungMap& map = s.map();
    std::byte* at = ring_.data();
    for (std::int64_t r = 0; r < kRing; ++r) {
      inverses_.push_back(graph.add(at, inverse_bytes(map)));
      at += inverse_bytes(map);
      const std::int64_t row = map.grid().tiles() * row_stride(map);
      if (row > 0) rows_.push_back(graph.add(at, row));
      at += row;
    }
    at = solution_.data();
    for (std::int64_t i = 0; i < s.down.tiles(); ++i) {
      for (std::int64_t j = 0; j < map.grid().tiles(); ++j) {
        x_.push_back(graph.add(at, s.shape(i, j).bytes()));
        at += s.shape(i, j).bytes();
      }
    }
    for (std::int64_t j = 0; j < map.grid().tiles(); ++j) {
      for (std::int64_t i = j; i < map.grid().tiles(); ++i) {
        const tiles::Tile tile = s.factor->l.tile(i, j);
        l_.push_back(graph.add(tile.data, tile.shape.bytes()));
      }
    }
  }

  static std::int64_t ring_bytes(const RungMap& map) {
    return inverse_bytes(map) + map.grid().tiles() * row_stride(map);
  }

  /// Prepares block column j of L: inverts its diagonal blocks and copies block row j to rows
  /// order.
  void prepare(std::int64_t j) {
    const Use inverse[] = {{this->inverse(j), Access::write}, {l(j, j), Access::read}};
    graph_.insert(invert_codelet(), TrsmTask{&s_, 0, j}, inverse, {1, 0, 0});
    if (rows_.empty() || j == 0) return;
    std::vector<Use> uses = {{rows(j), Access::write}};
    for (std::int64_t k = 0; k < j; ++k) uses.push_back({l(j, k), Access::read});
    graph_.insert(rows_codelet(), RowsTask{&s_.factor->l, j, 0, j}, uses, {1, 0, 0});
  }

  void tile(std::int64_t i, std::int64_t j) {
    std::vector<Use> uses;
    if (!rows_.empty() && j > 0) uses.push_back({rows(j), Access::read});
    for (std::int64_t k = 0; k < j; ++k) uses.push_back({x(i, k), Access::read});
    for (std::int64_t k = 0; k < j; ++k) {
      if (info(s_.map().at(j, k)).planes == 0) uses.push_back({l(j, k), Access::read});
    }
    uses.push_back({x(i, j), Access::write});
    uses.push_back({inverse(j), Access::read});
    graph_.insert(trsm_codelet(), TrsmTask{&s_, i, j}, uses, {});
  }

 private:
  DataId inverse(std::int64_t j) const { return inverses_[static_cast<std::size_t>(j % kRing)]; }
  DataId rows(std::int64_t j) const { return rows_[static_cast<std::size_t>(j % kRing)]; }
  DataId x(std::int64_t i, std::int64_t j) const {
    return x_[static_cast<std::size_t>(i * s_.across().tiles() + j)];
  }
  DataId l(std::int64_t i, std::int64_t j) const {
    return l_[static_cast<std::size_t>(s_.across().index(i, j))];
  }

  engine::Graph& graph_;
  Trsm& s_;
  core::Buffer<std::byte> solution_, ring_;
  std::vector<DataId> inverses_, rows_, x_, l_;
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
  Trsm s;
  s.factor = &FactorData::of(l);
  s.b = b;
  s.down = {b.rows, s.across().tile};
  s.row.assign(static_cast<std::size_t>(b.rows), 0.0);
  const std::int64_t down = s.down.tiles();
  const std::int64_t across = s.across().tiles();
  engine::GraphOptions g =
      graph_options(down * across > 2, options.engine.context, options.engine.progress);
  g.scratch_bytes = syrk_scratch_bytes(s.across().tile);
  Level3Report report;
  report.peak_bytes =
      solution_bytes(s) + kRing * TrsmGraph::ring_bytes(s.map()) + workers_of(g) * g.scratch_bytes;
  core::require_memory(report.peak_bytes, "trsm: the narrow copy of the solution");

  engine::Graph graph(g);
  announce(options.engine.progress, down + across * (down + (s.map().most_planes() > 0 ? 2 : 1)) -
                                        (s.map().most_planes() > 0 && across > 0 ? 1 : 0));
  TrsmGraph insert(graph, s);
  const engine::TaskGuard guard(graph);
  for (std::int64_t i = 0; i < down; ++i) {
    graph.insert(scale_codelet(), TrsmTask{&s, i, 0}, {}, {});
  }
  graph.wait();
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
