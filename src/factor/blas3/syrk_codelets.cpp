// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/blas3/syrk_codelets.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace stepwell::factor {
namespace {

using engine::Phase;
using engine::Task;
using kernels::Order;
using tiles::Grid;
using tiles::Shape;
using tiles::Sums;
using tiles::TileIn;
using tiles::TileShape;

void run_narrow(Task& task, const void* arguments) {
  const auto& x = *static_cast<const SyrkNarrowTask*>(arguments);
  const SyrkRules& s = *x.rules;
  const kernels::Table& t = kernels::table();
  const auto a = task.matrix<const double>(1);
  const std::vector<double> scale(static_cast<std::size_t>(s.map.grid().tile), s.scale);
  for (std::int64_t k = x.k0; k < x.k1; ++k) {
    const TileShape shape = s.packed_shape(x.i, k);
    std::byte* const at = task.data(0) + (k - x.k0) * s.tile_bytes();
    // Narrowing goes through fp32, the format of the products' sums: one pass over A narrows,
    // scales and scans.
    const tiles::Tile plain{{Rung::fp32, shape.rows, shape.cols},
                            s.fp32 ? at + s.packed_bytes() : task.scratch()};
    kernels::LoadArgs args;
    args.a = a.block(0, k * s.across.tile, shape.rows, shape.cols);
    args.scales.row = s.scale == 1 ? nullptr : scale.data();
    args.out32 = plain.fp32();
    kernels::Scan scan;
    kernels::load(t, args, scan);
    if (s.planes > 0) kernels::pack(t, s.packed, plain.fp32(), tiles::Tile{shape, at}.packed());
    std::atomic<double>& largest = x.results->largest;
    double seen = largest;
    while (scan.max_abs > seen && !largest.compare_exchange_weak(seen, scan.max_abs)) {
    }
  }
  task.lap(Phase::load);
}

void run_rows(Task& task, const void* arguments) {
  const auto& x = *static_cast<const SyrkRowTask*>(arguments);
  const SyrkRules& s = *x.rules;
  for (std::int64_t k = 0; k < s.across.tiles(); ++k) {
    const TileShape shape = s.packed_shape(x.j, k);
    const std::byte* const from =
        task.data(1 + static_cast<std::size_t>(k / kSyrkGroup)) + k % kSyrkGroup * s.tile_bytes();
    tiles::make_rows(
        kernels::table(), {shape, from},
        kernels::packed(reinterpret_cast<std::uint16_t*>(task.data(0) + k * s.packed_bytes()),
                        shape.rows, shape.cols, shape.rung, Order::rows));
  }
  task.lap(Phase::reorder);
}

/// C = beta C + alpha unscale^2 P. The scale is applied twice rather than squared, because its
/// square may overflow where the product does not.
template <class T>
void add_product(MatrixView<const T> p, double alpha, double unscale, double beta, Shape shape,
                 MatrixView<double> c) {
  const core::FpScope fp;
  for (std::int64_t j = 0; j < c.cols; ++j) {
    const T* const from = p.column(j);
    double* const to = c.column(j);
    const std::int64_t first = shape == Shape::lower ? j : 0;
    if (beta == 0) {
      for (std::int64_t i = first; i < c.rows; ++i) {
        to[i] = alpha * (static_cast<double>(from[i]) * unscale * unscale);
      }
    } else {
      for (std::int64_t i = first; i < c.rows; ++i) {
        to[i] = beta * to[i] + alpha * (static_cast<double>(from[i]) * unscale * unscale);
      }
    }
  }
}

void run_tile(Task& task, const void* arguments) {
  const auto& x = *static_cast<const SyrkTileTask*>(arguments);
  const SyrkRules& s = *x.rules;
  const Grid& grid = s.map.grid();
  const Rung rung = s.map.at(x.i, x.j);
  const Shape shape = x.i == x.j ? Shape::lower : Shape::full;
  const std::int64_t rows = grid.size(x.i);
  const std::int64_t cols = grid.size(x.j);
  const auto groups = static_cast<std::size_t>((s.across.tiles() + kSyrkGroup - 1) / kSyrkGroup);
  // Scratch memory: first the sums, then the scratch of the operations on tiles.
  const Sums sums{rung, rows, cols, task.scratch()};
  std::fill_n(task.scratch(), sums.bytes(), std::byte{0});

  // The pieces of A that the left and the right operand are read from, after C.
  const std::size_t pieces = rung == Rung::fp64 ? 1 : groups;
  const std::size_t of_left = 1;
  const std::size_t of_right = info(rung).planes == 0 && x.i == x.j ? of_left : of_left + pieces;
  std::vector<TileIn> left;
  std::vector<tiles::RightTile> right;
  for (std::int64_t k = 0; k < s.across.tiles(); ++k) {
    const auto group = static_cast<std::size_t>(k / kSyrkGroup);
    const std::int64_t within = k % kSyrkGroup * s.tile_bytes();
    if (rung == Rung::fp64) {
      const auto tile_of = [&](std::size_t piece) -> TileIn {
        const auto a = task.matrix<const double>(piece);
        return {{Rung::fp64, a.rows, s.across.size(k), a.ld},
                reinterpret_cast<const std::byte*>(a.column(k * s.across.tile))};
      };
      left.push_back(tile_of(of_left));
      right.push_back({tile_of(of_right), {}});
    } else if (rung == Rung::fp32) {
      const std::int64_t plain = within + s.packed_bytes();
      const TileShape b{Rung::fp32, cols, s.across.size(k)};
      left.push_back({{Rung::fp32, rows, s.across.size(k)}, task.data(of_left + group) + plain});
      right.push_back({{b, task.data(of_right + group) + plain}, {}});
    } else {
      const TileShape b = s.packed_shape(x.j, k);
      auto* const in_rows =
          reinterpret_cast<std::uint16_t*>(task.data(of_right) + k * s.packed_bytes());
      left.push_back({s.packed_shape(x.i, k), task.data(of_left + group) + within});
      right.push_back(
          {{b, nullptr}, kernels::packed(in_rows, b.rows, b.cols, b.rung, Order::rows)});
    }
  }
  tiles::sweep(kernels::table(), sums, left, right, shape,
               task.scratch() + core::round_up(sums.bytes(), 64));
  task.lap(Phase::update);

  const auto c = task.matrix<double>(0);
  if (sums.wide()) {
    add_product<double>(sums.fp64(), -s.alpha, 1, s.beta, shape, c);
  } else {
    add_product<float>(sums.fp32(), -s.alpha, 1 / s.scale, s.beta, shape, c);
  }
  task.lap(Phase::solve);
}

}  // namespace

std::int64_t syrk_scratch_bytes(std::int64_t tile) {
  return core::round_up(Sums{Rung::fp64, tile, tile, nullptr}.bytes(), 64) +
         tiles::scratch_bytes(tile);
}

const engine::Codelet& syrk_narrow_codelet() {
  static const auto* const codelet = new engine::Codelet("syrk_narrow", run_narrow);
  return *codelet;
}
const engine::Codelet& syrk_rows_codelet() {
  static const auto* const codelet = new engine::Codelet("syrk_rows", run_rows);
  return *codelet;
}
const engine::Codelet& syrk_tile_codelet() {
  static const auto* const codelet = new engine::Codelet("syrk_tile", run_tile);
  return *codelet;
}

}  // namespace stepwell::factor
