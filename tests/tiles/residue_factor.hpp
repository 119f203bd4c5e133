// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "core/buffer.hpp"
#include "kernels/kernels.hpp"
#include "tiles/residue_tile.hpp"

/// A Cholesky factorization in residues, tile by tile, whose memory a test may change on the way.
namespace stepwell::tiles::test {

struct Problem {
  std::int64_t n = 0;
  std::vector<double> h;  ///< scaled, column-major

  double& at(std::int64_t i, std::int64_t j) { return h[static_cast<std::size_t>(j * n + i)]; }
  double at(std::int64_t i, std::int64_t j) const { return h[static_cast<std::size_t>(j * n + i)]; }
};

/// Scales rows and columns by powers of two, so that the diagonal is in the range of residues.
inline void scale(Problem& p) {
  std::vector<double> d(static_cast<std::size_t>(p.n));
  for (std::int64_t i = 0; i < p.n; ++i) {
    double size = std::fabs(p.at(i, i)), power = 1;
    for (; size > kernels::kLargestDiagonal; size /= 4) power /= 2;
    for (; size <= kernels::kLargestDiagonal / 4; size *= 4) power *= 2;
    d[static_cast<std::size_t>(i)] = power;
  }
  for (std::int64_t j = 0; j < p.n; ++j) {
    for (std::int64_t i = 0; i < p.n; ++i) {
      p.at(i, j) *= d[static_cast<std::size_t>(i)] * d[static_cast<std::size_t>(j)];
    }
  }
}

struct Factored {
  std::vector<double> l;   ///< column-major, of the scaled matrix
  std::int64_t info = -1;  ///< the failing pivot
  std::int64_t wrong = 0;  ///< wrong elements that the redundant plane found
};

/// The residues that are in memory before the sums of tile (i, j) are computed, and again before
/// it is finished with these.
struct Live {
  std::int64_t i = 0, j = 0;
  bool has_sums = false;
  kernels::ResidueSums sums;                               ///< of the tile, if j > 0
  std::span<std::int8_t> tile, row, diagonal, sums_bytes;  ///< 'tile': L(i, j - 1)
};

/// Left-looking; 'spoil' may change what is live.
template <class Spoil>
Factored factor(const Table& t, const Problem& p, std::int64_t tile, int planes,
                const Spoil& spoil) {
  const std::int64_t tiles = (p.n + tile - 1) / tile;
  const auto size = [&](std::int64_t i) { return std::min(tile, p.n - i * tile); };
  const std::int64_t tile_bytes = residue_tile_bytes(tile, tile, planes);
  const core::Buffer<std::byte> memory(tiles * tiles * tile_bytes);
  const auto tile_at = [&](std::int64_t i, std::int64_t j) {
    return residue_tile(memory.data() + (i * tiles + j) * tile_bytes, size(i), size(j), planes);
  };
  const std::int64_t row_bytes = kernels::residue_bytes(tile, tile, planes);
  const core::Buffer<std::int8_t> row(tiles * row_bytes);
  const core::Buffer<std::byte> diagonal_memory(residue_diagonal_bytes(tile, planes));
  const core::Buffer<std::int8_t> sums_memory(kernels::residue_sums_bytes(tile, tile, planes));
  const core::Buffer<std::byte> scratch(restore_scratch(tile, tile));
  std::vector<double> diagonal;
  for (std::int64_t i = 0; i < p.n; ++i) diagonal.push_back(p.at(i, i));
  Factored out{p.h, -1, 0};
  const MatrixView<double> l = view(out.l.data(), p.n, p.n);
  for (std::int64_t j = 0; j < tiles; ++j) {
    std::vector<kernels::ResiduesIn> right;
    for (std::int64_t k = 0; k < j; ++k) {
      const kernels::ResiduesOut copy = kernels::residues(
          row.data() + k * row_bytes, size(j), size(k), planes, kernels::ResidueOrder::rows);
      kernels::reorder(t, tile_at(j, k).x, copy);
      right.push_back(copy);
    }
    const ResidueDiagonal d = residue_diagonal(diagonal_memory.data(), size(j), planes);
    for (std::int64_t i = j; i < tiles; ++i) {
      const TileSums sums{kernels::residue_sums(sums_memory.data(), size(i), size(j), planes),
                          j == 0};
      std::vector<kernels::ResidueFactors> products;
      for (std::int64_t k = 0; k < j; ++k) {
        products.push_back({tile_at(i, k).x, right[static_cast<std::size_t>(k)]});
      }
      const auto bytes_of = [](auto* data, std::int64_t bytes) {
        return std::span(reinterpret_cast<std::int8_t*>(data), static_cast<std::size_t>(bytes));
      };
      Live live{i, j, false, sums.sums, {}, bytes_of(row.data(), j * row_bytes), {}, {}};
      if (j > 0) {
        live.tile = bytes_of(tile_at(i, j - 1).x.data,
                             kernels::residue_bytes(size(i), size(j - 1), planes));
      }
      if (i > j)
        live.diagonal = bytes_of(d.rows.data, kernels::residue_bytes(size(j), size(j), planes));
      spoil(live);
      if (j > 0) {
        sweep(t, sums.sums, products, i == j ? Shape::lower : Shape::full, true);
        live.has_sums = true;
        live.sums_bytes = bytes_of(sums_memory.data(), sums_memory.size());
      }
      spoil(live);
      const RowSquares rows{j == 0 ? nullptr : tile_at(i, j - 1).squares,
                            diagonal.data() + i * tile};
      const MatrixView<double> h = l.block(i * tile, j * tile, size(i), size(j));
      if (i > j) {
        solve_tile(t, sums, h, rows, d, tile_at(i, j), out.wrong);
        continue;
      }
      const Pivot pivot = factor_diagonal(t, sums, h, rows, tile_at(i, j), d, out.wrong);
      if (!pivot.ok()) {
        out.info = j * tile + pivot.index;
        return out;
      }
    }
  }
  for (std::int64_t j = 0; j < tiles; ++j) {
    for (std::int64_t i = j; i < tiles; ++i) {
      const ResidueTile from = tile_at(i, j);
      out.wrong += restore_tile(t, from, scratch.data());
      const std::int64_t ld = core::round_up(size(i), 16);
      for (std::int64_t c = 0; c < size(j); ++c) {
        std::memcpy(l.column(j * tile + c) + i * tile,
                    reinterpret_cast<const double*>(from.x.data) + c * ld,
                    static_cast<std::size_t>(8 * size(i)));
      }
    }
  }
  return out;
}
inline Factored factor(const Table& t, const Problem& p, std::int64_t tile,
                       int planes = kernels::kResiduePlanes) {
  return factor(t, p, tile, planes, [](const Live&) {});
}

}  // namespace stepwell::tiles::test
