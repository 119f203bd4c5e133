// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/lu/codelets.hpp"

#include <cmath>

#include "factor/cholesky/row_copies.hpp"
#include "factor/setup.hpp"
#include "kernels/kernels.hpp"

namespace stepwell::factor {
namespace {

using engine::Codelet;
using engine::Phase;
using engine::Task;
using tiles::Grid;
using tiles::Panel;
using tiles::RungMap;
using tiles::Sums;
using tiles::Tile;

/// Index of the first piece of data after those that load() reads.
constexpr std::size_t kLoaded = 4;

/// Reads A(j, positions of a block) into sums. Columns that are adjacent in A are read together.
void load(const Task& task, const RungMap& map, std::int64_t j, const Sums& sums) {
  const auto a = task.matrix<const double>(0);
  const double* const row = task.array<const double>(1) + j * map.grid().tile;
  const double* const col = task.array<const double>(2);
  const auto* const order = task.array<const std::int64_t>(3);
  for (std::int64_t c = 0; c < sums.cols;) {
    std::int64_t count = 1;
    while (c + count < sums.cols && order[c + count] == order[c] + count) ++count;
    kernels::LoadArgs args;
    args.a = a.block(0, order[c], sums.rows, count);
    args.scales = {row, col + order[c]};
    if (sums.wide()) {
      args.out64 = sums.fp64().block(0, c, sums.rows, count);
    } else {
      args.out32 = sums.fp32().block(0, c, sums.rows, count);
    }
    kernels::Scan scan;
    kernels::load(kernels::table(), args, scan);
    c += count;
  }
}

/// Tile (i, k) in memory that begins with tile (i, 0).
Tile tile_in_row(const RungMap& map, std::int64_t i, std::int64_t k, std::byte* row) {
  return {shape_of(map, i, k), row + tiles::row_bytes(map, i, k)};
}

/// sums -= sum_k G(j, k) L(i, k)', k0 <= k < k1, with row j of G and row i of L.
void sweep(Task& task, const LuTask& x, std::byte* g, std::byte* l, std::int64_t k0,
           std::int64_t k1, const Sums& sums) {
  const RungMap& map = *x.rules->map;
  const std::int64_t j = x.j, i = x.i;
  std::vector<tiles::TileIn> left;
  std::vector<tiles::RightTile> right;
  g += tiles::row_bytes(map, j, k0);
  l += tiles::row_bytes(map, i, k0);
  for (std::int64_t k = k0; k < k1; ++k) {
    const Tile a{shape_of(map, j, k), g}, b{shape_of(map, i, k), l};
    left.push_back(a);
    right.push_back({b, b.shape.is_packed() ? tiles::rows_view(b) : kernels::PackedOut{}});
    g += a.shape.bytes();
    l += b.shape.bytes();
  }
  tiles::sweep(kernels::table(), sums, left, right, tiles::Shape::full, task.scratch(),
               map.products_by_operands(), sharing(task, x.divided));
}

/// The exchanges among the results of panel j.
std::span<std::int64_t> exchanges(const RungMap& map, std::int64_t j, std::byte* results) {
  return {reinterpret_cast<std::int64_t*>(results + inverse_bytes(map)),
          static_cast<std::size_t>(map.grid().size(j))};
}

/// Records the largest element of a tile and stops if it is not finite: a factor that overflowed is
/// useless.
void book(Task& task, double largest, const RungMap& map, std::int64_t i, std::int64_t j,
          std::vector<double>& to) {
  to[static_cast<std::size_t>(map.grid().index(i, j))] = largest;
  if (!std::isfinite(largest)) task.stop();
}

/// G(j, k) from its sums, in row j of G, with the results of panel k.
void solve(Task& task, const LuTask& x, std::int64_t k, std::byte* panel, std::byte* g,
           const Sums& sums) {
  const RungMap& map = *x.rules->map;
  tiles::solve_tile(kernels::table(), inverse_of(map, k, panel), sums, tiles::Rounding::nearest,
                    tile_in_row(map, x.j, k, g), task.scratch(), sharing(task, x.divided));
  book(task, tiles::largest_of(sums), map, x.j, k, x.results->largest_g);
  task.lap(Phase::solve);
}

bool is_wide(const RungMap& map) {
  return map.uses(Rung::fp64);
}

std::int64_t operations_bytes(const RungMap& map) {
  return core::round_up(tiles::scratch_bytes(map.grid().tile), 4096);
}

std::int64_t sums_bytes(const RungMap& map) {
  const std::int64_t tile = map.grid().tile;
  const Rung rung = is_wide(map) ? Rung::fp64 : Rung::fp32;
  return core::round_up(Sums{rung, tile, tile, nullptr}.bytes(), 4096);
}

void run_solve(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  const RungMap& map = *x.rules->map;
  // The sums are behind the scratch memory of the operations, whose pieces use it from its start.
  const Sums sums{map.at(x.j, x.i), map.grid().size(x.j), map.grid().size(x.i),
                  task.scratch() + operations_bytes(map)};
  load(task, map, x.j, sums);
  task.lap(Phase::load);
  std::byte* const panel = task.data(kLoaded);
  std::byte* const g = task.data(kLoaded + 1);
  if (x.i > 0) sweep(task, x, g, task.data(kLoaded + 2), 0, x.i, sums);
  task.lap(Phase::update);
  solve(task, x, x.i, panel, g, sums);
}

/// The sums X(j, i).
Sums sums_at(const RungMap& map, std::int64_t j, std::int64_t i, std::byte* data) {
  const Grid& grid = map.grid();
  return {i < j ? map.at(j, i) : map.at(i, j), grid.size(j), grid.size(i), data,
          kernels::sums_ld(grid.tile)};
}

void run_sweep(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  const RungMap& map = *x.rules->map;
  const Sums sums = sums_at(map, x.j, x.i, task.data(kLoaded));
  load(task, map, x.j, sums);
  task.lap(Phase::load);
  if (x.j > 1) {
    sweep(task, x, task.data(kLoaded + 1), task.data(kLoaded + 2), 0, x.j - 1, sums);
  }
  task.lap(Phase::update);
}

void run_advance(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  const RungMap& map = *x.rules->map;
  const Grid& grid = map.grid();
  const std::int64_t before = x.j - 1;
  if (x.rules->pivoting) {
    std::vector<Sums> row;
    for (std::int64_t i = before; i < grid.tiles(); ++i) {
      row.push_back(sums_at(map, x.j, i, task.data(2 + row.size())));
    }
    tiles::exchange_columns(row, grid.tile, before * grid.tile,
                            exchanges(map, before, task.data(0)));
  }
  task.lap(Phase::reorder);
  solve(task, x, before, task.data(0), task.data(1), sums_at(map, x.j, before, task.data(2)));
}

void run_last(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  const RungMap& map = *x.rules->map;
  sweep(task, x, task.data(0), task.data(1), x.j - 1, x.j, sums_at(map, x.j, x.i, task.data(2)));
  task.lap(Phase::update);
}

/// Block row j from its diagonal block on, with 'cols' columns.
Panel panel_of(const RungMap& map, std::int64_t j, std::int64_t cols, std::byte* x, std::byte* l) {
  return {is_wide(map), map.grid().size(j), cols, map.grid().tile, x, l};
}

void run_panel(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  const kernels::Table& t = kernels::table();
  const RungMap& map = *x.rules->map;
  const Grid& grid = map.grid();
  const std::int64_t first = x.j * grid.tile;
  // Without pivoting it is the diagonal block only; each tile of L is a separate task.
  const bool pivoting = x.rules->pivoting;
  const auto blocks = static_cast<std::size_t>(pivoting ? grid.tiles() - x.j : 1);
  const Panel panel = panel_of(map, x.j, pivoting ? grid.n - first : grid.size(x.j),
                               task.joined(4, blocks), task.data(3));
  const std::span<std::int64_t> exchanged = exchanges(map, x.j, task.data(0));
  const tiles::Pivot pivot = tiles::factor_panel(t, map.at(x.j, x.j), panel, pivoting,
                                                 exchanged.data(), task.scratch(), task.sharing());
  if (!pivot.ok()) {
    x.results->pivot = {first + pivot.index, pivot.value};
    task.stop();
    return;
  }
  for (std::int64_t& e : exchanged) e += first;
  tiles::store_diagonal(t, panel, tile_in_row(map, x.j, x.j, task.data(1)),
                        {shape_of(map, x.j, x.j), task.data(2)},
                        inverse_of(map, x.j, task.data(0)));
  book(task, tiles::largest_below(panel.sums(map.at(x.j, x.j), 0, panel.rows)), map, x.j, x.j,
       x.results->largest_g);
  task.lap(Phase::diagonal);
}

void run_right(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  const kernels::Table& t = kernels::table();
  const RungMap& map = *x.rules->map;
  const Grid& grid = map.grid();
  const Tile l = tile_in_row(map, x.i, x.j, task.data(0));
  if (x.rules->pivoting) {
    const std::int64_t first = x.j * grid.tile;
    const Panel panel = panel_of(map, x.j, grid.n - first, nullptr, task.data(1));
    tiles::store_right(t, panel, x.i * grid.tile - first, l);
  } else {
    const Panel panel = panel_of(map, x.j, grid.size(x.i), task.data(2), task.scratch());
    tiles::solve_right(t, sums_at(map, x.j, x.j, task.data(1)), panel,
                       task.scratch() + sums_bytes(map));
    book(task, tiles::largest_right(panel), map, x.i, x.j, x.results->largest_l);
    task.lap(Phase::solve);
    tiles::store_right(t, panel, 0, l);
  }
  task.lap(Phase::reorder);
}

void run_exchange(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  const RungMap& map = *x.rules->map;
  const Grid& grid = map.grid();
  const std::int64_t first = x.j * grid.tile;
  const auto blocks = static_cast<std::size_t>(grid.tiles() - x.j);
  const std::span<std::int64_t> exchanged = exchanges(map, x.j, task.data(0));
  std::vector<Tile> column;  // tiles (j, k), (j + 1, k), ... of L
  for (std::size_t i = 0; x.rules->pivoting && x.j > 0 && i < blocks; ++i) {
    column.push_back({{}, task.data(1 + blocks + i)});
  }
  for (std::int64_t k = 0; !column.empty() && k < x.j; ++k) {
    for (std::size_t i = 0; i < blocks; ++i) {
      column[i].shape = shape_of(map, x.j + static_cast<std::int64_t>(i), k);
    }
    tiles::exchange_rows(column, grid.tile, first, exchanged);
    for (Tile& tile : column) tile.data += tile.shape.bytes();
  }
  auto* const own = task.array<std::int64_t>(1);
  for (std::size_t k = 0; k < exchanged.size(); ++k) {
    const std::int64_t other = exchanged[k] - first;
    const auto block = static_cast<std::size_t>(other / grid.tile);
    std::swap(own[k], task.array<std::int64_t>(1 + block)[other % grid.tile]);
  }
  task.lap(Phase::reorder);
}

void run_finish(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  const RungMap& map = *x.rules->map;
  for (std::int64_t k = 0; k < x.i; ++k) {
    tiles::finalize_layout(kernels::table(), tile_in_row(map, x.i, k, task.data(0)),
                           task.scratch());
  }
  task.lap(Phase::reorder);
}

}  // namespace

std::int64_t lu_scratch_bytes(const RungMap& map) {
  const std::int64_t tile = map.grid().tile;
  return std::max(sums_bytes(map) + operations_bytes(map), kernels::panel_scratch(tile));
}

const Codelet& lu_solve_codelet() {
  static const Codelet* const codelet = new Codelet("lu_solve", run_solve);
  return *codelet;
}
const Codelet& lu_sweep_codelet() {
  static const Codelet* const codelet = new Codelet("lu_sweep", run_sweep);
  return *codelet;
}
const Codelet& lu_advance_codelet() {
  static const Codelet* const codelet = new Codelet("lu_advance", run_advance);
  return *codelet;
}
const Codelet& lu_last_codelet() {
  static const Codelet* const codelet = new Codelet("lu_last", run_last);
  return *codelet;
}
const Codelet& lu_panel_codelet() {
  static const Codelet* const codelet = new Codelet("lu_panel", run_panel);
  return *codelet;
}
const Codelet& lu_right_codelet() {
  static const Codelet* const codelet = new Codelet("lu_right", run_right);
  return *codelet;
}
const Codelet& lu_exchange_codelet() {
  static const Codelet* const codelet = new Codelet("lu_exchange", run_exchange);
  return *codelet;
}
const Codelet& lu_finish_codelet() {
  static const Codelet* const codelet = new Codelet("lu_finish", run_finish);
  return *codelet;
}

}  // namespace stepwell::factor
