// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "core/buffer.hpp"
#include "tiles/distribution.hpp"
#include "tiles/rung_map.hpp"

namespace stepwell::tiles {

/// The order of the tiles in memory.
enum class TileOrder : unsigned char { by_columns, by_rows };

/// A lower triangle in tiles, each in the format of its rung, in one allocation (with one for each
/// column, half a huge page would be lost in each). At uniform bf16 it takes n^2 bytes plus the
/// upper halves of the diagonal tiles. In a distributed matrix each rank stores the tiles that it
/// owns.
class TileMatrix {
 public:
  TileMatrix() = default;
  /// Physical pages are allocated when tiles are written. Throws Error(out_of_memory).
  explicit TileMatrix(RungMap map, Distribution distribution = {}, int rank = 0,
                      TileOrder order = TileOrder::by_columns);

  const Grid& grid() const { return map_.grid(); }
  const RungMap& map() const { return map_; }
  const Distribution& distribution() const { return distribution_; }
  bool owns(std::int64_t i, std::int64_t j) const { return distribution_.owner(i, j) == rank_; }
  /// A tile that this rank owns.
  Tile tile(std::int64_t i, std::int64_t j) const;
  /// The memory of tiles (i, 0) .. (i, count - 1) of a matrix that is stored by rows on one rank.
  std::span<std::byte> row(std::int64_t i, std::int64_t count) const;
  std::int64_t bytes() const;
  /// After all tiles in residues have been restored to FP64, each in its own memory.
  void set_restored();
  /// Adds rows or drops the last ones, for a matrix at fp64 on one rank: block rows from the first
  /// one that was not full, or is not, get new memory, with the elements that they had and anything
  /// else. Throws Error(out_of_memory), and then nothing has changed.
  void resize(std::int64_t n);

 private:
  RungMap map_;
  Distribution distribution_;
  int rank_ = 0;
  TileOrder order_ = TileOrder::by_columns;
  /// Block rows from 'first' to the next piece's.
  struct Piece {
    std::int64_t first = 0;
    core::Buffer<std::byte> memory;
  };
  std::vector<std::byte*> places_;  ///< of each tile; null: another rank owns it
  std::vector<Piece> pieces_;
};

/// Bytes that a TileMatrix with this map takes on a rank.
std::int64_t tile_matrix_bytes(const RungMap& map, const Distribution& distribution = {},
                               int rank = 0);

}  // namespace stepwell::tiles
