// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/tile_matrix.hpp"

#include "stepwell/error.hpp"

namespace stepwell::tiles {

std::int64_t tile_matrix_bytes(const RungMap& map, const Distribution& distribution, int rank) {
  std::int64_t bytes = 0;
  for (std::int64_t j = 0; j < map.grid().tiles(); ++j) {
    for (std::int64_t i = j; i < map.grid().tiles(); ++i) {
      if (distribution.owner(i, j) == rank) bytes += shape_of(map, i, j).bytes();
    }
  }
  return bytes;
}

TileMatrix::TileMatrix(RungMap map, Distribution distribution, int rank, TileOrder order)
    : map_(std::move(map)),
      distribution_(std::move(distribution)),
      rank_(rank),
      order_(order),
      offsets_(static_cast<std::size_t>(grid().count()), -1),
      memory_(tile_matrix_bytes(map_, distribution_, rank), core::Contents::any) {
  const std::int64_t tiles = grid().tiles();
  std::int64_t offset = 0;
  const auto place = [&](std::int64_t i, std::int64_t j) {
    if (!owns(i, j)) return;
    offsets_[static_cast<std::size_t>(grid().index(i, j))] = offset;
    offset += shape_of(map_, i, j).bytes();
  };
  if (order == TileOrder::by_columns) {
    for (std::int64_t j = 0; j < tiles; ++j) {
      for (std::int64_t i = j; i < tiles; ++i) place(i, j);
    }
  } else {
    for (std::int64_t i = 0; i < tiles; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) place(i, j);
    }
  }
}

Tile TileMatrix::tile(std::int64_t i, std::int64_t j) const {
  const std::int64_t offset = offsets_[static_cast<std::size_t>(grid().index(i, j))];
  return {shape_of(map_, i, j), memory_.data() + offset};
}

void TileMatrix::set_restored() {
  map_ = RungMap(grid(), uniform(Rung::fp64));
}

std::span<std::byte> TileMatrix::row(std::int64_t i, std::int64_t count) const {
  if (order_ != TileOrder::by_rows || distribution_.ranks() > 1) {
    throw Error(ErrorCode::internal, "the rows of this tile matrix are not contiguous");
  }
  return {tile(i, 0).data, static_cast<std::size_t>(row_bytes(map_, i, count))};
}

}  // namespace stepwell::tiles
