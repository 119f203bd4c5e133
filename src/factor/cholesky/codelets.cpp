// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/cholesky/codelets.hpp"

#include <algorithm>
#include <cmath>

#include "factor/cholesky/input_data.hpp"
#include "factor/cholesky/residue_codelets.hpp"
#include "factor/setup.hpp"
#include "kernels/kernels.hpp"

namespace stepwell::factor {
namespace {

using engine::Codelet;
using engine::Phase;
using engine::Task;
using tiles::RungMap;
using tiles::Shape;
using tiles::Sums;

/// Loads the tile (if this is its first piece) and sweeps; returns the sums and the number of
/// pieces of data used.
std::pair<Sums, std::size_t> load_and_sweep(Task& task, const TileTask& x) {
  const kernels::Table& t = kernels::table();
  const CholeskyRules& rules = *x.rules;
  const RungMap& map = *rules.map;
  const tiles::Grid& grid = map.grid();
  const Shape shape = x.i == x.j ? Shape::lower : Shape::full;
  const tiles::TileShape own = shape_of(map, x.i, x.j);
  const Sums sums = own.is_packed() ? Sums{own.rung, own.rows, own.cols, task.data(0)}
                                    : tiles::sums_in({own, task.data(0)});
  std::size_t next = 1;
  if (x.first) {
    const TaskInput input(task, next, rules.load, block_at(grid, x.i, x.j));
    tiles::load_tile(t, input.rows(0, own.rows, task.scratch()), shape, input.scales(0),
                     rules.diagonal_factor, sums,
                     x.results->scans[static_cast<std::size_t>(grid.index(x.i, x.j))]);
    task.lap(Phase::load);
  }
  std::vector<tiles::TileIn> left;
  std::vector<tiles::RightTile> right;
  const RowPieces rows = row_pieces(map, x.j, x.k0, x.k1);
  std::byte* const copies = rows.early ? task.data(next++) : nullptr;
  std::byte* const last_copy = rows.last ? task.data(next++) : nullptr;
  std::size_t at_left = next;
  next += static_cast<std::size_t>(x.k1 - x.k0);
  for (std::int64_t k = x.k0; k < x.k1; ++k, ++at_left) {
    left.push_back({shape_of(map, x.i, k), task.data(at_left)});
    tiles::TileIn stored{shape_of(map, x.j, k), nullptr};
    if (!stored.shape.is_packed()) stored.data = task.data(x.i == x.j ? at_left : next++);
    const bool late = k == x.j - 1;
    right.push_back({stored, rows_of(map, x.j, k, late ? k : x.k0, late ? last_copy : copies)});
  }
  if (x.k0 < x.k1) {
    tiles::sweep(t, sums, left, right, shape, task.scratch(), map.products_by_operands(),
                 sharing(task, x.divided));
  }
  task.lap(Phase::update);
  return {sums, next};
}

void run_sweep(Task& task, const void* arguments) {
  load_and_sweep(task, *static_cast<const TileTask*>(arguments));
}

/// The tile and the inverse of a diagonal or solve task, whose data begins at 'next'.
struct Outputs {
  tiles::Tile tile;
  tiles::Inverse inverse;  ///< without memory in the last column, where nothing is solved with it
};
Outputs outputs_of(const Task& task, const TileTask& x, std::size_t next) {
  const RungMap& map = *x.rules->map;
  const tiles::TileShape shape = shape_of(map, x.i, x.j);
  std::byte* const tile = shape.is_packed() ? task.data(next++) : task.data(0);
  const bool last = x.j + 1 == map.grid().tiles();
  return {{shape, tile}, inverse_of(map, x.j, last ? nullptr : task.data(next))};
}

void run_diagonal(Task& task, const void* arguments) {
  const auto& x = *static_cast<const TileTask*>(arguments);
  const auto [sums, next] = load_and_sweep(task, x);
  const RungMap& map = *x.rules->map;
  const auto [tile, inverse] = outputs_of(task, x, next);
  const tiles::Pivot pivot = tiles::factor_diagonal(
      kernels::table(), sums, map.diagonal_layers(x.j), x.rules->rounding, tile, inverse,
      task.scratch(), x.divided ? sharing(task, true) : tiles::Sharing{});
  task.lap(Phase::diagonal);
  if (pivot.ok()) return;
  x.results->pivot = {x.j * map.grid().tile + pivot.index, pivot.value};
  task.stop();
}

void run_solve(Task& task, const void* arguments) {
  const auto& x = *static_cast<const TileTask*>(arguments);
  const auto [sums, next] = load_and_sweep(task, x);
  const auto [tile, inverse] = outputs_of(task, x, next);
  tiles::solve_tile(kernels::table(), inverse, sums, x.rules->rounding, tile, task.scratch(),
                    sharing(task, x.divided));
  task.lap(Phase::solve);
}

void run_rows(Task& task, const void* arguments) {
  const auto& x = *static_cast<const RowsTask*>(arguments);
  const RungMap& map = *x.map;
  const auto copy_tile = [&](std::int64_t piece, std::byte* scratch) {
    const std::int64_t k = x.k0 + piece;
    const tiles::Tile tile{shape_of(map, x.j, k), task.data(static_cast<std::size_t>(piece) + 1)};
    if (map.residues() > 0) {
      copy_residue_rows(tile, residue_rows_of(map, x.j, k, x.k0, task.data(0)), scratch);
    } else if (row_planes(map, x.j, k) > 0) {
      tiles::make_rows(kernels::table(), tile, rows_of(map, x.j, k, x.k0, task.data(0)));
    }
  };
  core::run_pieces(x.divided ? task.sharing() : tiles::PieceRunner{}, x.k1 - x.k0, task.scratch(),
                   copy_tile);
  task.lap(Phase::reorder);
}

void run_norm(Task& task, const void* arguments) {
  const auto& x = *static_cast<const NormTask*>(arguments);
  const Block at = block_at(x.grid, x.i, x.j);
  const Sums sums{Rung::fp32, at.rows, at.cols, task.scratch()};
  std::size_t next = 0;
  const TaskInput input(task, next, x.load, at);
  const auto a = input.rows(0, at.rows, task.scratch() + sums.bytes());
  const bool diagonal = x.i == x.j;
  kernels::Scan scan;
  tiles::load_tile(kernels::table(), a, diagonal ? Shape::lower : Shape::full, input.scales(0), 1,
                   sums, scan);
  double squares = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    double column = 0;
    for (std::int64_t i = diagonal ? j + 1 : 0; i < a.rows; ++i) {
      const double h = sums.fp32()(i, j);
      column += h * h;
    }
    const double middle = diagonal ? sums.fp32()(j, j) : 0;
    squares += (diagonal ? 2 * column + middle * middle : column);
  }
  x.results->norms[static_cast<std::size_t>(x.grid.index(x.i, x.j))] = std::sqrt(squares);
  task.lap(Phase::load);
}

/// A codelet for each rung; those in residues have a body of their own.
class ByRung {
 public:
  ByRung(const std::string& name, engine::Body body, engine::Body in_residues) {
    for (const Rung rung : all_rungs) {
      codelets_.emplace_back(name + "_" + std::string(to_string(rung)),
                             info(rung).residues > 0 ? in_residues : body);
    }
  }
  const Codelet& operator[](Rung rung) const { return codelets_[static_cast<std::size_t>(rung)]; }

 private:
  std::vector<Codelet> codelets_;
};

}  // namespace

const Codelet& sweep_codelet(Rung rung) {
  static const auto* const codelets = new ByRung("sweep", run_sweep, residue_bodies().sweep);
  return (*codelets)[rung];
}
const Codelet& diagonal_codelet(Rung rung) {
  static const auto* const codelets =
      new ByRung("diagonal", run_diagonal, residue_bodies().diagonal);
  return (*codelets)[rung];
}
const Codelet& solve_codelet(Rung rung) {
  static const auto* const codelets = new ByRung("solve", run_solve, residue_bodies().solve);
  return (*codelets)[rung];
}
const Codelet& rows_codelet() {
  static const Codelet* const codelet = new Codelet("rows", run_rows);
  return *codelet;
}
const Codelet& restore_codelet() {
  static const Codelet* const codelet = new Codelet("restore", residue_bodies().restore);
  return *codelet;
}
const Codelet& norm_codelet() {
  static const Codelet* const codelet = new Codelet("norm", run_norm);
  return *codelet;
}

}  // namespace stepwell::factor
