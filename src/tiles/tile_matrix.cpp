// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/tile_matrix.hpp"

namespace stepwell::tiles {

TileShape shape_of(const RungMap& map, std::int64_t i, std::int64_t j) {
  return {map.at(i, j), map.grid().size(i), map.grid().size(j)};
}

std::int64_t tile_matrix_bytes(const RungMap& map, const Distribution& distribution, int rank) {
  std::int64_t bytes = 0;
  for (std::int64_t j = 0; j < map.grid().tiles(); ++j) {
    for (std::int64_t i = j; i < map.grid().tiles(); ++i) {
      if (distribution.owner(i, j) == rank) bytes += shape_of(map, i, j).bytes();
    }
  }
  return bytes;
}

TileMatrix::TileMatrix(RungMap map, Distribution distribution, int rank)
    : map_(std::move(map)),
      distribution_(std::move(distribution)),
      rank_(rank),
      memory_(tile_matrix_bytes(map_, distribution_, rank), core::Contents::any) {
  std::int64_t offset = 0;
  for (std::int64_t j = 0; j < grid().tiles(); ++j) {
    for (std::int64_t i = j; i < grid().tiles(); ++i) {
      offsets_.push_back(owns(i, j) ? offset : -1);
      if (owns(i, j)) offset += shape_of(map_, i, j).bytes();
    }
  }
}

Tile TileMatrix::tile(std::int64_t i, std::int64_t j) const {
  const std::int64_t offset = offsets_[static_cast<std::size_t>(grid().index(i, j))];
  return {shape_of(map_, i, j), memory_.data() + offset};
}

}  // namespace stepwell::tiles
