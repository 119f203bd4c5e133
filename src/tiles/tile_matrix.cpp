// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/tile_matrix.hpp"

namespace stepwell::tiles {

TileShape shape_of(const RungMap& map, std::int64_t i, std::int64_t j) {
  return {map.at(i, j), map.grid().size(i), map.grid().size(j)};
}

std::int64_t tile_matrix_bytes(const RungMap& map) {
  std::int64_t bytes = 0;
  for (std::int64_t j = 0; j < map.grid().tiles(); ++j) {
    for (std::int64_t i = j; i < map.grid().tiles(); ++i) bytes += shape_of(map, i, j).bytes();
  }
  return bytes;
}

TileMatrix::TileMatrix(RungMap map) : map_(std::move(map)) {
  const std::int64_t tiles = grid().tiles();
  offsets_.resize(static_cast<std::size_t>(grid().count()));
  for (std::int64_t j = 0; j < tiles; ++j) {
    std::int64_t column = 0;
    for (std::int64_t i = j; i < tiles; ++i) {
      offsets_[static_cast<std::size_t>(grid().index(i, j))] = column;
      column += shape_of(map_, i, j).bytes();
    }
    columns_.emplace_back(column, core::Contents::any);  // every tile is written whole
    bytes_ += column;
  }
}

Tile TileMatrix::tile(std::int64_t i, std::int64_t j) const {
  const std::int64_t offset = offsets_[static_cast<std::size_t>(grid().index(i, j))];
  return {shape_of(map_, i, j), columns_[static_cast<std::size_t>(j)].data() + offset};
}

}  // namespace stepwell::tiles
