// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <string>

#include "core/checks.hpp"
#include "core/memory_error.hpp"
#include "core/numeric/transpose.hpp"
#include "engine/threads/thread_pool.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "factor/setup.hpp"
#include "stepwell/error.hpp"

/// A factor that another library has computed.
namespace stepwell {
namespace factor {
namespace {

void check_square(MatrixView<const double> l) {
  if (l.rows != l.cols) {
    throw Error(ErrorCode::invalid_argument, "factor_from: the matrix is " +
                                                 std::to_string(l.rows) + " x " +
                                                 std::to_string(l.cols) + "; it must be square");
  }
  core::require_view(l.data, l.rows, l.cols, l.ld, "factor_from: the matrix");
}

/// Elements that cannot be those of a factor.
void check_element(double element, std::int64_t row, std::int64_t col) {
  const bool zero = row == col && element == 0;
  if (std::isfinite(element) && !zero) return;
  throw Error(ErrorCode::invalid_argument, "factor_from: element (" + std::to_string(row) + ", " +
                                               std::to_string(col) + ") is " +
                                               (zero ? "zero" : "not finite"));
}

/// Tile (i, j) from one triangle of the caller's matrix.
void copy_tile_from(MatrixView<const double> l, Triangle triangle, const tiles::TileMatrix& to,
                    std::int64_t i, std::int64_t j) {
  const tiles::Grid& grid = to.grid();
  const std::int64_t row = i * grid.tile, col = j * grid.tile;
  const MatrixView<double> tile = to.tile(i, j).fp64();
  if (triangle == Triangle::upper) {
    core::transpose(l.block(col, row, tile.cols, tile.rows), tile,
                    i == j ? core::Part::lower : core::Part::all);
  }
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    const std::int64_t top = i == j ? c : 0;
    if (triangle == Triangle::lower) {
      std::copy_n(l.column(col + c) + row + top, tile.rows - top, tile.column(c) + top);
    }
    for (std::int64_t r = top; r < tile.rows; ++r) check_element(tile(r, c), row + r, col + c);
  }
}

}  // namespace
}  // namespace factor

Factor factor_from(MatrixView<const double> l, Triangle triangle) try {
  factor::check_square(l);
  const tiles::Grid grid{l.rows, factor::choose_tile(l.rows, 0)};
  const tiles::RungMap map(grid, uniform(Rung::fp64));
  core::require_memory(tiles::tile_matrix_bytes(map), "a factor");
  auto data = std::make_unique<FactorData>();
  data->n = l.rows;
  data->l = tiles::TileMatrix(map);
  engine::ThreadPool pool(engine::pool_threads(nullptr));
  pool.for_each(grid.tiles() * grid.tiles(), [&](std::int64_t k) {
    const std::int64_t i = k % grid.tiles(), j = k / grid.tiles();
    if (i >= j) factor::copy_tile_from(l, triangle, data->l, i, j);
  });
  data->scale.row.assign(static_cast<std::size_t>(l.rows), 1);
  data->scale.col = data->scale.row;
  FactorReport& report = data->report;
  report.map = uniform(Rung::fp64);
  report.tile = grid.tile;
  report.tiles = map.counts();
  report.scaling = Scaling::none;
  report.unit_roundoff = info(Rung::fp64).unit_roundoff;
  report.bytes = data->l.bytes();
  return FactorData::make(std::move(data));
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
