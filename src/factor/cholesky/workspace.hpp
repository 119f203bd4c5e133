// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "engine/graph.hpp"
#include "factor/cholesky/schedule.hpp"
#include "tiles/tile_matrix.hpp"

/// The workspace of left_looking in addition to L, and its data ids in a graph.
namespace stepwell::factor {

/// When the columns of a distributed factor are finished in several windows rather than in one.
enum class Windows {
  by_memory,  ///< where a single window would take much more memory
  always,     ///< so that a checkpoint can be written at the end of each window
};

/// The schedule of a factor, the same on all ranks.
Schedule schedule_for(const tiles::RungMap& map, const tiles::Distribution& distribution,
                      Windows windows, std::int64_t workers = 1);

/// Number and size of the buffers of each kind that a rank needs.
struct Needs {
  Needs(const tiles::RungMap& map, const tiles::Distribution& distribution,
        const Schedule& schedule, int rank, int workers);

  std::int64_t sums = 0, sums_bytes = 0;  ///< sums of tiles that are not plain
  std::int64_t of_window = 0, ring = 0;   ///< such tiles of the first window; sums that they share
  std::int64_t inverses = 0, inverse_bytes = 0;  ///< inverses of diagonal tiles
  /// Row copies, each of a window's columns; the last two columns of a row need no place in the
  /// copies of the only window.
  std::int64_t rows = 0, row_columns = 0, rows_bytes = 0;
  std::int64_t last_row_bytes = 0;  ///< bytes of the last column of a row copy, stored separately
  /// Buffers for tiles of other ranks from the columns of one and a half windows: the bytes of
  /// each.
  std::vector<std::vector<std::int64_t>> received;
  std::int64_t received_bytes() const;
  std::int64_t bytes() const;
};

/// Tiles of the first window, which may be all tiles, are finished in it: they use a ring of sums,
/// and a tile waits for the previous owner of its sums, which limits how far ahead the workers can
/// be. Later tiles have their own sums. Received tiles are kept for the length of one and a half
/// windows.
class Workspace {
 public:
  Workspace(engine::Graph& graph, const tiles::TileMatrix& l, const Schedule& schedule, int rank);

  engine::DataId sums(std::int64_t i, std::int64_t j) const;
  std::byte* sums_memory(std::int64_t i, std::int64_t j) const;
  engine::DataId inverse(std::int64_t j) const;
  /// The copy of the row that was begun last: the chunk of columns [k0, ...), and the last column.
  engine::DataId rows(std::int64_t k0) const;
  engine::DataId last_row() const;
  void begin_row(std::int64_t first_column);

  /// L(i, k): this rank's own tile, or the received one.
  engine::DataId tile(std::int64_t i, std::int64_t k) const {
    return tiles_[static_cast<std::size_t>(grid_.index(i, k))];
  }
  /// A buffer for L(i, k) of another rank. Must be called in the order of the schedule.
  engine::DataId place_for(std::int64_t i, std::int64_t k);

 private:
  std::int64_t sums_number(std::int64_t i, std::int64_t j) const;

  tiles::Grid grid_;
  Needs needs_;
  core::Buffer<std::byte> memory_;
  std::vector<engine::DataId> sums_, inverses_, rows_, last_rows_;
  std::vector<std::vector<engine::DataId>> received_;  ///< by column, used cyclically
  std::vector<engine::DataId> tiles_;                  ///< by the grid's index
  std::vector<std::int32_t> own_;  ///< index of a tile among this rank's tiles with sums; -1: none
  std::int64_t ring_ = -1;         ///< number of rows begun so far, minus one
  std::int64_t first_column_ = 0;  ///< first column of the row that was begun last
  std::int64_t column_ = -1;       ///< column of the last place_for()
  std::size_t placed_ = 0;         ///< tiles of that column that have a buffer
};

}  // namespace stepwell::factor
