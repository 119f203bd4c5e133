// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/recursive.hpp"
#include "stepwell/map.hpp"
#include "tiles/tile.hpp"

namespace stepwell::tiles {

/// The less accurate of two rungs: the best accuracy that a product of operands at these rungs can
/// have. bf16x3 counts as coarser than fp32, whose sums of products have smaller rounding errors.
Rung coarser(Rung a, Rung b);

/// The lower triangle of a matrix of order n in tiles of order 'tile' (the last may be smaller).
/// Tiles are numbered column by column.
struct Grid {
  std::int64_t n = 0;
  std::int64_t tile = 512;

  std::int64_t tiles() const { return (n + tile - 1) / tile; }
  std::int64_t size(std::int64_t i) const { return i + 1 < tiles() ? tile : n - i * tile; }
  std::int64_t count() const { return tiles() * (tiles() + 1) / 2; }
  std::int64_t index(std::int64_t i, std::int64_t j) const {
    return j * tiles() - j * (j - 1) / 2 + (i - j);
  }
};

/// The level at which the recursion tree over 'tiles' tiles separates i from j: 0 at the first
/// split. For i == j, the number of splits above the tile.
int tree_level(std::int64_t tiles, std::int64_t i, std::int64_t j);

/// A precision map applied to a grid: one rung for each tile.
class RungMap {
 public:
  RungMap() = default;
  /// For a map of layers (or one rung), or a graded map. Throws Error(invalid_argument) for an
  /// adaptive map, and for one that mixes residues with other rungs.
  RungMap(const Grid& grid, const PrecisionMap& map);
  /// For an adaptive map. 'norms' are the Frobenius norms of the tiles, in the grid's order. A tile
  /// may use rung r if norm * u_r <= eps * ||A||_F / tiles: the errors of all tiles then sum to at
  /// most eps * ||A||_F (Higham & Mary 2022). 'ladder' lists the rungs to choose from, from cheap
  /// to expensive. A diagonal tile is at least as fine as every tile that is solved with it.
  RungMap(const Grid& grid, double eps, const std::vector<double>& norms,
          const std::vector<Rung>& ladder);

  const Grid& grid() const { return grid_; }
  Rung at(std::int64_t i, std::int64_t j) const { return rungs_[index(i, j)]; }
  /// The rungs of the products inside diagonal tile j: those of the map, or fp32 where that is
  /// cheaper.
  kernels::Layers diagonal_layers(std::int64_t j) const;
  Rung coarsest() const { return coarsest_; }
  /// Largest number of planes of a tile; 0: no tile is packed.
  int most_planes() const { return most_planes_; }
  /// Residues of each element of every tile; 0: no tile is in residues.
  int residues() const { return rungs_.empty() ? 0 : info(rungs_.front()).residues; }
  /// Tiles at int8x14 are stored as FP64 numbers, in 8 bytes an element instead of 14, and
  /// converted to residues in each task that multiplies them.
  void store_numbers() { as_numbers_ = residues() > 0; }
  bool stores_numbers() const { return as_numbers_; }
  /// Number of tiles at each rung.
  using Counts = std::array<std::int64_t, all_rungs.size()>;
  const Counts& counts() const { return counts_; }
  /// One rung for all tiles and all products inside them.
  bool is_uniform() const { return layers_.size() == 1; }
  /// True for a graded map: a product is as fine as its operands even if the tile that it updates
  /// is coarser, because that tile is small only after the products have been subtracted. Otherwise
  /// a product is at most as fine as that tile.
  bool products_by_operands() const { return by_operands_; }
  bool uses(Rung rung) const { return counts_[static_cast<std::size_t>(rung)] > 0; }

 private:
  std::size_t index(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(grid_.index(i, j));
  }
  void fill_layers();
  void fill_graded(const PrecisionMap& map);
  void summarize();

  Grid grid_;
  std::vector<Rung> rungs_;
  std::vector<Rung> layers_;  ///< layers of a layered map; empty for an adaptive or graded map
  bool by_operands_ = false;
  bool as_numbers_ = false;
  Rung coarsest_ = Rung::fp64;
  int most_planes_ = 0;
  Counts counts_{};
};

/// Throws Error(invalid_argument) if a map has a rung that only cholesky() has.
void require_mixable(const PrecisionMap& map, const std::string& who);

/// The shape of tile (i, j) under a map.
TileShape shape_of(const RungMap& map, std::int64_t i, std::int64_t j);

/// Bytes of tiles (i, 0) .. (i, count - 1): where tile (i, count) begins in a row of tiles.
std::int64_t row_bytes(const RungMap& map, std::int64_t i, std::int64_t count);

}  // namespace stepwell::tiles
