// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/lu/workspace.hpp"

#include "factor/cholesky/row_copies.hpp"

namespace stepwell::factor {
namespace {

using engine::DataId;
using tiles::Grid;
using tiles::RungMap;

std::int64_t element_bytes(const RungMap& map) {
  return map.uses(Rung::fp64) ? 8 : 4;
}

/// Bytes of X(j, i), which is contiguous in its block row.
std::int64_t x_bytes(const RungMap& map, std::int64_t i) {
  return kernels::sums_ld(map.grid().tile) * map.grid().size(i) * element_bytes(map);
}

/// Bytes of one block row of X, of its L, and of the results of a panel.
std::int64_t row_of_x_bytes(const RungMap& map) {
  const std::int64_t ld = kernels::sums_ld(map.grid().tile);
  return core::round_up(core::size_product(ld, map.grid().n, element_bytes(map), "a row"), 4096);
}

std::int64_t panel_bytes(const RungMap& map) {
  const std::int64_t ld = kernels::sums_ld(map.grid().n);
  return core::round_up(core::size_product(ld, map.grid().tile, element_bytes(map), "a panel"),
                        4096);
}

std::int64_t results_bytes(const RungMap& map) {
  return inverse_bytes(map) + core::round_up(8 * map.grid().tile, 4096);
}

}  // namespace

std::int64_t lu_workspace_bytes(const RungMap& map) {
  if (map.grid().n == 0) return 0;
  return 2 * row_of_x_bytes(map) + panel_bytes(map) +
         core::size_product(results_bytes(map), map.grid().tiles(), "inverses");
}

LuWorkspace::LuWorkspace(engine::Graph& graph, LuState& state)
    : memory_(lu_workspace_bytes(state.g->map()), core::Contents::any) {
  const RungMap& map = state.g->map();
  const Grid& grid = map.grid();
  row_factors_ = graph.add(std::as_const(state.scale->row).data(), 8 * grid.n);
  col_factors_ = graph.add(std::as_const(state.scale->col).data(), 8 * grid.n);
  std::byte* next = memory_.data();
  for (std::int64_t row = 0; row < 2; ++row) {
    std::byte* block = next;
    for (std::int64_t i = 0; i < grid.tiles(); ++i) {
      x_.push_back(graph.add(block, x_bytes(map, i)));
      block += x_bytes(map, i);
    }
    next += row_of_x_bytes(map);
  }
  panel_ = graph.add(next, panel_bytes(map));
  next += panel_bytes(map);
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    results_.push_back(graph.add(next, results_bytes(map)));
    next += results_bytes(map);
    const std::int64_t first = j * grid.tile;
    a_.push_back(graph.add(state.a.block(first, 0, grid.size(j), grid.n)));
    order_.push_back(graph.add(state.order.data() + first, 8 * grid.size(j)));
    const auto g = state.g->row(j, j + 1);
    g_.push_back(graph.add(g.data(), std::ssize(g)));
    const auto l = state.l->row(j, j);
    if (j > 0) l_.push_back(graph.add(l.data(), std::ssize(l)));
    const tiles::Tile diagonal = state.l->tile(j, j);
    diagonal_.push_back(graph.add(diagonal.data, diagonal.shape.bytes()));
  }
}

}  // namespace stepwell::factor
