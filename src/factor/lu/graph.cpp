// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/lu/graph.hpp"

#include <numeric>

#include "core/buffer.hpp"

/// LU factorization by block rows, left-looking, with one row of lookahead (Haidar et al., section
/// 4.3.2, whose panels are in fp32 and whose updates are in half precision).
///
/// While one core factors block row j, the others prepare block row j + 1 with everything except
/// row j's own contribution. Row j's exchanges are applied to the prepared row afterwards, as
/// exchanges of its columns. G(j, k) needs only rows of L in their final positions, so these tasks
/// run as far ahead as there is time for.
namespace stepwell::factor {
namespace {

using engine::Access;
using engine::DataId;
using engine::Graph;
using engine::Use;
using tiles::Grid;

/// The data ids that tasks depend on. Several of them refer to the same memory (rows of L that are
/// final, and rows that still change places), so they stand for states, not for bytes.
class Names {
 public:
  Names(Graph& graph, std::int64_t tiles) : bytes_(static_cast<std::size_t>(6 * tiles + 1)) {
    std::size_t next = 0;
    const auto take = [&](std::int64_t count) {
      std::vector<DataId> ids;
      for (std::int64_t k = 0; k < count; ++k) ids.push_back(graph.add(&bytes_[next++], 1));
      return ids;
    };
    solved_ = take(tiles);
    panel_ = take(tiles);
    fixed_ = take(tiles);
    right_ = take(tiles);
    x_ = take(2 * tiles);
    moving_ = take(1)[0];
    tiles_ = tiles;
  }

  DataId solved(std::int64_t j) const { return at(solved_, j); }  ///< G(j, k) of block row j
  DataId panel(std::int64_t j) const { return at(panel_, j); }  ///< exchanges and inverse of row j
  DataId fixed(std::int64_t k) const { return at(fixed_, k); }  ///< row k of L, in final form
  DataId right(std::int64_t i) const { return at(right_, i); }  ///< the newest tile of row i of L
  DataId moving() const { return moving_; }  ///< rows of L below the newest panel, and the order
  DataId x(std::int64_t j, std::int64_t i) const { return at(x_, j % 2 * tiles_ + i); }

 private:
  static DataId at(const std::vector<DataId>& ids, std::int64_t k) {
    return ids[static_cast<std::size_t>(k)];
  }
  std::vector<char> bytes_;
  std::vector<DataId> solved_, panel_, fixed_, right_, x_;
  DataId moving_ = 0;
  std::int64_t tiles_ = 0;
};

class Inserter {
 public:
  Inserter(Graph& graph, LuState& state)
      : graph_(graph), state_(state), grid_(state.map().grid()), names_(graph, grid_.tiles()) {}

  /// Prepares block row j before block row j - 1 is factored.
  void prepare(std::int64_t j) {
    for (std::int64_t k = 0; k + 1 < j; ++k) {
      insert(lu_solve_codelet(), j, k, k,
             {{names_.fixed(k), Access::read}, {names_.solved(j), Access::read_write}}, 0);
    }
    for (std::int64_t i = std::max<std::int64_t>(0, j - 1); i < grid_.tiles(); ++i) {
      insert(lu_sweep_codelet(), j, i, std::max<std::int64_t>(0, j - 1),
             {{names_.moving(), Access::read},
              {names_.right(i), Access::read},
              {names_.solved(j), Access::read},
              {names_.x(j, i), Access::write}},
             0);
    }
  }

  /// Applies the contribution of block row j - 1.
  void advance(std::int64_t j) {
    std::vector<Use> uses = {{names_.panel(j - 1), Access::read},
                             {names_.solved(j), Access::read_write}};
    use_row(j, j - 1, uses);
    insert(lu_advance_codelet(), j, j - 1, 1, uses, 3);
    for (std::int64_t i = j; i < grid_.tiles(); ++i) {
      insert(lu_last_codelet(), j, i, 1,
             {{names_.solved(j), Access::read},
              {names_.right(i), Access::read},
              {names_.x(j, i), Access::read_write}},
             3);
    }
  }

