// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/operations.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace stepwell::tiles {
namespace {

using kernels::Order;
using kernels::PackedOut;

template <class T>
void copy_lower(MatrixView<const T> from, MatrixView<T> to) {
  for (std::int64_t j = 0; j < from.cols; ++j) {
    std::fill_n(to.column(j), std::min(j, to.rows), T{0});
    if (from.data == to.data) continue;
    std::copy(from.column(j) + j, from.column(j) + from.rows, to.column(j) + j);
  }
}

/// Scratch for a block of the right-hand side together with its solution, or for a block that is
/// inverted.
std::int64_t solve_scratch(std::int64_t tile) {
  return core::size_product(std::max(tile, kInvertedBlock), kInvertedBlock, 8, "scratch");
}

/// Scratch for the factor of a diagonal tile: its rows, and a block column.
std::int64_t diagonal_scratch(std::int64_t tile) {
  return std::max(kernels::tree_scratch(tile), piece_bytes(tile) + 4 * tile * kernels::kLeaf);
}

}  // namespace

std::int64_t piece_bytes(std::int64_t tile) {
  return core::round_up(2 * kernels::packed_elements(tile, tile, 3), 64);
}

std::int64_t scratch_bytes(std::int64_t tile) {
  const std::int64_t product = kernels::sums_ld(tile) * tile * 4;
  return std::max({2 * piece_bytes(tile) + product, diagonal_scratch(tile), solve_scratch(tile)});
}

std::int64_t scratch_bytes(const RungMap& map) {
  const std::int64_t tile = map.grid().tile;
  if (!map.is_uniform()) return scratch_bytes(tile);  // operands of different rungs are converted
  const bool packs = map.most_planes() > 0;
  return std::max(packs ? diagonal_scratch(tile) : 0, solve_scratch(tile));
}

void load_tile(const Table& t, MatrixView<const double> a, Shape shape, kernels::Scales scales,
               double diagonal_factor, const Sums& sums, kernels::Scan& scan) {
  kernels::LoadArgs args;
  args.a = a;
  args.shape = shape;
  args.scales = scales;
  if (sums.wide()) {
    args.out64 = sums.fp64();
  } else {
    args.out32 = sums.fp32();
  }
  kernels::load(t, args, scan);
  if (shape != Shape::lower || diagonal_factor == 1) return;
  const core::FpScope fp;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const double scaled = (scales.row[i] * a(i, i)) * scales.col[i] * diagonal_factor;
    if (sums.wide()) {
      sums.fp64()(i, i) = scaled;
    } else {
      sums.fp32()(i, i) = static_cast<float>(scaled);
    }
  }
}

void make_rows(const Table& t, TileIn tile, PackedOut out) {
  if (tile.shape.is_packed()) return kernels::reorder(t, tile.packed(), out);
  if (tile.shape.rung == Rung::fp64)
    return kernels::pack(t, split_rung(out.planes), tile.fp64(), out);
  kernels::pack(t, split_rung(out.planes), tile.fp32(), out);
}

std::int64_t Inverse::bytes() const {
  const std::int64_t elements = core::size_product(core::round_up(order, 16), order, "inverse");
  return packed_bytes() + elements * (wide() ? 12 : 4);
}

std::int64_t Inverse::bytes_to_solve_with() const {
  return wide() || fp32 || planes == 0 ? bytes() : packed_bytes();
}

std::int64_t Inverse::packed_bytes() const {
  return 2 * kernels::packed_elements(order, order, planes);
}

MatrixView<double> Inverse::l64() const {
  return {reinterpret_cast<double*>(data + packed_bytes()), order, order,
          core::round_up(order, 16)};
}

MatrixView<float> Inverse::w32() const {
  const std::int64_t ld = core::round_up(order, 16);
  std::byte* const at = data + packed_bytes() + (wide() ? ld * order * 8 : 0);
  return {reinterpret_cast<float*>(at), order, order, ld};
}

PackedOut Inverse::rows() const {
  return kernels::packed(reinterpret_cast<std::uint16_t*>(data), order, order, split_rung(planes),
                         Order::rows);
}

/// The diagonal blocks are inverted in L's own format and the narrower forms are derived from the
/// result; only then is the fp64 form overwritten with L.
void make_inverse(const Table& t, MatrixView<const double> l, const Inverse& inverse) {
  if (inverse.fp32 || inverse.planes > 0) {
    kernels::invert_diagonal_blocks<double>(t, l, kInvertedBlock, inverse.l64());
  }
  if (inverse.fp32) convert<float, double>(inverse.l64(), inverse.w32());
  if (inverse.planes > 0) {
    kernels::pack(t, split_rung(inverse.planes), inverse.l64(), inverse.rows());
  }
  copy_lower<double>(l, inverse.l64());
}
void make_inverse(const Table& t, MatrixView<const float> l, const Inverse& inverse) {
  kernels::invert_diagonal_blocks<float>(t, l, kInvertedBlock, inverse.w32());
  if (inverse.wide()) convert<double, float>(l, inverse.l64());
  if (inverse.planes == 0) return;
  kernels::pack(t, split_rung(inverse.planes), inverse.w32(), inverse.rows());
}

