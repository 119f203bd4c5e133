// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/left_looking.hpp"

#include <algorithm>

#include "core/buffer.hpp"
#include "factor/tasks.hpp"

namespace stepwell::factor {
namespace {

using engine::Access;
using engine::DataId;
using engine::Graph;
using engine::Hints;
using engine::Use;
using tiles::Grid;
using tiles::RungMap;

/// Contributions that one task sweeps over: 16 products of 512 tiles take 2 ms, a hundred times
/// what StarPU takes for a task.
constexpr std::int64_t kChunk = 16;

/// Block columns whose copies in rows order exist at a time: the current one and the next.
constexpr std::int64_t kRing = 2;

std::int64_t chunks(std::int64_t columns) {
  return (columns + kChunk - 1) / kChunk;
}

/// Packed tiles whose sums exist at a time: a block column, so that workers without work in one
/// column go on with the next. One thread needs one.
std::int64_t sums_count(const RungMap& map, int workers) {
  if (map.most_planes() == 0) return 0;
  if (workers == 1) return 1;
  return std::min(map.grid().count(), std::max<std::int64_t>(map.grid().tiles(), 8));
}

std::int64_t sums_bytes(const RungMap& map) {
  const std::int64_t tile = map.grid().tile;
  return core::round_up(tiles::Sums{Rung::fp32, tile, tile, nullptr}.bytes(), 4096);
}

/// Inverses that exist at a time; the last column needs none.
std::int64_t inverse_count(const RungMap& map) {
  return std::min(kRing, map.grid().tiles() - 1);
}

/// The early columns of a row in chunks, and its last one.
std::int64_t rows_bytes(const RungMap& map) {
  return (map.grid().tiles() + 1) * row_stride(map);
}

/// The memory beside L and its names in the graph. Sums are handed out round and round: a tile
/// waits for the sums' previous owner, which bounds how far ahead the workers can be.
class Workspace {
 public:
  Workspace(Graph& graph, const tiles::TileMatrix& l)
      : grid_(l.grid()),
        memory_(workspace_bytes(l.map(), graph.workers()), core::Contents::any),
        tiles_(static_cast<std::size_t>(grid_.count())) {
    const RungMap& map = l.map();
    std::byte* at = memory_.data();
    const auto take = [&](std::int64_t bytes) {
      const DataId id = graph.add(at, bytes);
      at += bytes;
      return id;
    };
    const std::int64_t sums = sums_count(map, graph.workers());
    for (std::int64_t s = 0; s < sums; ++s) sums_.push_back(take(sums_bytes(map)));
    for (std::int64_t r = 0; r < inverse_count(map); ++r) {
      inverses_.push_back(take(inverse_bytes(map)));
    }
    const std::int64_t stride = row_stride(map);
    for (std::int64_t r = 0; stride > 0 && r < kRing; ++r) {
      for (std::int64_t k = 0; k < grid_.tiles(); k += kChunk) {
        rows_.push_back(take(stride * std::min(kChunk, grid_.tiles() - k)));
      }
      last_rows_.push_back(take(stride));
    }
    for (std::int64_t j = 0; j < grid_.tiles(); ++j) {
      for (std::int64_t i = j; i < grid_.tiles(); ++i) {
        const tiles::Tile tile = l.tile(i, j);
        tiles_[static_cast<std::size_t>(grid_.index(i, j))] =
            graph.add(tile.data, tile.shape.bytes());
      }
    }
  }

  DataId sums(std::int64_t i, std::int64_t j) const {
    return sums_[static_cast<std::size_t>(grid_.index(i, j) % std::ssize(sums_))];
  }
  DataId inverse(std::int64_t j) const { return inverses_[static_cast<std::size_t>(j % kRing)]; }
  DataId rows(std::int64_t j, std::int64_t k0) const {
    return rows_[static_cast<std::size_t>(j % kRing * chunks(grid_.tiles()) + k0 / kChunk)];
  }
  DataId last_row(std::int64_t j) const { return last_rows_[static_cast<std::size_t>(j % kRing)]; }
  DataId tile(std::int64_t i, std::int64_t j) const {
    return tiles_[static_cast<std::size_t>(grid_.index(i, j))];
  }

 private:
  Grid grid_;
  core::Buffer<std::byte> memory_;
  std::vector<DataId> sums_, inverses_, rows_, last_rows_, tiles_;
};

/// The work on tile (i, j) in pieces of at most kChunk contributions. The tiles that the next
/// column waits for get their last contribution, the one that comes late, as a piece of its own.
std::vector<std::int64_t> cuts(std::int64_t i, std::int64_t j) {
  std::vector<std::int64_t> at = {0};
  for (std::int64_t k = kChunk; k < j; k += kChunk) at.push_back(k);
  const bool urgent = i <= j + 1;
  if (urgent && j > 1 && at.back() < j - 1) at.push_back(j - 1);
  at.push_back(j);
  return at;
}

/// Earlier columns first; within one, what the next column waits for.
int priority(const Grid& grid, std::int64_t i, std::int64_t j) {
  const std::int64_t column = grid.tiles() - j;
  return static_cast<int>(2 * column + (i <= j + 1 ? 3 : 0));
}

class Inserter {
 public:
  Inserter(Graph& graph, Attempt& attempt)
      : graph_(graph), attempt_(attempt), map_(attempt.l->map()), space_(graph, *attempt.l) {}

  /// Row j of L in rows order.
  void copy_row(std::int64_t j) {
    if (map_.most_planes() == 0 || j == 0) return;
    for (std::int64_t k0 = 0; k0 < j - 1; k0 += kChunk) {
      copy_row(space_.rows(j, k0), j, k0, std::min(k0 + kChunk, j - 1));
    }
    copy_row(space_.last_row(j), j, j - 1, j);
  }

