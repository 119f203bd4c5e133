// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "kernels/blas/lapack.hpp"
#include "kernels/kernels.hpp"
#include "kernels/recursive.hpp"
#include "tiles/tile.hpp"

/// The operations of substitution on one tile, however the tile is stored. V is float or double,
/// and double if the tile is at fp64.
namespace stepwell::factor {

/// From this many columns on, the BLAS's matrix products are faster than kernels for vectors.
inline constexpr std::int64_t kWide = 96;

/// to -= L from, or L' from.
template <class V>
void apply_tile(tiles::TileIn l, bool transposed, MatrixView<const V> from, MatrixView<V> to) {
  const kernels::Table& t = kernels::table();
  if (l.shape.is_packed()) return kernels::packed_product(t, l.packed(), transposed, from, to);
  if constexpr (std::is_same_v<V, double>) {
    if (l.shape.rung == Rung::fp64 && from.cols >= kWide) {
      return kernels::subtract_product(l.fp64(), from, to, {transposed, false});
    }
    if (l.shape.rung == Rung::fp64) return kernels::tile_product(t, l.fp64(), transposed, from, to);
  }
  kernels::tile_product(t, l.fp32(), transposed, from, to);
}

/// x <- L^-1 x, or L'^-1 x, with a diagonal tile.
template <class V>
void solve_tile(tiles::TileIn l, bool transposed, MatrixView<V> x) {
  const kernels::Table& t = kernels::table();
  if (l.shape.is_packed()) return kernels::tile_trsv(t, l.packed(), transposed, x);
  if constexpr (std::is_same_v<V, double>) {
    if (l.shape.rung == Rung::fp64 && x.cols >= kWide) {
      return kernels::solve_triangle(l.fp64(), {false, transposed, false}, x);
    }
    if (l.shape.rung == Rung::fp64) return kernels::tile_trsv(t, l.fp64(), transposed, x);
  }
  kernels::tile_trsv(t, l.fp32(), transposed, x);
}

}  // namespace stepwell::factor
