// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "engine/graph.hpp"
#include "factor/cholesky/schedule.hpp"
#include "tiles/tile_matrix.hpp"

/// The memory that left_looking works in beside L, and its names in a graph.
namespace stepwell::factor {

/// When the columns of a factor over ranks are finished in windows rather than all in one.
enum class Windows {
  by_memory,  ///< where one would take much more memory
  always,     ///< so that there are ends of windows, where a checkpoint can be written
};

/// The schedule of a factor, the same on all ranks.
Schedule schedule_for(const tiles::RungMap& map, const tiles::Distribution& distribution,
                      Windows windows);

/// How many pieces of memory a rank needs of each kind, and how large they are.
struct Needs {
  Needs(const tiles::RungMap& map, const tiles::Distribution& distribution,
        const Schedule& schedule, int rank, int workers);

  std::int64_t sums = 0, sums_bytes = 0;         ///< of packed tiles
  std::int64_t of_window = 0, ring = 0;          ///< those of the first window share a ring of sums
  std::int64_t inverses = 0, inverse_bytes = 0;  ///< of diagonal tiles
  std::int64_t rows = 0, rows_bytes = 0;         ///< rings of row copies: of a window's columns
  std::int64_t last_row_bytes = 0;               ///< in each of them, the last column on its own
  /// Places for tiles of others, of the columns of one window and a half: the bytes of each.
  std::vector<std::vector<std::int64_t>> received;
  std::int64_t received_bytes() const;
  std::int64_t bytes() const;
};

/// Tiles of the first window, which may be all there are, are finished in it: they get
/// sums round and round, and a tile waits for the sums' previous owner, which bounds how far ahead
/// the workers can be. Later tiles have sums of their own. Received tiles are kept for the length
/// of a window and a half.
class Workspace {
 public:
  Workspace(engine::Graph& graph, const tiles::TileMatrix& l, const Schedule& schedule, int rank);

  engine::DataId sums(std::int64_t i, std::int64_t j) const;
  std::byte* sums_memory(std::int64_t i, std::int64_t j) const;
  engine::DataId inverse(std::int64_t j) const;
  /// Of the row that was begun last, columns [k0, ...) of a chunk; and its last column.
  engine::DataId rows(std::int64_t k0) const;
  engine::DataId last_row() const;
  void begin_row(std::int64_t first_column);

  /// L(i, k): the rank's own, or as received.
  engine::DataId tile(std::int64_t i, std::int64_t k) const {
    return tiles_[static_cast<std::size_t>(grid_.index(i, k))];
  }
  /// A place for L(i, k) of another rank, in the order of the schedule.
  engine::DataId place_for(std::int64_t i, std::int64_t k);

 private:
  std::int64_t sums_number(std::int64_t i, std::int64_t j) const;

  tiles::Grid grid_;
  std::int64_t window_;
  Needs needs_;
  core::Buffer<std::byte> memory_;
  std::vector<engine::DataId> sums_, inverses_, rows_, last_rows_;
  std::vector<std::vector<engine::DataId>> received_;  ///< by column, round and round
  std::vector<engine::DataId> tiles_;                  ///< by the grid's index
  std::vector<std::int32_t> own_;  ///< over ranks: the number of an own tile among those
  std::int64_t ring_ = -1;         ///< rows begun so far, less one
  std::int64_t first_column_ = 0;  ///< of those rows
  std::int64_t column_ = -1;       ///< that something was placed for last
  std::size_t placed_ = 0;         ///< tiles of it
};

}  // namespace stepwell::factor
