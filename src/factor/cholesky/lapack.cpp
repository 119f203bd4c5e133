// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/cholesky/lapack.hpp"
#include "core/checks.hpp"
#include "core/clock.hpp"

#include <algorithm>
#include <memory>

#include "core/machine/fp_scope.hpp"
#include "engine/runtime.hpp"
#include "factor/block_source.hpp"
#include "factor/scan.hpp"
#include "factor/setup.hpp"
#include "kernels/blas/lapack.hpp"
#include "kernels/kernels.hpp"
#include "tiles/operations.hpp"

namespace stepwell::factor {
namespace {

/// Stores the lower triangle of a dense L in tiles.
void store(MatrixView<const double> from, const tiles::TileMatrix& l) {
  const tiles::Grid& grid = l.grid();
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      const MatrixView<double> to = l.tile(i, j).fp64();
      const MatrixView<const double> block =
          from.block(i * grid.tile, j * grid.tile, to.rows, to.cols);
      for (std::int64_t c = 0; c < to.cols; ++c) {
        const std::int64_t first = i == j ? c : 0;
        std::fill_n(to.column(c), first, 0.0);
        std::copy(block.column(c) + first, block.column(c) + to.rows, to.column(c) + first);
      }
    }
  }
}

}  // namespace

Factor lapack_cholesky(MatrixView<const double> a, Triangle triangle, const tiles::Grid& grid,
                       const FactorReport& failed, const std::vector<std::int64_t>& order) {
  const core::FpScope fp;
  const auto start = core::Clock::now();
  auto data = std::make_unique<FactorData>();
  data->n = grid.n;
  FactorReport& r = data->report;
  r = failed;
  const tiles::RungMap map(grid, uniform(Rung::fp64));
  tiles::Sums h{Rung::fp64, grid.n, grid.n, nullptr};
  const std::int64_t copied =
      triangle == Triangle::upper ? core::size_product(grid.n, grid.n, 8, "a copy of A") : 0;
  const std::int64_t bytes = h.bytes() + tiles::tile_matrix_bytes(map) + copied;
  core::require_memory(bytes, "LAPACK's factor of order " + std::to_string(grid.n));
  const core::Buffer<std::byte> memory(h.bytes(), core::Contents::any);
  h.data = memory.data();

  const Diagonal diagonal = read_diagonal(a);
  data->scale = scale_factors(diagonal, failed.scaling);
  kernels::Scan lower;
  const core::Buffer<double> copy(copied / 8, core::Contents::any);
  const MatrixView<const double> in =
      StoredBlocks(a, {}, triangle).block({0, 0, grid.n, grid.n}, copy.data());
  tiles::load_tile(kernels::table(), in, tiles::Shape::lower,
                   {data->scale.row.data(), data->scale.col.data()},
                   1 + failed.shift * failed.unit_roundoff, h, lower);
  const engine::SingleThreadedBlas blas;
  const std::int64_t pivot = kernels::potrf(h.fp64());
  const double seconds = core::seconds_since(start);
  r.times.wall += seconds;
  if (pivot >= 0) {
    data->order = order;
    return FactorData::make(std::move(data));
  }
  r.attempts.push_back({r.map, r.shift, false, -1, 0, seconds});
  data->l = tiles::TileMatrix(map);
  store(h.fp64(), data->l);
  r.outcome = FactorOutcome::ok;
  r.pivot = -1;
  r.pivot_value = 0;
  r.bytes = data->l.bytes();
  r.peak_bytes = std::max(r.peak_bytes, bytes);
  r.max_abs = lower.max_abs;
  r.norm = symmetric_norm(lower, diagonal);
  return FactorData::make(std::move(data));
}

}  // namespace stepwell::factor
