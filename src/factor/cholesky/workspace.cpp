// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/cholesky/workspace.hpp"

#include <algorithm>
#include <numeric>

#include "factor/cholesky/row_copies.hpp"
#include "tiles/operations.hpp"

namespace stepwell::factor {
namespace {

using engine::DataId;
using tiles::Distribution;
using tiles::Grid;
using tiles::RungMap;

/// Width of a window with several ranks, in columns of L. Sums are written to memory and read back
/// once per window: at 1.5 Tflop/s per core that is 0.7 GB/s.
constexpr std::int64_t kWindowColumns = 8192;

/// A single window has no sums to keep, but keeps all received tiles. It is worth up to this factor
/// in memory: two ranks of one core each take 0.9 of the time at n = 16384, and four simulated
/// nodes of 64 cores take 0.8 at n = 65,536.
constexpr double kWorthForOneWindow = 1.25;

/// Number of block columns that are in work at the same time, each with a copy of its row in rows
/// order and an inverse: the current one and the next, and more if there are many workers, because
/// their tiles near the diagonal are all that can run while a diagonal tile is factored. With
/// several ranks fewer rows, because each is longer. Windows split a column's work into smaller
/// portions, so there is one copy for each worker: on simulated nodes of 64 cores that makes a
/// difference of a fifth of the time.
constexpr std::int64_t kRing = 2;
constexpr std::int64_t kMostColumns = 8;
constexpr std::int64_t kDistributedRing = 4;
constexpr std::int64_t kWindowsRing = 6;

/// A single one where little memory is worth more than a column ahead.
std::int64_t columns_in_work(const RungMap& map, int workers) {
  if (map.stores_numbers()) return 1;
  return std::clamp<std::int64_t>(workers / 4, kRing, kMostColumns);
}

std::int64_t chunks(std::int64_t columns) {
  return (columns + kChunk - 1) / kChunk;
}

std::int64_t sums_size(const RungMap& map) {
  const std::int64_t tile = map.grid().tile;
  return core::round_up(map.residues() > 0 ? kernels::residue_sums_bytes(tile, tile, map.residues())
                                           : tiles::Sums{Rung::fp32, tile, tile, nullptr}.bytes(),
                        4096);
}

/// Whether the sums of a tile are not in the tile itself.
bool has_sums(const RungMap& map, std::int64_t i, std::int64_t j) {
  return !shape_of(map, i, j).is_plain();
}

/// Makes the buffers large enough for the tiles of column k that a rank receives from others.
void make_room(std::vector<std::int64_t>& places, const RungMap& map,
               const Distribution& distribution, int rank, std::int64_t k) {
  std::size_t place = 0;
  for (std::int64_t i = k + 1; i < map.grid().tiles(); ++i) {
    if (!distribution.reads(map.grid(), rank, i, k)) continue;
    if (place == places.size()) places.push_back(0);
    places[place] = std::max(places[place], shape_of(map, i, k).bytes());
    ++place;
  }
}

}  // namespace

Schedule schedule_for(const RungMap& map, const Distribution& distribution, Windows windows,
                      std::int64_t workers) {
  const Grid& grid = map.grid();
  const bool many = distribution.ranks() == 1 && workers > grid.tiles();
  const Schedule one{grid, std::max<std::int64_t>(grid.tiles(), 1), many};
  const std::int64_t window = std::clamp<std::int64_t>(kWindowColumns / grid.tile, 1, kChunk);
  if (distribution.ranks() == 1 || one.window <= window) return one;
  const Schedule several{grid, window};
  if (windows == Windows::always) return several;
  // All ranks must make the same choice, so it is based on the first two ranks with one worker
  // each. Rank 0 is on the diagonal of the process grid, where rows i and j are the same; rank 1 is
  // not.
  const auto bytes = [&](const Schedule& schedule) {
    std::int64_t most = 0;
    for (const int rank : {0, 1}) {
      most = std::max(most, tiles::tile_matrix_bytes(map, distribution, rank) +
                                Needs(map, distribution, schedule, rank, 1).bytes());
    }
    return static_cast<double>(most);
  };
  return bytes(one) <= kWorthForOneWindow * bytes(several) ? one : several;
}

Needs::Needs(const RungMap& map, const Distribution& distribution, const Schedule& schedule,
             int rank, int workers) {
  const Grid& grid = map.grid();
  if (grid.n == 0) return;
  const bool alone = distribution.ranks() == 1;
  const std::int64_t window = schedule.window;
  if (has_row_copies(map)) {
    // Sums for a block column, so that workers without work in one column continue with the next,
    // for half of the columns in work, and at least two for each worker. A single thread needs one.
    // Sums in residues are large, and with few workers most tiles are finished in one task.
    std::int64_t of_column = 0;
    std::int64_t later = 0;
    for (std::int64_t j = 0; j < grid.tiles(); ++j) {
      std::int64_t own = 0;
      for (std::int64_t i = j; i < grid.tiles(); ++i) {
        if (distribution.owner(i, j) == rank && has_sums(map, i, j)) ++own;
      }
      if (j < window) {
        of_window += own;
        of_column = std::max(of_column, own);
      } else {
        later += own;
      }
    }
    const std::int64_t ahead =
        map.stores_numbers() && workers < kManyWorkers ? workers + 1
        : map.residues() > 0 && workers < kManyWorkers
            ? std::max<std::int64_t>(6, 3 * workers)
            : std::max<std::int64_t>(
                  {of_column * columns_in_work(map, workers) / 2, 8, 2 * workers});
    ring = alone && workers == 1 ? 1 : std::min(of_window, ahead);
    sums = ring + later;
    sums_bytes = sums_size(map);
    rows = alone                    ? columns_in_work(map, workers)
           : window == grid.tiles() ? std::clamp<std::int64_t>(workers, kRing, kDistributedRing)
                                    : std::max<std::int64_t>(workers, kWindowsRing);
    row_columns = window < grid.tiles() ? window : std::max<std::int64_t>(1, window - 2);
    rows_bytes = row_columns * row_stride(map);
    last_row_bytes = row_stride(map);
  }
  const std::int64_t solved = grid.tiles() - (needs_inverse(map, grid.tiles() - 1) ? 0 : 1);
  inverses = std::min(columns_in_work(map, workers), solved);
  inverse_bytes = factor::inverse_bytes(map);
  if (alone) return;
  received.resize(static_cast<std::size_t>(std::min(grid.tiles(), window + (window + 1) / 2)));
  for (std::int64_t k = 0; k < grid.tiles(); ++k) {
    make_room(received[static_cast<std::size_t>(k % std::ssize(received))], map, distribution, rank,
              k);
  }
}

std::int64_t Needs::received_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& places : received) {
    bytes = std::accumulate(places.begin(), places.end(), bytes);
  }
  return bytes;
}

