// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "core/checks.hpp"
#include "core/memory_error.hpp"
#include "factor/changes/changing_factor.hpp"
#include "factor/changes/rotations.hpp"
#include "factor/setup.hpp"
#include "stepwell/error.hpp"

/// Rows and columns are dropped from A: L without them is a factor except for the products of the
/// dropped columns' elements below, which are added to it.
namespace stepwell {
namespace factor {
namespace {

/// Which rows of A are dropped. Throws Error(invalid_argument) for a row that does not exist, or
/// exists once and is named twice.
std::vector<bool> marked(std::span<const std::int64_t> rows, std::int64_t n) {
  std::vector<bool> dropped(static_cast<std::size_t>(n));
  for (const std::int64_t row : rows) {
    if (row < 0 || row >= n) {
      throw Error(ErrorCode::invalid_argument, "drop: there is no row " + std::to_string(row) +
                                                   " in a factor of order " + std::to_string(n));
    }
    if (dropped[static_cast<std::size_t>(row)]) {
      throw Error(ErrorCode::invalid_argument,
                  "drop: row " + std::to_string(row) + " is named twice");
    }
    dropped[static_cast<std::size_t>(row)] = true;
  }
  return dropped;
}

/// The elements of a dropped column of L in the rows that are kept: zeros above it.
void copy_dropped(const tiles::TileMatrix& l, std::span<const std::int64_t> kept,
                  std::int64_t column, double* out) {
  const auto below = std::upper_bound(kept.begin(), kept.end(), column) - kept.begin();
  std::fill_n(out, below, 0.0);
  copy_column(l, column, kept.subspan(static_cast<std::size_t>(below)), out + below);
}

/// The elements of v at these places.
std::vector<double> at(const std::vector<double>& v, std::span<const std::int64_t> places) {
  std::vector<double> out;
  if (v.empty()) return out;
  for (const std::int64_t i : places) out.push_back(v[static_cast<std::size_t>(i)]);
  return out;
}

/// The order of the kept rows, renumbered.
std::vector<std::int64_t> order_of(const OpenFactor& f, std::span<const std::int64_t> kept,
                                   const std::vector<bool>& dropped) {
  std::vector<std::int64_t> order;
  if (!f.permuted()) return order;
  std::vector<std::int64_t> number(dropped.size());
  std::int64_t next = 0;
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    number[i] = next;
    if (!dropped[i]) ++next;
  }
  for (const std::int64_t i : kept) order.push_back(number[static_cast<std::size_t>(f.place(i))]);
  return order;
}

/// L without the rows and columns 'dropped', updated.
tiles::TileMatrix without(OpenFactor& f, std::span<const std::int64_t> kept,
                          std::span<const std::int64_t> dropped, const tiles::Grid& grid) {
  const auto count = static_cast<std::int64_t>(dropped.size());
  const std::int64_t size = core::size_product(grid.n, count, "drop: columns");
  core::require_memory(core::size_product(size, 8, "drop: columns") +
                           tiles::tile_matrix_bytes({grid, uniform(Rung::fp64)}),
                       "drop: a smaller factor");
  const core::Buffer<double> memory(size, core::Contents::any);
  const MatrixView<double> v = view(memory.data(), grid.n, count);
  f.pool().for_each(count, [&](std::int64_t c) {
    copy_dropped(f.l(), kept, dropped[static_cast<std::size_t>(c)], v.column(c));
  });
  tiles::TileMatrix l = selected(f.pool(), f.l(), kept, grid);
  add_columns(f.pool(), l, v);
  return l;
}

}  // namespace
}  // namespace factor

void Factor::drop(std::span<const std::int64_t> rows, const EngineOptions& with) try {
  factor::ChangingFactor f(*this, with, "drop");
  factor::OpenFactor& open = f.open();
  const std::vector<bool> dropped = factor::marked(rows, open.n());
  if (rows.empty()) return;
  std::vector<std::int64_t> kept, columns;  // of L
  for (std::int64_t i = 0; i < open.n(); ++i) {
    (dropped[static_cast<std::size_t>(open.place(i))] ? columns : kept).push_back(i);
  }
  const auto n = static_cast<std::int64_t>(kept.size());
  const auto count = static_cast<std::int64_t>(columns.size());
  const bool last_ones = n == 0 || kept.back() == n - 1;
  const tiles::Grid grid{n, std::min(open.grid().tile, factor::choose_tile(n, 0))};
  factor::Scale scale{factor::at(open.data().scale.row, kept),
                      factor::at(open.data().scale.col, kept), open.data().scale.gain};
  std::vector<double> norms = factor::at(open.data().largest_row_norms, kept);
  std::vector<std::int64_t> order = factor::order_of(open, kept, dropped);
  if (last_ones) {
    f.data().l.resize(n);
  } else {
    f.data().l = factor::without(open, kept, columns, grid);
  }
  f.data().scale = std::move(scale);
  f.data().order = std::move(order);
  f.data().largest_row_norms = std::move(norms);
  f.report_change(last_ones ? 0 : count);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
