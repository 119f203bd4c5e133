// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/cholesky/graph.hpp"

#include <algorithm>

#include "factor/cholesky/checkpointing.hpp"
#include "factor/cholesky/codelets.hpp"
#include "factor/cholesky/input_data.hpp"
#include "factor/cholesky/workspace.hpp"
#include "factor/distributed/broadcast_tree.hpp"
#include "factor/setup.hpp"

namespace stepwell::factor {
namespace {

using engine::Access;
using engine::DataId;
using engine::Graph;
using engine::Hints;
using engine::Use;
using tiles::Distribution;
using tiles::Grid;
using tiles::RungMap;

/// Walks the schedule and inserts this rank's tasks and messages.
class Inserter {
 public:
  Inserter(Graph& graph, CholeskyState& state, const Schedule& schedule)
      : graph_(graph),
        state_(state),
        map_(state.l->map()),
        owners_(state.l->distribution()),
        inputs_(graph, state.source, state.scale, state.diagonal, map_.grid()),
        rules_{&map_, inputs_.rules(), state.diagonal_factor, state.rounding},
        space_(graph, *state.l, schedule, state.rank),
        many_workers_(owners_.ranks() == 1 && are_many(graph.workers(), map_.grid())) {}

  /// Copies row j of L, columns [k0, k1), to rows order, if this rank owns a tile of column j.
  void rows(std::int64_t j, std::int64_t k0, std::int64_t k1) {
    if (!has_row_copies(map_) || done() || !column_is_ours(j)) return;
    space_.begin_row(k0);
    const std::int64_t early = std::min(k1, j - 1);
    for (std::int64_t k = k0; k < early; k += kChunk) {
      copy_row(space_.rows(k), j, k, std::min(k + kChunk, early));
    }
    if (k1 == j) copy_row(space_.last_row(), j, j - 1, j);
  }

  /// A(i, j) -= sum_k L(i, k) L(j, k)'; the last piece also factors the tile or solves with the
  /// factor.
  void piece(const Piece& p) {
    if (done() || !ours(p.i, p.j)) return;
    const bool divided = many_workers_ && is_near(p.i, p.j);
    const TileTask x{&rules_, &state_.results, p.i, p.j, p.k0, p.k1, p.first, divided};
    std::vector<Use> uses = operands(x, map_.residues() > 0 ? p.last : p.first);
    if (p.last) {
      if (!shape_of(map_, p.i, p.j).is_plain()) {
        uses.push_back({space_.tile(p.i, p.j), Access::write});
      }
      if (needs_inverse(map_, p.j)) {
        uses.push_back({space_.inverse(p.j), p.i == p.j ? Access::write : Access::read});
      }
    }
    const Rung rung = map_.at(p.i, p.j);
    graph_.insert(!p.last      ? sweep_codelet(rung)
                  : p.i == p.j ? diagonal_codelet(rung)
                               : solve_codelet(rung),
                  x, uses, hints(x, p.last));
  }

  /// Sends L(i, j), or the inverse of a diagonal tile, along the broadcast tree to the ranks that
  /// need it.
  void finished(std::int64_t i, std::int64_t j) {
    if (owners_.ranks() == 1) return;
    const Grid& grid = map_.grid();
    const int owner = owners_.owner(i, j);
    const bool comes = i == j ? column_is_ours(j) : owners_.reads(grid, state_.rank, i, j);
    if (owner != state_.rank && !comes) return;
    const BroadcastNode node = broadcast_node(receivers(owners_, grid, i, j), owner, state_.rank);
    const auto tag = static_cast<int>(grid.index(i, j));
    const std::int64_t bytes =
        i == j ? inverse_of(map_, j, nullptr).bytes_to_solve_with() : shape_of(map_, i, j).bytes();
    if (node.from >= 0) {
      graph_.receive(i == j ? space_.inverse(j) : space_.place_for(i, j), bytes, node.from, tag);
    }
    for (const int to : node.to) {
      const DataId data = i == j ? space_.inverse(j) : space_.tile(i, j);
      graph_.send(data, bytes, to, tag, priority(grid, i, j));
    }
  }

