// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwell/distributed.hpp"
#include "tiles/rung_map.hpp"

namespace stepwell::tiles {

/// The rank that owns each tile of a lower triangle: a function of the tile's position, known to
/// all ranks.
class Distribution {
 public:
  /// One rank owns everything.
  Distribution() = default;

  /// 2D block-cyclic: tile (i, j) belongs to process (i mod rows, j mod cols); processes are
  /// numbered row by row as in BLACS.
  static Distribution grid(int rows, int cols);

  /// Symmetric block-cyclic (Beaumont et al., hal-03768910): tile (i, j) belongs to the pair
  /// {i mod r, j mod r} of r(r-1)/2 ranks. Row i and column i of L then belong to the same ranks,
  /// and a tile is sent to sqrt(2) times fewer ranks. Tiles with i = j (mod r) have no pair: they
  /// are assigned in turn to the pairs that contain i mod r. Throws Error(invalid_argument) unless
  /// the number of ranks is 1, 3, 6, 10, ...
  static Distribution symmetric(int ranks);

  /// The distribution that the caller asked for on this number of ranks: a grid as square as
  /// possible if its rows are not given.
  static Distribution choose(int ranks, const DistributedOptions& options);

  int ranks() const { return ranks_; }
  std::int64_t grid_cols() const { return cols_; }  ///< columns of a grid of processes
  int owner(std::int64_t i, std::int64_t j) const;

  /// The other ranks that need L(i, k), ascending: the owners of (i, j), k < j <= i, and of (m, i),
  /// m > i.
  std::vector<int> readers(const Grid& grid, std::int64_t i, std::int64_t k) const;
  /// Whether 'rank' is one of readers().
  bool reads(const Grid& grid, int rank, std::int64_t i, std::int64_t k) const;
  /// The other ranks that solve with diagonal tile j, ascending: the owners of (i, j), i > j.
  std::vector<int> solvers(const Grid& grid, std::int64_t j) const;

  /// "grid 2 x 2", "symmetric 4".
  std::string name() const;

 private:
  /// Whether this rank may own tiles of row i or of column i.
  bool holds(int rank, std::int64_t i) const;
  /// The owners repeat after this many tiles along a row or a column.
  std::int64_t period() const;

  Layout layout_ = Layout::grid;
  int ranks_ = 1;
  std::int64_t rows_ = 1, cols_ = 1;  ///< shape of a grid; both are r for the symmetric layout
};

/// Model of the communication volume: bytes that all ranks together send for a factor of this map,
/// if each tile is sent once to each rank that needs it. 'inverse_bytes' are sent for each diagonal
/// tile to each rank that solves with it.
std::int64_t bytes_to_send(const RungMap& map, const Distribution& distribution,
                           std::int64_t inverse_bytes);

}  // namespace stepwell::tiles
