// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "tiles/operations.hpp"

/// The operations of an LU factorization on a block row and on the tiles of L while their rows are
/// still exchanged. Until finalize_layout() a packed tile of L is in rows order: there a row
/// consists of whole cache lines, while pairs order would spread it over one line for every two
/// elements.
namespace stepwell::tiles {

/// A block row: X, r x m, and memory for its L, m x r. fp32, or fp64 for a map of fp64.
struct Panel {
  bool wide = false;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t tile = 0;  ///< largest number of rows of a block row; sets X's leading dimension
  std::byte* x = nullptr;
  std::byte* l = nullptr;

  std::int64_t x_ld() const { return kernels::sums_ld(tile); }
  std::int64_t l_ld() const { return kernels::sums_ld(cols); }
  template <class T>
  MatrixView<T> x_as() const {
    return {reinterpret_cast<T*>(x), rows, cols, x_ld()};
  }
  template <class T>
  MatrixView<T> l_as() const {
    return {reinterpret_cast<T*>(l), cols, rows, l_ld()};
  }
  /// Columns first .. first + count of X as the sums of a tile at 'rung'.
  Sums sums(Rung rung, std::int64_t first, std::int64_t count) const {
    return {rung, rows, count, x + first * x_ld() * (wide ? 8 : 4), x_ld()};
  }
};

/// X Q = G L' with column exchanges, see kernels::tree_getrf. Scratch: kernels::panel_scratch.
Pivot factor_panel(const Table& t, Rung rung, const Panel& panel, bool pivoting,
                   std::int64_t* exchanged, std::byte* scratch, const PieceRunner& share = {});

/// Stores the panel's diagonal tiles of G and L, in pairs order, and L's inverse.
void store_diagonal(const Table& t, const Panel& panel, Tile g, Tile l, const Inverse& inverse);

/// Stores rows first.. of the panel's L in a tile, in rows order.
void store_right(const Table& t, const Panel& panel, std::int64_t first, Tile l);

/// L = X' G^-T without exchanges, for a part of a block row whose diagonal block is G.
void solve_right(const Table& t, const Sums& g, const Panel& panel, std::byte* scratch);

/// View of a packed tile of L in rows order.
kernels::PackedOut rows_view(const Tile& tile);

/// Exchanges row first + k with row exchanged[k] of a block column of L, k = 0, 1, ... Row indices
/// are those of the whole matrix; 'l' has the tiles from the one that begins with row 'first' on,
/// of which all but the last have 'tile' rows.
void exchange_rows(std::span<const Tile> l, std::int64_t tile, std::int64_t first,
                   std::span<const std::int64_t> exchanged);

/// Exchanges columns of X in the same way; 'x' has X in blocks of 'tile' columns.
void exchange_columns(std::span<const Sums> x, std::int64_t tile, std::int64_t first,
                      std::span<const std::int64_t> exchanged);

/// Converts a tile from rows order to pairs order, which substitution reads, in place.
void finalize_layout(const Table& t, Tile tile, std::byte* scratch);

/// The largest |x| of the sums; NaN if one of them is not finite.
double largest_of(const Sums& sums);
/// The same on and below the diagonal, and for the panel's L.
double largest_below(const Sums& sums);
double largest_right(const Panel& panel);

}  // namespace stepwell::tiles
