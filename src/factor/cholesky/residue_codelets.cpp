// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/cholesky/residue_codelets.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "factor/cholesky/codelets.hpp"
#include "factor/cholesky/input_data.hpp"
#include "factor/setup.hpp"
#include "kernels/kernels.hpp"

namespace stepwell::factor {
namespace {

using engine::Phase;
using engine::Task;
using tiles::RungMap;
using tiles::Shape;

/// L(i, k) L(j, k)', with L(i, k) in residues or as numbers that are still to be converted.
struct Product {
  kernels::ResiduesIn left;
  MatrixView<const double> numbers;
  kernels::ResiduesIn right;
};

/// The data of a task, in the order of TileTask; from 'input' on only of one that finishes a tile.
struct TaskData {
  kernels::ResidueSums sums;
  std::vector<Product> products;
  std::optional<TaskInput> input;
  tiles::RowSquares rows;
  tiles::Tile tile;
  tiles::ResidueDiagonal diagonal;
};

const double* squares_of(const tiles::Tile& tile) {
  return tile.shape.as_numbers ? tile.numbers().squares : tile.residues().squares;
}

TaskData data_of(const Task& task, const TileTask& x, bool finishes) {
  const RungMap& map = *x.rules->map;
  const Block at = block_at(map.grid(), x.i, x.j);
  TaskData d;
  d.sums = kernels::residue_sums(task.array<std::int8_t>(0), at.rows, at.cols, map.residues());
  std::size_t next = 1;
  if (finishes) {
    d.input.emplace(task, next, x.rules->load, at);
    d.rows.diagonal = TaskInput::diagonal(task, next, at);
  }
  const RowPieces rows = row_pieces(map, x.j, x.k0, x.k1);
  std::byte* const copies = rows.early ? task.data(next++) : nullptr;
  std::byte* const last_copy = rows.last ? task.data(next++) : nullptr;
  for (std::int64_t k = x.k0; k < x.k1; ++k) {
    const tiles::Tile left{shape_of(map, x.i, k), task.data(next++)};
    const bool late = k == x.j - 1;
    Product& p = d.products.emplace_back();
    p.right = residue_rows_of(map, x.j, k, late ? k : x.k0, late ? last_copy : copies);
    if (left.shape.as_numbers) {
      p.numbers = left.numbers().l;
    } else {
      p.left = left.residues().x;
    }
    if (late) d.rows.before = squares_of(left);
  }
  if (!finishes) return d;
  if (reads_left_tile(x.j, x.k0, x.k1)) {
    d.rows.before = squares_of({shape_of(map, x.i, x.j - 1), task.data(next++)});
  }
  d.tile = {shape_of(map, x.i, x.j), task.data(next++)};
  d.diagonal = residue_diagonal_of(map, x.j, task.data(next));
  return d;
}

/// Rows of a block: all, unless other threads may help.
std::int64_t rows_of_block(const tiles::Sharing& share, std::int64_t rows) {
  return share.run ? share.rows : std::max<std::int64_t>(rows, 1);
}

/// Rows [first, first + rows) of the sums. Numbers are converted tile by tile, in scratch memory.
void sweep_rows(const TileTask& x, const TaskData& d, std::int64_t first, std::int64_t rows,
                std::byte* scratch) {
  const kernels::Table& t = kernels::table();
  const Shape shape = x.i == x.j ? Shape::lower : Shape::full;
  const kernels::ResidueSums sums = d.sums.block(first, 0, rows, d.sums.cols);
  std::vector<kernels::ResidueFactors> products;
  for (const Product& p : d.products) {
    const std::int64_t depth = p.right.depth;
    if (!x.rules->map->stores_numbers()) {
      products.push_back({p.left.block(first, 0, rows, depth), p.right});
      continue;
    }
    const kernels::ResiduesOut left =
        kernels::residues(reinterpret_cast<std::int8_t*>(scratch), rows, depth, sums.planes,
                          kernels::ResidueOrder::quads);
    kernels::to_residues(t, p.numbers.block(first, 0, rows, depth), nullptr, left);
    const kernels::ResidueFactors one[] = {{left, p.right}};
    tiles::sweep(t, sums, one, shape, x.first && &p == &d.products.front());
  }
  if (!products.empty()) tiles::sweep(t, sums, products, shape, x.first);
}

void sweep(const Task& task, const TileTask& x, const TaskData& d) {
  if (d.products.empty()) return;
  // The blocks of a diagonal tile would have different shapes.
  const tiles::Sharing share = x.i == x.j ? tiles::Sharing{} : sharing(task, x.divided);
  const std::int64_t size = rows_of_block(share, d.sums.rows);
  core::run_pieces(share.run, (d.sums.rows + size - 1) / size, task.scratch(),
                   [&](std::int64_t block, std::byte* scratch) {
                     const std::int64_t first = block * size;
                     sweep_rows(x, d, first, std::min(size, d.sums.rows - first), scratch);
                   });
}

/// A's rows from 'first' on, scaled, in scratch memory.
MatrixView<double> load(const TileTask& x, const TaskData& d, std::int64_t first, std::int64_t rows,
                        std::byte* scratch, kernels::Scan& scan) {
  const tiles::Sums h{Rung::fp64, rows, d.sums.cols, scratch};
  const auto a = d.input->rows(first, rows, scratch + h.bytes());
  tiles::load_tile(kernels::table(), a, x.i == x.j ? Shape::lower : Shape::full,
                   d.input->scales(first), x.rules->diagonal_factor, h, scan);
  return h.fp64();
}

/// Scratch memory that load() uses.
std::int64_t load_bytes(const RungMap& map, bool computed) {
  const std::int64_t tile = map.grid().tile;
  return tiles::Sums{Rung::fp64, tile, tile, nullptr}.bytes() + (computed ? 8 * tile * tile : 0);
}

/// Rows of the task's tile in residues: in the tile, or behind what load() uses of the scratch
/// memory.
tiles::ResidueTile rows_of_tile(const TileTask& x, const TaskData& d, std::int64_t first,
                                std::int64_t rows, std::byte* scratch) {
  const std::int64_t cols = d.sums.cols;
  if (!d.tile.shape.as_numbers) {
    const tiles::ResidueTile tile = d.tile.residues();
    return {tile.x.block(first, 0, rows, cols), tile.squares + first};
  }
  const RungMap& map = *x.rules->map;
  std::byte* const memory = scratch + load_bytes(map, x.rules->load.computed != nullptr);
  return {kernels::residues(reinterpret_cast<std::int8_t*>(memory), rows, cols, map.residues(),
                            kernels::ResidueOrder::quads),
          d.tile.numbers().squares + first};
}

/// Stores rows of L that are not kept in residues; the strict upper triangle is zero.
void store_numbers(const TileTask& x, const TaskData& d, std::int64_t first,
                   MatrixView<const double> l) {
  if (!d.tile.shape.as_numbers) return;
  const MatrixView<double> to = d.tile.numbers().l;
  for (std::int64_t j = 0; j < l.cols; ++j) {
    const std::int64_t above = x.i == x.j ? j : 0;
    std::fill_n(to.column(j) + first, above, 0.0);
    std::copy_n(l.column(j) + above, l.rows - above, to.column(j) + first + above);
  }
}

kernels::Scan& scan_of(const TileTask& x) {
  const tiles::Grid& grid = x.rules->map->grid();
  return x.results->scans[static_cast<std::size_t>(grid.index(x.i, x.j))];
}

/// Stops the graph if sums were wrong.
template <class Arguments>
void check(Task& task, const Arguments& x, std::int64_t wrong, const char* name) {
  if (wrong == 0) return;
  task.stop();
  const std::scoped_lock lock(x.results->wrong_sums_mutex);
  if (x.results->wrong_sums.count > 0) return;
  x.results->wrong_sums = {wrong, x.i, x.j, name, task.worker()};
}

void run_sweep(Task& task, const void* arguments) {
  const auto& x = *static_cast<const TileTask*>(arguments);
  sweep(task, x, data_of(task, x, false));
  task.lap(Phase::update);
}

void run_diagonal(Task& task, const void* arguments) {
  const auto& x = *static_cast<const TileTask*>(arguments);
  const TaskData d = data_of(task, x, true);
  sweep(task, x, d);
  task.lap(Phase::update);
  const MatrixView<double> h = load(x, d, 0, d.sums.rows, task.scratch(), scan_of(x));
  task.lap(Phase::load);
  std::int64_t wrong = 0;
  const bool none = x.first && d.products.empty();
  const tiles::Pivot pivot =
      tiles::factor_diagonal(kernels::table(), {d.sums, none}, h, d.rows,
                             rows_of_tile(x, d, 0, h.rows, task.scratch()), d.diagonal, wrong);
  store_numbers(x, d, 0, h);
  task.lap(Phase::diagonal);
  check(task, x, wrong, "diagonal");
  if (pivot.ok()) return;
  x.results->pivot = {x.j * x.rules->map->grid().tile + pivot.index, pivot.value};
  task.stop();
}

void run_solve(Task& task, const void* arguments) {
  const auto& x = *static_cast<const TileTask*>(arguments);
  const TaskData d = data_of(task, x, true);
  sweep(task, x, d);
  task.lap(Phase::update);
  const tiles::Sharing share = sharing(task, x.divided);
  const std::int64_t size = rows_of_block(share, d.sums.rows), cols = d.sums.cols;
  const std::int64_t blocks = (d.sums.rows + size - 1) / size;
  const bool none = x.first && d.products.empty();
  struct Result {
    kernels::Scan scan;
    std::int64_t wrong = 0;
  };
  std::vector<Result> results(static_cast<std::size_t>(blocks));
  core::run_pieces(share.run, blocks, task.scratch(), [&](std::int64_t block, std::byte* memory) {
    const std::int64_t first = block * size, rows = std::min(size, d.sums.rows - first);
    Result& result = results[static_cast<std::size_t>(block)];
    const MatrixView<double> h = load(x, d, first, rows, memory, result.scan);
    const tiles::RowSquares squares{d.rows.before == nullptr ? nullptr : d.rows.before + first,
                                    d.rows.diagonal + first};
    tiles::solve_tile(kernels::table(), {d.sums.block(first, 0, rows, cols), none}, h, squares,
                      d.diagonal, rows_of_tile(x, d, first, rows, memory), result.wrong);
    store_numbers(x, d, first, h);
  });
  std::int64_t wrong = 0;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const Result& result = results[static_cast<std::size_t>(block)];
    kernels::combine(scan_of(x), result.scan, block * size, 0);
    wrong += result.wrong;
  }
  task.lap(Phase::solve);
  check(task, x, wrong, "solve");
}

void run_restore(Task& task, const void* arguments) {
  const auto& x = *static_cast<const RestoreTask*>(arguments);
  const tiles::Tile tile{shape_of(*x.map, x.i, x.j), task.data(0)};
  const std::int64_t wrong = tiles::restore_tile(kernels::table(), tile.residues(), task.scratch());
  task.lap(Phase::reorder);
  check(task, x, wrong, "restore");
}

}  // namespace

ResidueBodies residue_bodies() {
  return {run_sweep, run_diagonal, run_solve, run_restore};
}

std::int64_t residue_scratch_bytes(const RungMap& map, bool computed) {
  const std::int64_t tile = map.grid().tile, load = load_bytes(map, computed);
  if (map.stores_numbers()) return load + kernels::residue_bytes(tile, tile, map.residues());
  return std::max(load, tiles::restore_scratch(tile, tile));
}

}  // namespace stepwell::factor