  /// Restores the tiles from residues to FP64, each as soon as nothing reads its residues.
  void restore() {
    const Grid& grid = map_.grid();
    for (std::int64_t i = 0; i < grid.tiles(); ++i) {
      for (std::int64_t j = 0; j <= i && !done(); ++j) {
        if (!ours(i, j)) continue;
        graph_.insert(restore_codelet(), RestoreTask{&map_, &state_.results, i, j},
                      std::vector<Use>{{space_.tile(i, j), Access::read_write}}, {});
      }
    }
  }

  /// The complete state after the first 'columns' columns, when no task runs: finished tiles, the
  /// sums of the other tiles, and the scans of A.
  std::vector<tiles::SavedPiece> state(std::int64_t columns) const {
    const auto scans = std::as_writable_bytes(std::span(state_.results.scans));
    std::vector<tiles::SavedPiece> pieces = {{-1, scans}};
    const Grid& grid = map_.grid();
    for (std::int64_t j = 0; j < grid.tiles(); ++j) {
      for (std::int64_t i = j; i < grid.tiles(); ++i) {
        if (!ours(i, j)) continue;
        const tiles::Tile tile = state_.l->tile(i, j);
        const bool finished = j < columns || tile.shape.is_plain();
        const tiles::Sums sums{tile.shape.rung, grid.size(i), grid.size(j), nullptr};
        const auto bytes = static_cast<std::size_t>(finished ? tile.shape.bytes() : sums.bytes());
        pieces.push_back(
            {grid.index(i, j), {finished ? tile.data : space_.sums_memory(i, j), bytes}});
      }
    }
    return pieces;
  }

 private:
  bool ours(std::int64_t i, std::int64_t j) const { return state_.l->owns(i, j); }

  bool column_is_ours(std::int64_t j) const {
    if (owners_.ranks() == 1) return true;
    if (j != column_) {
      column_ = j;
      column_ours_ = false;
      for (std::int64_t i = j; i < map_.grid().tiles() && !column_ours_; ++i) {
        column_ours_ = ours(i, j);
      }
    }
    return column_ours_;
  }

  /// A single rank need not insert more tasks after a stop: no other rank waits for them.
  bool done() const { return owners_.ranks() == 1 && graph_.stopped(); }

  void copy_row(DataId copies, std::int64_t j, std::int64_t k0, std::int64_t k1) {
    std::vector<Use> uses = {{copies, Access::write}};
    for (std::int64_t k = k0; k < k1; ++k) uses.push_back({space_.tile(j, k), Access::read});
    graph_.insert(rows_codelet(), RowsTask{&map_, j, k0, k1, many_workers_}, uses,
                  {priority(map_.grid(), j, j), 0, footprint(k1 - k0, many_workers_)});
  }

  std::vector<Use> operands(const TileTask& x, bool loads) {
    const bool in_place = shape_of(map_, x.i, x.j).is_plain();
    std::vector<Use> uses = {{in_place ? space_.tile(x.i, x.j) : space_.sums(x.i, x.j),
                              x.first ? Access::write : Access::read_write}};
    if (loads) inputs_.use(x.i, x.j, uses);
    const RowPieces rows = row_pieces(map_, x.j, x.k0, x.k1);
    if (rows.early) uses.push_back({space_.rows(x.k0), Access::read});
    if (rows.last) uses.push_back({space_.last_row(), Access::read});
    for (std::int64_t k = x.k0; k < x.k1; ++k) {
      uses.push_back({space_.tile(x.i, k), Access::read});
    }
    for (std::int64_t k = x.k0; k < x.k1 && x.i != x.j; ++k) {
      if (shape_of(map_, x.j, k).is_plain()) uses.push_back({space_.tile(x.j, k), Access::read});
    }
    if (loads && map_.residues() > 0 && reads_left_tile(x.j, x.k0, x.k1)) {
      uses.push_back({space_.tile(x.i, x.j - 1), Access::read});
    }
    return uses;
  }

