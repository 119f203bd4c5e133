// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/lu/codelets.hpp"

#include <cmath>

#include "factor/cholesky/row_copies.hpp"
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

/// Reads A(j, positions of block i) into sums. Columns that are adjacent in A are read together.
void load(const LuState& at, std::int64_t j, std::int64_t i, const Sums& sums) {
  const Grid& grid = at.map().grid();
  const std::int64_t row = j * grid.tile;
  const std::int64_t* const order = at.order.data() + i * grid.tile;
  for (std::int64_t c = 0; c < sums.cols;) {
    std::int64_t count = 1;
    while (c + count < sums.cols && order[c + count] == order[c] + count) ++count;
    kernels::LoadArgs args;
    args.a = at.a.block(row, order[c], sums.rows, count);
    args.scales = {at.scale->row.data() + row, at.scale->col.data() + order[c]};
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

/// sums -= sum_k G(j, k) L(i, k)', k0 <= k < k1.
void sweep(const LuState& at, std::int64_t j, std::int64_t i, std::int64_t k0, std::int64_t k1,
           const Sums& sums, std::byte* scratch) {
  if (k0 == k1) return;
  std::vector<tiles::TileIn> left;
  std::vector<tiles::RightTile> right;
  for (std::int64_t k = k0; k < k1; ++k) {
    left.push_back(at.g->tile(j, k));
    const tiles::Tile l = at.l->tile(i, k);
    right.push_back({l, l.shape.is_packed() ? tiles::rows_view(l) : kernels::PackedOut{}});
  }
  tiles::sweep(kernels::table(), sums, left, right, tiles::Shape::full, scratch,
               at.map().products_by_operands());
}

tiles::Inverse inverse_at(const LuState& at, std::int64_t k) {
  return inverse_of(at.map(), k, at.inverses + k * inverse_bytes(at.map()));
}

/// Records the largest element of a tile and stops if it is not finite: a factor that overflowed is
/// useless.
void book(Task& task, double largest, double& to) {
  to = largest;
  if (!std::isfinite(largest)) task.stop();
}

void solve(Task& task, LuState& at, std::int64_t j, std::int64_t k, const Sums& sums,
           std::byte* scratch) {
  tiles::solve_tile(kernels::table(), inverse_at(at, k), sums, tiles::Rounding::nearest,
                    at.g->tile(j, k), scratch);
  book(task, tiles::largest_of(sums),
       at.largest_g[static_cast<std::size_t>(at.map().grid().index(j, k))]);
  task.lap(Phase::solve);
}

std::int64_t sums_bytes(const RungMap& map) {
  const std::int64_t tile = map.grid().tile;
  const Rung rung = map.uses(Rung::fp64) ? Rung::fp64 : Rung::fp32;
  return core::round_up(Sums{rung, tile, tile, nullptr}.bytes(), 4096);
}

void run_solve(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  LuState& at = *x.state;
  const RungMap& map = at.map();
  const Sums sums{map.at(x.j, x.i), map.grid().size(x.j), map.grid().size(x.i), task.scratch()};
  std::byte* const scratch = task.scratch() + sums_bytes(map);
  load(at, x.j, x.i, sums);
  task.lap(Phase::load);
  sweep(at, x.j, x.i, 0, x.i, sums, scratch);
  task.lap(Phase::update);
  solve(task, at, x.j, x.i, sums, scratch);
}

/// The sums X(j, i).
Sums sums_at(const LuState& at, std::int64_t j, std::int64_t i) {
  const RungMap& map = at.map();
  const std::int64_t first = i * map.grid().tile;
  return at.panel(j, first).sums(i < j ? map.at(j, i) : map.at(i, j), 0, map.grid().size(i));
}

void run_sweep(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  const LuState& at = *x.state;
  const Sums sums = sums_at(at, x.j, x.i);
  load(at, x.j, x.i, sums);
  task.lap(Phase::load);
  sweep(at, x.j, x.i, 0, std::max<std::int64_t>(0, x.j - 1), sums, task.scratch());
  task.lap(Phase::update);
}

void run_advance(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  LuState& at = *x.state;
  const std::int64_t before = x.j - 1;
  const std::int64_t first = before * at.map().grid().tile;
  if (at.pivoting) tiles::exchange_columns(at.panel(x.j, first), first, at.exchanges(before));
  task.lap(Phase::reorder);
  solve(task, at, x.j, before, sums_at(at, x.j, before), task.scratch());
}

void run_last(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  const LuState& at = *x.state;
  sweep(at, x.j, x.i, x.j - 1, x.j, sums_at(at, x.j, x.i), task.scratch());
  task.lap(Phase::update);
}

void run_panel(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  LuState& at = *x.state;
  const kernels::Table& t = kernels::table();
  const RungMap& map = at.map();
  const std::int64_t first = x.j * map.grid().tile;
  Panel panel = at.panel(x.j, first);
  if (!at.pivoting)
    panel.cols = panel.rows;  // the diagonal block only; each tile of L is a separate task
  const std::span<std::int64_t> exchanged = at.exchanges(x.j);
  const tiles::Pivot pivot = tiles::factor_panel(t, map.at(x.j, x.j), panel, at.pivoting,
                                                 exchanged.data(), task.scratch());
  if (!pivot.ok()) {
    at.pivot = {first + pivot.index, pivot.value};
    task.stop();
    return;
  }
  for (std::int64_t& e : exchanged) e += first;
  tiles::store_diagonal(t, panel, at.g->tile(x.j, x.j), at.l->tile(x.j, x.j), inverse_at(at, x.j),
                        task.scratch());
  book(task, tiles::largest_below(panel.sums(map.at(x.j, x.j), 0, panel.rows)),
       at.largest_g[static_cast<std::size_t>(map.grid().index(x.j, x.j))]);
  task.lap(Phase::diagonal);
}

void run_right(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  LuState& at = *x.state;
  const kernels::Table& t = kernels::table();
  const Grid& grid = at.map().grid();
  const std::int64_t first = x.j * grid.tile;
  const Panel panel = at.panel(x.j, first);
  const std::int64_t from = x.i * grid.tile - first;
  if (!at.pivoting) {
    tiles::solve_right(t, panel, from, grid.size(x.i), task.scratch());
    book(task, tiles::largest_right(panel, from, grid.size(x.i)),
         at.largest_l[static_cast<std::size_t>(grid.index(x.i, x.j))]);
    task.lap(Phase::solve);
  }
  tiles::store_right(t, panel, from, at.l->tile(x.i, x.j));
  task.lap(Phase::reorder);
}

void run_exchange(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  LuState& at = *x.state;
  const std::int64_t first = x.j * at.map().grid().tile;
  const std::span<std::int64_t> exchanged = at.exchanges(x.j);
  for (std::int64_t k = 0; at.pivoting && k < x.j; ++k) {
    tiles::exchange_rows(*at.l, k, first, exchanged);
  }
  for (std::size_t k = 0; k < exchanged.size(); ++k) {
    std::swap(at.order[static_cast<std::size_t>(first) + k],
              at.order[static_cast<std::size_t>(exchanged[k])]);
  }
  task.lap(Phase::reorder);
}

void run_finish(Task& task, const void* arguments) {
  const auto& x = *static_cast<const LuTask*>(arguments);
  for (std::int64_t k = 0; k < x.i; ++k) {
    tiles::finalize_layout(kernels::table(), x.state->l->tile(x.i, k), task.scratch());
  }
  task.lap(Phase::reorder);
}

}  // namespace

tiles::Panel LuState::panel(std::int64_t j, std::int64_t first) const {
  const Grid& grid = map().grid();
  Panel p{wide(), grid.size(j), grid.n - first, grid.tile, x[j % 2], l_panel};
  p.x += first * p.x_ld() * (p.wide ? 8 : 4);
  return p;
}

std::span<std::int64_t> LuState::exchanges(std::int64_t j) {
  const Grid& grid = map().grid();
  return {exchanged.data() + j * grid.tile, static_cast<std::size_t>(grid.size(j))};
}

std::int64_t lu_scratch_bytes(const RungMap& map) {
  const std::int64_t tile = map.grid().tile;
  return std::max(sums_bytes(map) + tiles::scratch_bytes(tile), kernels::panel_scratch(tile));
}

std::int64_t lu_row_bytes(const RungMap& map) {
  const std::int64_t ld = kernels::sums_ld(map.grid().tile);
  return core::round_up(core::size_product(ld, map.grid().n, map.uses(Rung::fp64) ? 8 : 4, "a row"),
                        4096);
}

std::int64_t lu_panel_bytes(const RungMap& map) {
  const std::int64_t ld = kernels::sums_ld(map.grid().n);
  return core::round_up(
      core::size_product(ld, map.grid().tile, map.uses(Rung::fp64) ? 8 : 4, "a panel"), 4096);
}

std::int64_t lu_inverse_bytes(const RungMap& map) {
  return core::size_product(inverse_bytes(map), map.grid().tiles(), "inverses");
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
