// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/lu/graph.hpp"

#include <numeric>

#include "factor/lu/workspace.hpp"
#include "factor/setup.hpp"

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
using engine::Graph;
using engine::Use;
using tiles::Grid;

class Inserter {
 public:
  Inserter(Graph& graph, LuState& state)
      : graph_(graph),
        rules_{&state.g->map(), state.pivoting},
        results_(state.results),
        grid_(state.g->grid()),
        space_(graph, state) {}

  /// Prepares block row j before block row j - 1 is factored.
  void prepare(std::int64_t j) {
    for (std::int64_t k = 0; k + 1 < j; ++k) {
      std::vector<Use> uses = loaded(j, k);
      uses.push_back({space_.results(k), Access::read});
      uses.push_back({space_.g(j), Access::read_write});
      if (k > 0) uses.push_back({space_.l(k), Access::read});
      insert(lu_solve_codelet(), j, k, k, uses, k + 2 == j ? 2 : 0);
    }
    for (std::int64_t i = std::max<std::int64_t>(0, j - 1); i < grid_.tiles(); ++i) {
      std::vector<Use> uses = loaded(j, i);
      uses.push_back({space_.x(j, i), Access::write});
      if (j > 1) {
        uses.push_back({space_.g(j), Access::read});
        uses.push_back({space_.l(i), Access::read});
      }
      insert(lu_sweep_codelet(), j, i, std::max<std::int64_t>(0, j - 1), uses, 0);
    }
  }

  /// Applies the contribution of block row j - 1.
  void advance(std::int64_t j) {
    std::vector<Use> uses = {{space_.results(j - 1), Access::read},
                             {space_.g(j), Access::read_write}};
    use_row(j, j - 1, uses);
    insert(lu_advance_codelet(), j, j - 1, 1, uses, 3);
    for (std::int64_t i = j; i < grid_.tiles(); ++i) {
      insert(lu_last_codelet(), j, i, 1,
             {{space_.g(j), Access::read},
              {space_.l(i), Access::read},
              {space_.x(j, i), Access::read_write}},
             3);
    }
  }

  void panel(std::int64_t j) {
    std::vector<Use> uses = {{space_.results(j), Access::write},
                             {space_.g(j), Access::read_write},
                             {space_.diagonal(j), Access::write},
                             {space_.panel(), Access::write}};
    use_row(j, j, uses);
    insert(lu_panel_codelet(), j, j, grid_.tiles() - j, uses, 3);
  }

  /// Stores L of block row j.
  void publish_panel(std::int64_t j) {
    for (std::int64_t i = j + 1; i < grid_.tiles(); ++i) {
      std::vector<Use> uses = {{space_.l(i), Access::read_write}};
      if (rules_.pivoting) {
        uses.push_back({space_.panel(), Access::read});
      } else {
        uses.push_back({space_.x(j, j), Access::read});
        uses.push_back({space_.x(j, i), Access::read});
      }
      insert(lu_right_codelet(), j, i, 1, uses, 3);
    }
  }

  /// Applies the exchanges of block row j, for the block rows below. Block row j + 1 does not need
  /// them: they come after its advance(), which reads L(i, j) only, and after its panel if there is
  /// nobody else to do them.
  void exchange(std::int64_t j) {
    std::vector<Use> uses = {{space_.results(j), Access::read}};
    for (std::int64_t i = j; i < grid_.tiles(); ++i) {
      uses.push_back({space_.order(i), Access::read_write});
    }
    for (std::int64_t i = j; rules_.pivoting && j > 0 && i < grid_.tiles(); ++i) {
      uses.push_back({space_.l(i), Access::read_write});
    }
    insert(lu_exchange_codelet(), j, j, j, uses, -2);
  }

  void finish(std::int64_t i) {
    std::vector<Use> uses;
    if (i > 0) uses.push_back({space_.l(i), Access::read_write});
    insert(lu_finish_codelet(), i, i, i, uses, 0);
  }

 private:
  /// What loading A(j, positions of block i) reads.
  std::vector<Use> loaded(std::int64_t j, std::int64_t i) const {
    return {{space_.a(j), Access::read},
            {space_.row_factors(), Access::read},
            {space_.col_factors(), Access::read},
            {space_.order(i), Access::read}};
  }

  /// Adds X(j, first), and with pivoting the blocks to the right of it.
  void use_row(std::int64_t j, std::int64_t first, std::vector<Use>& uses) const {
    const std::int64_t end = rules_.pivoting ? grid_.tiles() : first + 1;
    for (std::int64_t i = first; i < end; ++i) {
      uses.push_back({space_.x(j, i), Access::read_write});
    }
  }

  /// Earlier block rows come first; 'depth' distinguishes tasks of different lengths.
  void insert(const engine::Codelet& codelet, std::int64_t j, std::int64_t i, std::int64_t depth,
              const std::vector<Use>& uses, int urgency) {
    const auto priority = static_cast<int>(4 * (grid_.tiles() - j)) + urgency;
    // Smaller pieces for a task that the next panel waits for, and if there are more workers than
    // blocks of rows in what is left of block row j.
    const int workers = graph_.workers();
    const bool divided = workers > 2 * (grid_.tiles() - j) || (workers >= 8 && urgency >= 2);
    graph_.insert(codelet, LuTask{&rules_, &results_, j, i, divided}, uses,
                  {priority, 0, footprint(depth, divided)});
  }

  Graph& graph_;
  const LuRules rules_;
  LuResults& results_;
  const Grid grid_;
  LuWorkspace space_;
};

}  // namespace

std::int64_t lu_task_count(const tiles::RungMap& map) {
  const std::int64_t t = map.grid().tiles();
  const std::int64_t pairs = t * (t - 1) / 2;
  const std::int64_t solves = std::max<std::int64_t>(0, (t - 1) * (t - 2) / 2);
  const std::int64_t sweeps = t == 0 ? 0 : t + pairs + (t - 1);
  return solves + sweeps + std::max<std::int64_t>(0, t - 1) + pairs + t + pairs + t + t;
}

void run_lu_graph(Graph& graph, LuState& state) {
  const Grid& grid = state.g->grid();
  state.order.resize(static_cast<std::size_t>(grid.n));
  std::iota(state.order.begin(), state.order.end(), std::int64_t{0});
  state.results = {};
  state.results.largest_g.assign(static_cast<std::size_t>(grid.count()), 0.0);
  state.results.largest_l = state.results.largest_g;
  if (grid.n == 0) return;

  Inserter insert(graph, state);
  const engine::TaskGuard guard(graph);
  insert.prepare(0);
  for (std::int64_t j = 0; j < grid.tiles() && !graph.stopped(); ++j) {
    if (j > 0) insert.advance(j);
    if (j > 0) insert.exchange(j - 1);
    insert.panel(j);
    if (j + 1 < grid.tiles()) insert.prepare(j + 1);
    insert.publish_panel(j);
  }
  if (!graph.stopped()) insert.exchange(grid.tiles() - 1);
  graph.wait();
  for (std::int64_t i = 0; i < grid.tiles() && !graph.stopped(); ++i) insert.finish(i);
  graph.wait();
}

}  // namespace stepwell::factor
