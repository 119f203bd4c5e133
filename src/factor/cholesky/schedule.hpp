// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "tiles/rung_map.hpp"

/// The order of the work of a Cholesky factorization on tiles: left_looking inserts it, and a
/// simulation replays it. The assignment of work to ranks is not part of it.
namespace stepwell::factor {

/// Maximum number of contributions that one task sweeps over: 16 products of tiles of order 512
/// take 2 ms, a hundred times StarPU's overhead for a task.
inline constexpr std::int64_t kChunk = 16;

/// Rows below the diagonal tile that the next columns wait for first.
inline constexpr std::int64_t kNear = 2;
inline bool is_near(std::int64_t i, std::int64_t j) {
  return i <= j + kNear;
}

/// Earlier columns come first; within a column, the tiles that the next columns wait for.
inline int priority(const tiles::Grid& grid, std::int64_t i, std::int64_t j) {
  const std::int64_t column = grid.tiles() - j;
  return static_cast<int>(4 * column + (i <= j + 1 ? 6 : is_near(i, j) ? 3 : 0));
}

/// With so many workers the time is that of the longest chain of tasks, not of all: work on a tile
/// is divided further, although that takes more time on one core.
inline constexpr std::int64_t kManyWorkers = 8;
inline bool are_many(std::int64_t workers, const tiles::Grid& grid) {
  return workers >= kManyWorkers && 2 * workers > grid.tiles();
}

/// Work on tile (i, j): the contributions of columns [k0, k1). Before that, the first piece loads
/// the tile from A; after that, the last piece factors it or solves with the factor.
struct Piece {
  std::int64_t i = 0, j = 0, k0 = 0, k1 = 0;
  bool first = false;
  bool last = false;
};

/// Columns are finished in windows. Inside a window the order is left-looking: a tile takes all its
/// contributions from the window's columns at once and is finished. Then every tile to the right of
/// the window takes the window's contributions, and the columns of the window are no longer needed.
///
/// A single rank has all of L and uses one window for all columns: its sums exist for a column or
/// two only. With one window, each of several ranks would have to keep the rows of L that others
/// own; with small windows it needs sums for every tile that it owns instead (see schedule_for).
struct Schedule {
  tiles::Grid grid;
  std::int64_t window = 0;  ///< number of block columns; at least one
  /// The last contribution to a tile is a separate piece, because it is available late: of the
  /// tiles near the diagonal, or of all. A piece writes the sums to memory and reads them again,
  /// which for all tiles takes 3 % of the time of one core.
  bool all_late = false;

  /// Calls visitor.rows(j, k0, k1) before the first piece that reads row j of L in rows order,
  /// columns [k0, k1); visitor.piece(p); and visitor.finished(i, j) once a tile of L is finished.
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
  /// Visits the contributions in pieces of at most kChunk.
  template <class Visitor>
  void pieces(Visitor& visitor, std::int64_t i, std::int64_t j, std::int64_t k0, std::int64_t k1,
              bool finish) const {
    const bool separate = finish && (all_late || is_near(i, j)) && k1 - k0 > 1;
    const std::int64_t late = separate ? k1 - 1 : k1;
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
