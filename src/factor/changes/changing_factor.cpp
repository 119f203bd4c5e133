// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/changes/changing_factor.hpp"

#include <algorithm>
#include <cmath>

#include "core/checked.hpp"
#include "core/checks.hpp"
#include "factor/blas3/block_gemm.hpp"
#include "stepwell/error.hpp"

namespace stepwell::factor {
namespace {

/// Sums of squares of rows of V: 2^120 such changes stay below FP64's range.
constexpr double kLargestSquares = 0x1p900;

constexpr std::int64_t kBlock = 64;   ///< rows of S that are computed together
constexpr std::int64_t kDepth = 512;  ///< rows of X in a block

}  // namespace

ChangingFactor::ChangingFactor(Factor& factor, const EngineOptions& with, const std::string& what)
    : data_(FactorData::of(factor)), open_(factor, with, what), what_(what) {}

core::Buffer<double> ChangingFactor::scaled(MatrixView<const double> v) {
  open_.require_rows(v, "V");
  const std::int64_t size = core::size_product(v.rows, v.cols, "columns of V");
  core::require_memory(core::size_product(size, 8, "columns of V"), "columns of V");
  core::Buffer<double> memory(size, core::Contents::any);
  const MatrixView<double> w = view(memory.data(), v.rows, v.cols);
  for (std::int64_t c = 0; c < v.cols; ++c) std::copy_n(v.column(c), v.rows, w.column(c));
  open_.permute(w);
  open_.multiply_by_scale(w);
  std::vector<double> squares(static_cast<std::size_t>(v.rows));
  for (std::int64_t c = 0; c < v.cols; ++c) {
    for (std::int64_t i = 0; i < v.rows; ++i) {
      squares[static_cast<std::size_t>(i)] += w(i, c) * w(i, c);
    }
  }
  for (std::int64_t i = 0; i < v.rows; ++i) {
    if (!(squares[static_cast<std::size_t>(i)] <= kLargestSquares)) {
      throw Error(ErrorCode::invalid_argument,
                  what_ + ": row " + std::to_string(open_.place(i)) +
                      " of V has an element that is not finite, or too large compared with A's");
    }
  }
  return memory;
}

void ChangingFactor::report_change(std::int64_t columns) {
  FactorReport& report = data_.report;
  report.map = uniform(Rung::fp64);
  report.tile = data_.l.grid().tile;
  report.tiles = data_.l.map().counts();
  report.bytes = data_.l.bytes();
  data_.n = data_.l.grid().n;
  if (columns > 0) data_.rotations += static_cast<double>(data_.n + columns);
}

void subtract_gram(engine::ThreadPool& pool, MatrixView<const double> x, MatrixView<double> s) {
  if (x.empty()) return;
  BlockGemm gemm(pool, Products::blas);
  gemm.set_right(x, kDepth);
  const LeftOperand left(pool, Products::blas, x, true);
  const std::int64_t blocks = core::ceil_div(s.rows, kBlock);
  gemm.subtract(blocks, kBlock, [&](std::int64_t index) {
    const std::int64_t i = blocks - 1 - index;  // the longest first
    const std::int64_t first = i * kBlock, rows = std::min(kBlock, s.rows - first);
    return BlockGemm::Rows{.a = left.rows(first, rows, kDepth),
                           .c = s.block(first, 0, rows, first + rows)};
  });
}

void copy_column(const tiles::TileMatrix& l, std::int64_t column,
                 std::span<const std::int64_t> rows, double* out) {
  const std::int64_t tile = l.grid().tile;
  const auto end = static_cast<std::int64_t>(rows.size());
  for (std::int64_t r = 0; r < end;) {
    const std::int64_t row = rows[static_cast<std::size_t>(r)], row_in_tile = row % tile;
    std::int64_t count = 1;  // rows that follow each other in one tile
    while (r + count < end && row_in_tile + count < tile &&
           rows[static_cast<std::size_t>(r + count)] == row + count) {
      ++count;
    }
    const MatrixView<const double> source = tiles::TileIn(l.tile(row / tile, column / tile)).fp64();
    std::copy_n(source.column(column % tile) + row_in_tile, count, out + r);
    r += count;
  }
}

tiles::TileMatrix selected(engine::ThreadPool& pool, const tiles::TileMatrix& l,
                           std::span<const std::int64_t> kept, const tiles::Grid& grid) {
  tiles::TileMatrix out(tiles::RungMap(grid, uniform(Rung::fp64)));
  const auto rows = static_cast<std::int64_t>(kept.size());
  pool.for_each(grid.tiles() * grid.tiles(), [&](std::int64_t k) {
    const std::int64_t i = k % grid.tiles(), j = k / grid.tiles();
    if (i < j) return;
    const MatrixView<double> tile = out.tile(i, j).fp64();
    const std::int64_t top = i * grid.tile, end = std::min(top + tile.rows, rows);
    for (std::int64_t c = 0; c < tile.cols; ++c) {
      const std::int64_t column = j * grid.tile + c, first = std::max(top, column);
      if (first >= end) continue;
      copy_column(
          l, kept[static_cast<std::size_t>(column)],
          kept.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first)),
          tile.column(c) + (first - top));
    }
  });
  return out;
}

}  // namespace stepwell::factor