std::int64_t Needs::bytes() const {
  return sums * sums_bytes + inverses * inverse_bytes + rows * (rows_bytes + last_row_bytes) +
         received_bytes();
}

Workspace::Workspace(engine::Graph& graph, const tiles::TileMatrix& l, const Schedule& schedule,
                     int rank)
    : grid_(l.grid()),
      needs_(l.map(), l.distribution(), schedule, rank, graph.workers()),
      memory_(needs_.bytes(), core::Contents::any),
      tiles_(static_cast<std::size_t>(grid_.count()), -1) {
  std::byte* at = memory_.data();
  const auto take = [&](std::int64_t bytes) {
    const DataId id = graph.add(at, bytes);
    at += bytes;
    return id;
  };
  for (std::int64_t s = 0; s < needs_.sums; ++s) sums_.push_back(take(needs_.sums_bytes));
  for (std::int64_t r = 0; r < needs_.inverses; ++r)
    inverses_.push_back(take(needs_.inverse_bytes));
  for (std::int64_t r = 0; r < needs_.rows; ++r) {
    for (std::int64_t k = 0; k < needs_.row_columns; k += kChunk) {
      rows_.push_back(take(needs_.last_row_bytes * std::min(kChunk, needs_.row_columns - k)));
    }
    last_rows_.push_back(take(needs_.last_row_bytes));
  }
  for (const auto& places : needs_.received) {
    std::vector<DataId>& ids = received_.emplace_back();
    for (const std::int64_t bytes : places) ids.push_back(take(bytes));
  }
  own_.resize(tiles_.size(), -1);
  std::int32_t own = 0;
  for (std::int64_t j = 0; j < grid_.tiles(); ++j) {
    for (std::int64_t i = j; i < grid_.tiles(); ++i) {
      if (!l.owns(i, j)) continue;
      const auto index = static_cast<std::size_t>(grid_.index(i, j));
      const tiles::Tile tile = l.tile(i, j);
      tiles_[index] = graph.add(tile.data, tile.shape.bytes());
      if (!tile.shape.is_plain()) own_[index] = own++;
    }
  }
}

std::int64_t Workspace::sums_number(std::int64_t i, std::int64_t j) const {
  const std::int64_t own = own_[static_cast<std::size_t>(grid_.index(i, j))];
  return own < needs_.of_window ? own % needs_.ring : needs_.ring + own - needs_.of_window;
}

DataId Workspace::sums(std::int64_t i, std::int64_t j) const {
  return sums_[static_cast<std::size_t>(sums_number(i, j))];
}

std::byte* Workspace::sums_memory(std::int64_t i, std::int64_t j) const {
  return memory_.data() + sums_number(i, j) * needs_.sums_bytes;  // the sums come first
}

DataId Workspace::inverse(std::int64_t j) const {
  return inverses_[static_cast<std::size_t>(j % needs_.inverses)];
}

void Workspace::begin_row(std::int64_t first_column) {
  ++ring_;
  first_column_ = first_column;
}

DataId Workspace::rows(std::int64_t k0) const {
  const std::int64_t chunk = (k0 - first_column_) / kChunk;
  return rows_[static_cast<std::size_t>(ring_ % needs_.rows * chunks(needs_.row_columns) + chunk)];
}

DataId Workspace::last_row() const {
  return last_rows_[static_cast<std::size_t>(ring_ % needs_.rows)];
}

DataId Workspace::place_for(std::int64_t i, std::int64_t k) {
  if (k != column_) {
    column_ = k;
    placed_ = 0;
  }
  const DataId id = received_[static_cast<std::size_t>(k % std::ssize(received_))][placed_++];
  tiles_[static_cast<std::size_t>(grid_.index(i, k))] = id;
  return id;
}

}  // namespace stepwell::factor
