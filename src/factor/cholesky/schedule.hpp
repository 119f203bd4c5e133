// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "tiles/rung_map.hpp"

/// The order of the work of a Cholesky factorization on tiles: what left_looking inserts, and what
/// a simulation of it replays. Which rank does what is not said here.
namespace stepwell::factor {

/// Contributions that one task sweeps over: 16 products of 512 tiles take 2 ms, a hundred times
/// what StarPU takes for a task.
inline constexpr std::int64_t kChunk = 16;

/// Earlier columns first; within one, what the next column waits for.
inline int priority(const tiles::Grid& grid, std::int64_t i, std::int64_t j) {
  const std::int64_t column = grid.tiles() - j;
  return static_cast<int>(2 * column + (i <= j + 1 ? 3 : 0));
}

/// Work on tile (i, j): the contributions of columns [k0, k1). The first piece loads the tile from
/// A before, the last one factors it or solves with the factor after.
struct Piece {
  std::int64_t i = 0, j = 0, k0 = 0, k1 = 0;
  bool first = false;
  bool last = false;
};

/// Columns are finished in windows. Inside a window the order is left-looking: a tile takes all its
/// contributions from the window's columns at once and is finished. Then every tile to the right of
/// the window takes the window's contributions, and the columns of the window are needed no more.
///
/// One rank has all of L and takes one window for all columns: its sums exist for a column or two.
/// Of several, each would have to keep the rows of L that others own, so they take small windows,
/// and have sums for every tile they own.
struct Schedule {
  tiles::Grid grid;
  std::int64_t window = 0;  ///< columns; at least one

  /// Calls visitor.rows(j, k0, k1) before the first piece that reads row j of L in rows order,
  /// columns [k0, k1); visitor.piece(p); and visitor.finished(i, j) once a tile of L is there.
  template <class Visitor>
  void walk(Visitor& visitor) const {
    for (std::int64_t g0 = 0; g0 < grid.tiles(); g0 += window) walk_window(visitor, g0);
  }

  template <class Visitor>
  void walk_window(Visitor& visitor, std::int64_t g0) const {
    const std::int64_t tiles = grid.tiles();
    const std::int64_t g1 = std::min(g0 + window, tiles);
    for (std::int64_t j = g0; j < g1; ++j) {
      if (j > g0) visitor.rows(j, g0, j);
      for (std::int64_t i = j; i < tiles; ++i) {
        pieces(visitor, i, j, g0, j, true);
        visitor.finished(i, j);
      }
    }
    for (std::int64_t j = g1; j < tiles; ++j) {
      visitor.rows(j, g0, g1);
      for (std::int64_t i = j; i < tiles; ++i) pieces(visitor, i, j, g0, g1, false);
    }
  }

 private:
  /// In pieces of at most kChunk. The tiles that the next column waits for get their last
  /// contribution, the one that comes late, as a piece of its own.
  template <class Visitor>
  static void pieces(Visitor& visitor, std::int64_t i, std::int64_t j, std::int64_t k0,
                     std::int64_t k1, bool finish) {
    const std::int64_t late = finish && i <= j + 1 && k1 - k0 > 1 && k1 > 1 ? k1 - 1 : k1;
    std::int64_t k = k0;
    bool first = k0 == 0;
    do {
      const std::int64_t end = std::min(k + kChunk, k < late ? late : k1);
      visitor.piece(Piece{i, j, k, end, first, finish && end == k1});
      first = false;
      k = end;
    } while (k < k1);
  }
};

}  // namespace stepwell::factor