  /// A(i, j) -= sum_k L(i, k) L(j, k)', then factor it or solve with the factor.
  void tile(std::int64_t i, std::int64_t j) {
    const std::vector<std::int64_t> at = cuts(i, j);
    for (std::size_t piece = 0; piece + 1 < at.size(); ++piece) {
      const TileTask x{&attempt_, i, j, at[piece], at[piece + 1], piece == 0};
      std::vector<Use> uses = operands(x);
      const bool last = piece + 2 == at.size();
      if (last) {
        if (info(map_.at(i, j)).planes > 0) uses.push_back({space_.tile(i, j), Access::write});
        if (j + 1 < map_.grid().tiles()) {
          uses.push_back({space_.inverse(j), i == j ? Access::write : Access::read});
        }
      }
      const Rung rung = map_.at(i, j);
      graph_.insert(!last    ? sweep_codelet(rung)
                    : i == j ? diagonal_codelet(rung)
                             : solve_codelet(rung),
                    x, uses, hints(x, last));
    }
  }

 private:
  void copy_row(DataId copies, std::int64_t j, std::int64_t k0, std::int64_t k1) {
    std::vector<Use> uses = {{copies, Access::write}};
    for (std::int64_t k = k0; k < k1; ++k) uses.push_back({space_.tile(j, k), Access::read});
    graph_.insert(rows_codelet(), RowsTask{attempt_.l, j, k0, k1}, uses,
                  {priority(map_.grid(), j, j), 0, static_cast<std::uint32_t>(k1 - k0)});
  }

  std::vector<Use> operands(const TileTask& x) const {
    const bool in_place = info(map_.at(x.i, x.j)).planes == 0;
    std::vector<Use> uses = {{in_place ? space_.tile(x.i, x.j) : space_.sums(x.i, x.j),
                              x.first ? Access::write : Access::read_write}};
    const RowPieces rows = row_pieces(map_, x.j, x.k0, x.k1);
    if (rows.early) uses.push_back({space_.rows(x.j, x.k0), Access::read});
    if (rows.last) uses.push_back({space_.last_row(x.j), Access::read});
    for (std::int64_t k = x.k0; k < x.k1; ++k) {
      uses.push_back({space_.tile(x.i, k), Access::read});
    }
    for (std::int64_t k = x.k0; k < x.k1 && x.i != x.j; ++k) {
      if (info(map_.at(x.j, k)).planes == 0) uses.push_back({space_.tile(x.j, k), Access::read});
    }
    return uses;
  }

  Hints hints(const TileTask& x, bool last) const {
    const Grid& g = map_.grid();
    const auto rows = static_cast<double>(g.size(x.i));
    const auto cols = static_cast<double>(g.size(x.j));
    const auto depth = static_cast<double>((x.k1 - x.k0) * g.tile);
    const double share = x.i == x.j ? 0.5 : 1;  // of a diagonal tile only the lower half
    const double flops = share * 2 * rows * cols * depth +
                         (!last ? 0 : (x.i == x.j ? 1.0 / 3 : 1) * rows * cols * cols);
    const auto footprint = static_cast<std::uint32_t>((x.k1 - x.k0) * 4 + (x.first ? 2 : 0) +
                                                      (g.size(x.i) < g.tile ? 1 : 0));
    return {priority(g, x.i, x.j), flops, footprint};
  }

  Graph& graph_;
  Attempt& attempt_;
  const RungMap& map_;
  Workspace space_;
};

}  // namespace

std::int64_t workspace_bytes(const RungMap& map, int workers) {
  if (map.grid().n == 0) return 0;
  return sums_count(map, workers) * sums_bytes(map) + inverse_count(map) * inverse_bytes(map) +
         kRing * rows_bytes(map);
}

std::int64_t task_count(const RungMap& map) {
  const std::int64_t tiles = map.grid().tiles();
  std::int64_t count = 0;
  for (std::int64_t j = 0; j < tiles; ++j) {
    if (map.most_planes() > 0 && j > 0) count += chunks(j - 1) + 1;
    for (std::int64_t i = j; i < tiles; ++i) count += std::ssize(cuts(i, j)) - 1;
  }
  return count;
}

void left_looking(Graph& graph, Attempt& attempt) {
  const Grid& grid = attempt.l->grid();
  attempt.scans.assign(static_cast<std::size_t>(grid.count()), {});
  attempt.pivot = {};
  Inserter insert(graph, attempt);
  const engine::TaskGuard guard(graph);
  for (std::int64_t j = 0; j < grid.tiles() && !graph.stopped(); ++j) {
    insert.copy_row(j);
    for (std::int64_t i = j; i < grid.tiles(); ++i) insert.tile(i, j);
  }
  graph.wait();
}

std::vector<double> tile_norms(Graph& graph, MatrixView<const double> a, const Grid& grid,
                               const Scale& scale) {
  std::vector<double> norms(static_cast<std::size_t>(grid.count()));
  const engine::TaskGuard guard(graph);
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      const std::int64_t row = i * grid.tile;
      const std::int64_t col = j * grid.tile;
      const NormTask x{a.block(row, col, grid.size(i), grid.size(j)), scale.row.data() + row,
                       scale.col.data() + col, i == j,
                       &norms[static_cast<std::size_t>(grid.index(i, j))]};
      graph.insert(norm_codelet(), x, {}, {});
    }
  }
  graph.wait();
  return norms;
}

}  // namespace stepwell::factor