namespace {

/// factor_diagonal() of a tile with planes whose products are at the tile's own rung. Solves at
/// that rung read the same rows as the products, which are then made where the solves expect them.
Pivot factor_packed(const Table& t, MatrixView<float> a, Rounding rounding, Tile tile,
                    const Inverse& inverse, std::byte* scratch, const Sharing& share) {
  const Rung rung = tile.shape.rung;
  const bool shared = inverse.data != nullptr && !inverse.wide() && !inverse.fp32 &&
                      inverse.planes == info(rung).planes;
  const PackedOut rows = shared ? inverse.rows()
                                : kernels::packed(reinterpret_cast<std::uint16_t*>(scratch), a.rows,
                                                  a.rows, rung, Order::rows);
  const Pivot pivot = kernels::packed_potrf(t, rung, a, rounding, tile.packed(), rows,
                                            scratch + piece_bytes(a.rows), share.run);
  if (!pivot.ok() || inverse.data == nullptr) return pivot;
  if (shared) {
    kernels::invert_diagonal_blocks(t, split_rung(inverse.planes), a, kInvertedBlock, rows, scratch,
                                    share.run);
  } else {
    make_inverse(t, a, inverse);
  }
  return pivot;
}

}  // namespace

Pivot factor_diagonal(const Table& t, const Sums& sums, const kernels::Layers& layers,
                      Rounding rounding, Tile tile, const Inverse& inverse, std::byte* scratch,
                      const Sharing& share) {
  if (sums.wide()) {
    const Pivot pivot = kernels::tree_potrf(t, sums.fp64(), layers, scratch);
    if (!pivot.ok()) return pivot;
    if (inverse.data != nullptr) make_inverse(t, sums.fp64(), inverse);
    copy_lower<double>(sums.fp64(), tile.fp64());
    return pivot;
  }
  if (tile.shape.is_packed() && layers.count == 1 && layers.at(0) == tile.shape.rung) {
    return factor_packed(t, sums.fp32(), rounding, tile, inverse, scratch, share);
  }
  const Pivot pivot = kernels::tree_potrf(t, sums.fp32(), layers, scratch);
  if (!pivot.ok()) return pivot;
  if (inverse.data != nullptr) make_inverse(t, sums.fp32(), inverse);
  if (!tile.shape.is_packed()) {
    copy_lower<float>(sums.fp32(), tile.fp32());
    return pivot;
  }
  if (rounding == Rounding::toward_zero) {
    kernels::truncate(sums.fp32(), tile.shape.rung, Shape::lower);
  }
  kernels::pack(t, tile.shape.rung, sums.fp32(), tile.packed(), Shape::lower);
  return pivot;
}

void invert_stored(const Table& t, TileIn tile, const Inverse& inverse, std::byte* scratch) {
  if (tile.shape.rung == Rung::fp64) return make_inverse(t, tile.fp64(), inverse);
  if (tile.shape.rung == Rung::fp32) return make_inverse(t, tile.fp32(), inverse);
  const std::int64_t n = tile.shape.rows;
  const MatrixView<float> l = view(reinterpret_cast<float*>(scratch), n, n);
  kernels::unpack(t, tile.packed(), l);
  make_inverse(t, l, inverse);
}

void solve_tile(const Table& t, const Inverse& inverse, const Sums& sums, Rounding rounding,
                Tile tile, std::byte* scratch, const Sharing& share) {
  if (tile.shape.is_packed()) {
    const std::int64_t blocks = (sums.rows + share.rows - 1) / share.rows;
    return core::run_pieces(share.run, blocks, scratch, [&](std::int64_t block, std::byte* memory) {
      const std::int64_t row = block * share.rows, rows = std::min(share.rows, sums.rows - row);
      kernels::solve_inverted(t, tile.shape.rung, inverse.rows(), kInvertedBlock,
                              sums.fp32().block(row, 0, rows, sums.cols),
                              tile.packed().block(row, 0, rows, sums.cols), memory, rounding);
    });
  }
  if (sums.wide()) {
    kernels::tree_trsm<double>(t, inverse.l64(), sums.fp64(), kernels::uniform_layers(Rung::fp64),
                               scratch);
    if (sums.data != tile.data) convert<double, double>(sums.fp64(), tile.fp64());
    return;
  }
  kernels::solve_inverted(t, inverse.w32(), kInvertedBlock, sums.fp32(), scratch);
  if (sums.data != tile.data) convert<float, float>(sums.fp32(), tile.fp32());
}

void copy_tile(const Table& t, TileIn tile, kernels::Scales scales, MatrixView<double> out) {
  if (tile.shape.is_packed()) return kernels::unpack(t, tile.packed(), out, scales);
  const core::FpScope fp;
  for (std::int64_t j = 0; j < out.cols; ++j) {
    const double col = scales.col == nullptr ? 1 : scales.col[j];
    for (std::int64_t i = 0; i < out.rows; ++i) {
      const double row = scales.row == nullptr ? 1 : scales.row[i];
      const double x = tile.shape.rung == Rung::fp64 ? tile.fp64()(i, j) : tile.fp32()(i, j);
      out(i, j) = row * x * col;
    }
  }
}

}  // namespace stepwell::tiles
