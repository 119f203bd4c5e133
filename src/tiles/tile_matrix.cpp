// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/tile_matrix.hpp"

#include <algorithm>

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
      distribution_(distribution),
      rank_(rank),
      order_(order),
      places_(static_cast<std::size_t>(grid().count())) {
  pieces_.push_back({0, core::Buffer<std::byte>(tile_matrix_bytes(map_, distribution_, rank),
                                                core::Contents::any)});
  const std::int64_t tiles = grid().tiles();
  std::byte* next = pieces_.front().memory.data();
  const auto place = [&](std::int64_t i, std::int64_t j) {
    if (!owns(i, j)) return;
    places_[static_cast<std::size_t>(grid().index(i, j))] = next;
    next += shape_of(map_, i, j).bytes();
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
  return {shape_of(map_, i, j), places_[static_cast<std::size_t>(grid().index(i, j))]};
}

std::int64_t TileMatrix::bytes() const {
  std::int64_t sum = 0;
  for (const Piece& piece : pieces_) sum += piece.memory.size();
  return sum;
}

void TileMatrix::resize(std::int64_t n) {
  const Grid old = grid(), other{n, old.tile};
  const std::int64_t first = std::min(old.n, n) / old.tile;
  RungMap map(other, uniform(Rung::fp64));
  std::int64_t size = 0;
  for (std::int64_t i = first; i < other.tiles(); ++i) size += row_bytes(map, i, i + 1);
  Piece added{first, core::Buffer<std::byte>(size, core::Contents::any)};
  std::vector<std::byte*> places(static_cast<std::size_t>(other.count()));
  std::byte* next = added.memory.data();
  for (std::int64_t i = 0; i < other.tiles(); ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      std::byte*& place = places[static_cast<std::size_t>(other.index(i, j))];
      if (i < first) {
        place = tile(i, j).data;
        continue;
      }
      place = next;
      const TileShape shape = shape_of(map, i, j);
      next += shape.bytes();
      if (i >= old.tiles()) continue;
      const MatrixView<double> from = tile(i, j).fp64(), to = Tile{shape, place}.fp64();
      const std::int64_t rows = std::min(from.rows, to.rows);
      for (std::int64_t c = 0; c < std::min(from.cols, to.cols); ++c) {
        std::copy_n(from.column(c), rows, to.column(c));
      }
    }
  }
  pieces_.push_back(std::move(added));
  // A piece that began at the same row, or at a later one, has no other tiles.
  const auto is_replaced = [&](const Piece& piece) { return piece.first >= first; };
  pieces_.erase(std::remove_if(pieces_.begin(), pieces_.end() - 1, is_replaced), pieces_.end() - 1);
  places_ = std::move(places);
  map_ = std::move(map);
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