  Hints hints(const TileTask& x, bool last) const {
    const Grid& g = map_.grid();
    const auto rows = static_cast<double>(g.size(x.i));
    const auto cols = static_cast<double>(g.size(x.j));
    const auto depth = static_cast<double>((x.k1 - x.k0) * g.tile);
    const double share = x.i == x.j ? 0.5 : 1;  // only the lower half of a diagonal tile is updated
    const double flops = share * 2 * rows * cols * depth +
                         (!last ? 0 : (x.i == x.j ? 1.0 / 3 : 1) * rows * cols * cols);
    const unsigned variant = (x.first ? 2 : 0) + (g.size(x.i) < g.tile ? 1 : 0);
    return {priority(g, x.i, x.j), flops, footprint(x.k1 - x.k0, x.divided, variant)};
  }

  Graph& graph_;
  CholeskyState& state_;
  const RungMap& map_;
  const Distribution& owners_;
  InputData inputs_;
  const CholeskyRules rules_;
  Workspace space_;
  const bool many_workers_;
  mutable std::int64_t column_ = -1;  ///< the column of the last query
  mutable bool column_ours_ = false;
};

bool needs_restoring(const RungMap& map) {
  return map.residues() > 0 && !map.stores_numbers();
}

/// Counts the tasks that an Inserter would insert.
struct Counter {
  const RungMap& map;
  const Distribution& owners;
  int rank;
  std::int64_t tasks = 0;

  void rows(std::int64_t j, std::int64_t k0, std::int64_t k1) {
    if (!has_row_copies(map)) return;
    bool ours = false;
    for (std::int64_t i = j; i < map.grid().tiles() && !ours; ++i) {
      ours = owners.owner(i, j) == rank;
    }
    if (!ours) return;
    const std::int64_t early = std::max<std::int64_t>(0, std::min(k1, j - 1) - k0);
    tasks += (early + kChunk - 1) / kChunk + (k1 == j ? 1 : 0);
  }
  void piece(const Piece& p) {
    if (owners.owner(p.i, p.j) == rank) ++tasks;
  }
  void finished(std::int64_t, std::int64_t) {}
};

}  // namespace

std::int64_t task_count(const RungMap& map, const Distribution& distribution,
                        const Schedule& schedule, int rank) {
  Counter counter{map, distribution, rank};
  schedule.walk(counter);
  return counter.tasks + (needs_restoring(map) ? map.grid().count() : 0);
}

void left_looking(Graph& graph, CholeskyState& state, const Schedule& schedule) {
  const Grid& grid = state.l->grid();
  state.results.pivot = {};
  state.results.wrong_sums = {};
  state.results.scans.assign(static_cast<std::size_t>(grid.count()), {});
  Inserter insert(graph, state, schedule);
  const engine::TaskGuard guard(graph);
  Checkpointing* const saved = state.checkpoints;
  const auto pieces = [&](std::int64_t columns) { return insert.state(columns); };
  std::int64_t column = saved != nullptr ? saved->restore(graph, pieces) : 0;
  while (column < grid.tiles()) {
    schedule.walk_window(insert, column);
    column = std::min(column + schedule.window, grid.tiles());
    if (saved != nullptr && saved->due(column) && !saved->save(graph, column, pieces)) break;
  }
  if (needs_restoring(state.l->map())) insert.restore();
  graph.wait();
}

std::vector<double> tile_norms(Graph& graph, const BlockSource& source, const Grid& grid,
                               const Scale& scale, const Distribution& distribution, int rank) {
  NormResults results{std::vector<double>(static_cast<std::size_t>(grid.count()))};
  InputData inputs(graph, &source, &scale, {}, grid);
  const engine::TaskGuard guard(graph);
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      if (distribution.owner(i, j) != rank) continue;
      std::vector<Use> uses;
      inputs.use(i, j, uses);
      graph.insert(norm_codelet(), NormTask{grid, inputs.rules(), &results, i, j}, uses, {});
    }
  }
  graph.wait();
  return std::move(results.norms);
}

}  // namespace stepwell::factor
