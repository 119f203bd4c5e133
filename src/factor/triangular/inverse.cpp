// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/triangular/inverse.hpp"

#include <algorithm>

#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "factor/triangular/block_substitution.hpp"

namespace stepwell::factor {
namespace {

/// The most columns of a strip.
std::int64_t strip_columns(const tiles::Grid& grid) {
  // Enough for exact products. Of a wider strip more would be computed above the diagonal.
  constexpr std::int64_t kColumns = 1024;
  return std::max<std::int64_t>(1, kColumns / grid.tile) * grid.tile;
}

}  // namespace

std::int64_t strip_count(const tiles::Grid& grid) {
  return core::ceil_div(grid.n, strip_columns(grid));
}

std::int64_t inverse_strips_bytes(const tiles::Grid& grid, int threads) {
  const std::int64_t columns = std::min(grid.n, strip_columns(grid));
  return core::size_product(grid.n, columns, 8, "columns of the inverse") +
         block_substitution_bytes(grid, columns, threads, fast_products(grid, columns));
}

void inverse_strips(engine::ThreadPool& pool, const tiles::TileMatrix& l, Triangles triangles,
                    const std::function<bool(const InverseStrip&)>& use) {
  const tiles::Grid& grid = l.grid();
  const std::int64_t width = strip_columns(grid);
  const core::Buffer<double> memory(grid.n * std::min(grid.n, width), core::Contents::any);
  for (std::int64_t first = 0; first < grid.n; first += width) {
    const std::int64_t columns = std::min(width, grid.n - first);
    const MatrixView<double> x = view(memory.data(), grid.n - first, columns);
    pool.for_each(columns, [&](std::int64_t c) {
      std::fill_n(x.column(c), x.rows, 0.0);
      x(c, c) = 1;
    });
    const std::int64_t tile = first / grid.tile;
    const Products products = fast_products({grid.n - first, grid.tile}, columns);
    substitute_blocks(pool, block_triangle(l, false, tile), x, products);
    if (triangles == Triangles::both) {
      substitute_blocks(pool, block_triangle(l, true, tile), x, products);
    }
    if (!use({first, x})) return;
  }
}

}  // namespace stepwell::factor