  void panel(std::int64_t j) {
    std::vector<Use> uses = {{names_.panel(j), Access::write}};
    use_row(j, j, uses);
    insert(lu_panel_codelet(), j, j, grid_.tiles() - j, uses, 3);
  }

  /// Stores L of block row j and applies its exchanges, for the block rows below.
  void publish_panel(std::int64_t j) {
    for (std::int64_t i = j + 1; i < grid_.tiles(); ++i) {
      std::vector<Use> uses = {{names_.panel(j), Access::read},
                               {names_.x(j, i), Access::read},
                               {names_.right(i), Access::write}};
      if (!state_.pivoting) uses.push_back({names_.x(j, j), Access::read});
      insert(lu_right_codelet(), j, i, 1, uses, 3);
    }
    insert(lu_exchange_codelet(), j, j, j,
           {{names_.panel(j), Access::read},
            {names_.moving(), Access::read_write},
            {names_.fixed(j), Access::write}},
           2);
  }

  void finish(std::int64_t i) { insert(lu_finish_codelet(), i, i, i, {}, 0); }

 private:
  /// Adds X(j, i) for i >= first.
  void use_row(std::int64_t j, std::int64_t first, std::vector<Use>& uses) const {
    for (std::int64_t i = first; i < grid_.tiles(); ++i) {
      uses.push_back({names_.x(j, i), Access::read_write});
    }
  }

  /// Earlier block rows come first; 'depth' distinguishes tasks of different lengths.
  void insert(const engine::Codelet& codelet, std::int64_t j, std::int64_t i, std::int64_t depth,
              const std::vector<Use>& uses, int urgency) {
    const auto priority = static_cast<int>(4 * (grid_.tiles() - j)) + urgency;
    graph_.insert(codelet, LuTask{&state_, j, i}, uses,
                  {priority, 0, static_cast<std::uint32_t>(depth)});
  }

  Graph& graph_;
  LuState& state_;
  const Grid grid_;
  Names names_;
};

}  // namespace

std::int64_t lu_workspace_bytes(const tiles::RungMap& map) {
  if (map.grid().n == 0) return 0;
  return 2 * lu_row_bytes(map) + lu_panel_bytes(map) + lu_inverse_bytes(map);
}

std::int64_t lu_task_count(const tiles::RungMap& map) {
  const std::int64_t t = map.grid().tiles();
  const std::int64_t pairs = t * (t - 1) / 2;
  const std::int64_t solves = std::max<std::int64_t>(0, (t - 1) * (t - 2) / 2);
  const std::int64_t sweeps = t == 0 ? 0 : t + pairs + (t - 1);
  return solves + sweeps + std::max<std::int64_t>(0, t - 1) + pairs + t + pairs + t + t;
}

void run_lu_graph(Graph& graph, LuState& state) {
  const tiles::RungMap& map = state.map();
  const Grid& grid = map.grid();
  const auto n = static_cast<std::size_t>(grid.n);
  state.order.resize(n);
  std::iota(state.order.begin(), state.order.end(), std::int64_t{0});
  state.exchanged = state.order;
  state.largest_g.assign(static_cast<std::size_t>(grid.count()), 0.0);
  state.largest_l = state.largest_g;
  state.pivot = {};
  if (n == 0) return;

  const core::Buffer<std::byte> memory(lu_workspace_bytes(map), core::Contents::any);
  state.x[0] = memory.data();
  state.x[1] = state.x[0] + lu_row_bytes(map);
  state.l_panel = state.x[1] + lu_row_bytes(map);
  state.inverses = state.l_panel + lu_panel_bytes(map);
  Inserter insert(graph, state);
  const engine::TaskGuard guard(graph);
  insert.prepare(0);
  for (std::int64_t j = 0; j < grid.tiles() && !graph.stopped(); ++j) {
    if (j > 0) insert.advance(j);
    insert.panel(j);
    if (j + 1 < grid.tiles()) insert.prepare(j + 1);
    insert.publish_panel(j);
  }
  graph.wait();
  for (std::int64_t i = 0; i < grid.tiles() && !graph.stopped(); ++i) insert.finish(i);
  graph.wait();
}

}  // namespace stepwell::factor
