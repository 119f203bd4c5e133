// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/changes/rotations.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/checked.hpp"
#include "core/machine/fp_scope.hpp"
#include "kernels/kernels.hpp"

namespace stepwell::factor {
namespace {

using kernels::kMostRotated;

/// Columns of L that are rotated together: their diagonal block is small compared with the rows
/// below it. Tiles have multiples of it.
constexpr std::int64_t kGroup = 32;
/// Rows of a tile that one thread rotates.
constexpr std::int64_t kRows = 128;

/// The rotations of one group of columns.
struct GroupRotations {
  std::vector<double> c, s;

  explicit GroupRotations(std::int64_t k) : c(static_cast<std::size_t>(kGroup * k)), s(c.size()) {}
  kernels::Rotations from(std::int64_t column, std::int64_t k) const {
    return {c.data() + column * k, s.data() + column * k};
  }
};

/// Makes the rows of V next to a diagonal block zero.
void rotate_diagonal(const kernels::Table& table, MatrixView<double> l, MatrixView<double> v,
                     GroupRotations& r) {
  for (std::int64_t j = 0; j < l.cols; ++j) {
    for (std::int64_t t = 0; t < v.cols; ++t) {
      const double length = std::hypot(l(j, j), v(j, t));
      r.c[static_cast<std::size_t>(j * v.cols + t)] = l(j, j) / length;
      r.s[static_cast<std::size_t>(j * v.cols + t)] = v(j, t) / length;
      l(j, j) = length;
      v(j, t) = 0;
    }
    const std::int64_t below = l.rows - j - 1;
    kernels::rotate(table, l.block(j + 1, j, below, 1), v.block(j + 1, 0, below, v.cols),
                    r.from(j, v.cols));
  }
}

std::int64_t first_row(MatrixView<const double> v) {
  std::int64_t first = v.rows;
  for (std::int64_t t = 0; t < v.cols; ++t) {
    const double* const column = v.column(t);
    first = std::find_if(column, column + first, [](double e) { return e != 0; }) - column;
  }
  return first;
}

/// At most kMostRotated columns of V.
void add_slice(engine::ThreadPool& pool, const tiles::TileMatrix& l, MatrixView<double> v) {
  const tiles::Grid& grid = l.grid();
  const kernels::Table& table = kernels::table();
  const std::int64_t parts = core::ceil_div(grid.tile, kRows);
  GroupRotations rotations(v.cols);
  for (std::int64_t first = first_row(v) / kGroup * kGroup; first < grid.n; first += kGroup) {
    const std::int64_t j = first / grid.tile, column = first % grid.tile;
    const std::int64_t columns = std::min(kGroup, grid.n - first), end = column + columns;
    rotate_diagonal(table, l.tile(j, j).fp64().block(column, column, columns, columns),
                    v.block(first, 0, columns, v.cols), rotations);
    pool.for_each((grid.tiles() - j) * parts, [&](std::int64_t k) {
      const std::int64_t i = j + k / parts;
      const std::int64_t top = std::max(k % parts * kRows, i == j ? end : 0);
      const std::int64_t rows = std::min((k % parts + 1) * kRows, grid.size(i)) - top;
      if (rows <= 0) return;
      kernels::rotate(table, l.tile(i, j).fp64().block(top, column, rows, columns),
                      v.block(i * grid.tile + top, 0, rows, v.cols), rotations.from(0, v.cols));
    });
  }
}

/// Rows [top, top + w.rows) of tile row i, with the slice that begins with column t. The columns of
/// W begin as zeros, and become rows of V.
void subtract_rows(const tiles::TileMatrix& l, const RotationTable& rotations, std::int64_t t,
                   std::int64_t i, std::int64_t top, MatrixView<double> w) {
  const tiles::Grid& grid = l.grid();
  const kernels::Table& table = kernels::table();
  const auto rotate = [&](std::int64_t j, std::int64_t column, std::int64_t columns,
                          std::int64_t row, std::int64_t rows) {
    const std::int64_t global = j * grid.tile + column;
    kernels::rotate(table, l.tile(i, j).fp64().block(row, column, rows, columns),
                    w.block(row - top, 0, rows, w.cols),
                    {rotations.cosines(global, t), rotations.sines(global, t), true});
  };
  const std::int64_t bottom = top + w.rows;
  for (std::int64_t column = (bottom - 1) / kGroup * kGroup; column >= 0; column -= kGroup) {
    const std::int64_t end = std::min(column + kGroup, bottom);
    for (std::int64_t row = std::max(column, top); row < end; ++row) {
      rotate(i, column, row - column + 1, row, 1);
    }
    if (const std::int64_t row = std::max(end, top); row < bottom) {
      rotate(i, column, end - column, row, bottom - row);
    }
  }
  for (std::int64_t j = i - 1; j >= 0; --j) {
    for (std::int64_t column = grid.tile - kGroup; column >= 0; column -= kGroup) {
      rotate(j, column, kGroup, top, w.rows);
    }
  }
}

}  // namespace

void add_columns(engine::ThreadPool& pool, const tiles::TileMatrix& l, MatrixView<double> v) {
  const core::FpScope fp;
  for (std::int64_t t = 0; t < v.cols; t += kMostRotated) {
    add_slice(pool, l, v.block(0, t, v.rows, std::min(kMostRotated, v.cols - t)));
  }
}

RotationTable::RotationTable(std::int64_t n, std::int64_t k)
    : n_(n), k_(k), c_(static_cast<std::size_t>(n * k)), s_(c_.size()) {}

std::int64_t RotationTable::width(std::int64_t t) const {
  return std::min(kMostRotated, k_ - first_of(t));
}

std::int64_t RotationTable::first_of(std::int64_t t) {
  return t / kMostRotated * kMostRotated;
}

std::int64_t RotationTable::bytes(std::int64_t n, std::int64_t k) {
  return core::size_product(n, k, 16, "rotations");
}

RotationTable eliminate_rows(MatrixView<double> p, MatrixView<double> s) {
  const core::FpScope fp;
  const std::int64_t k = p.cols;
  RotationTable table(p.rows, k);
  std::vector<double> row(static_cast<std::size_t>(k));
  for (std::int64_t i = p.rows - 1; i >= 0; --i) {
    for (std::int64_t t = 0; t < k; ++t) row[static_cast<std::size_t>(t)] = p(i, t);
    for (std::int64_t t = 0; t < k; ++t) {
      double* const of_s = s.column(t);  // row t of S
      const double length = std::hypot(of_s[t], row[static_cast<std::size_t>(t)]);
      const double cosine = of_s[t] / length, sine = row[static_cast<std::size_t>(t)] / length;
      of_s[t] = length;
      for (std::int64_t u = t + 1; u < k; ++u) {
        const double x = of_s[u], y = row[static_cast<std::size_t>(u)];
        of_s[u] = cosine * x + sine * y;
        row[static_cast<std::size_t>(u)] = cosine * y - sine * x;
      }
      // Columns of L play the part of P's rows: (w, l) <- (c w + s l, c l - s w).
      table.set(i, t, cosine, -sine);
    }
  }
  return table;
}

void subtract_columns(engine::ThreadPool& pool, const tiles::TileMatrix& l,
                      const RotationTable& table) {
  const tiles::Grid& grid = l.grid();
  const std::int64_t parts = core::ceil_div(grid.tile, kRows);
  pool.for_each(grid.tiles() * parts, [&](std::int64_t k) {
    const core::FpScope fp;
    const std::int64_t index = grid.tiles() * parts - 1 - k;  // the longest rows first
    const std::int64_t i = index / parts, top = index % parts * kRows;
    const std::int64_t rows = std::min(kRows, grid.size(i) - top);
    if (rows <= 0) return;
    for (std::int64_t t = 0; t < table.columns(); t += kMostRotated) {
      const std::int64_t columns = table.width(t);
      alignas(64) std::array<double, kRows * kMostRotated> w{};
      subtract_rows(l, table, t, i, top, view(w.data(), rows, columns));
    }
  });
}

}  // namespace stepwell::factor
