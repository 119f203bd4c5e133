// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/layout.hpp"
#include "stepwell/view.hpp"
#include "tiles/residue_tile.hpp"

/// A tile as it is stored: at a rung with planes it is packed in pairs order, ready to be an
/// operand of the matrix engine; at int8x14 it is in residues or as numbers that will be converted
/// to residues (residue_tile.hpp), and at fp32 and fp64 plain column-major.
namespace stepwell::tiles {

/// The rung that splits a value into this many bf16 terms. Its leading planes can be used for rungs
/// with fewer planes.
constexpr Rung split_rung(int planes) {
  return planes <= 1 ? Rung::bf16 : planes == 2 ? Rung::bf16x2 : Rung::bf16x3;
}

struct TileShape {
  Rung rung = Rung::bf16;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;  ///< leading dimension of a plain tile; 0: rows rounded up to 16
  bool as_numbers = false;  ///< at an int8 rung: in FP64, and not in residues

  bool is_packed() const { return info(rung).planes > 0; }
  int residues() const { return info(rung).residues; }
  bool is_plain() const { return !is_packed() && residues() == 0; }
  std::int64_t ld() const { return stride > 0 ? stride : core::round_up(rows, 16); }
  /// Bytes of storage, a multiple of 64.
  std::int64_t bytes() const {
    if (is_packed()) return 2 * kernels::packed_elements(rows, cols, info(rung).planes);
    if (as_numbers) return number_tile_bytes(rows, cols);
    if (residues() > 0) return residue_tile_bytes(rows, cols, residues());
    return core::size_product(ld(), cols, rung == Rung::fp64 ? 8 : 4, "tile");
  }
};

/// A non-owning view of a tile. B is std::byte or const std::byte.
template <class B>
struct TileOf {
  TileShape shape;
  B* data = nullptr;

  template <class T>
  using As = std::conditional_t<std::is_const_v<B>, const T, T>;

  kernels::Packed<As<std::uint16_t>> packed() const {
    const auto p =
        kernels::packed(nullptr, shape.rows, shape.cols, shape.rung, kernels::Order::pairs);
    return {reinterpret_cast<As<std::uint16_t>*>(data),
            p.rows,
            p.depth,
            p.panel_stride,
            p.planes,
            p.order};
  }
  MatrixView<As<float>> fp32() const {
    return {reinterpret_cast<As<float>*>(data), shape.rows, shape.cols, shape.ld()};
  }
  MatrixView<As<double>> fp64() const {
    return {reinterpret_cast<As<double>*>(data), shape.rows, shape.cols, shape.ld()};
  }
  ResidueTile residues() const requires(!std::is_const_v<B>) {
    return residue_tile(data, shape.rows, shape.cols, shape.residues());
  }
  NumberTile numbers() const requires(!std::is_const_v<B>) {
    return number_tile(data, shape.rows, shape.cols);
  }
  operator TileOf<const B>() const requires(!std::is_const_v<B>) { return {shape, data}; }
};

using Tile = TileOf<std::byte>;
using TileIn = TileOf<const std::byte>;

/// The sums of a tile while it is updated: fp32, or fp64 for a tile at fp64; column-major. The sums
/// of a packed tile have separate memory with a leading dimension that suits the caches; the sums
/// of a plain tile are in its own storage.
struct Sums {
  Rung rung = Rung::bf16;  ///< rung of the tile that they will become
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::byte* data = nullptr;
  std::int64_t stride = 0;  ///< leading dimension; 0: the one that suits the caches

  std::int64_t ld() const { return stride > 0 ? stride : kernels::sums_ld(rows); }
  bool wide() const { return rung == Rung::fp64; }
  std::int64_t bytes() const {
    return core::size_product(ld(), cols, wide() ? 8 : 4, "sums of a tile");
  }
  MatrixView<float> fp32() const { return {reinterpret_cast<float*>(data), rows, cols, ld()}; }
  MatrixView<double> fp64() const { return {reinterpret_cast<double*>(data), rows, cols, ld()}; }
};

/// The sums of a plain tile, in its own storage.
inline Sums sums_in(const Tile& tile) {
  return {tile.shape.rung, tile.shape.rows, tile.shape.cols, tile.data, tile.shape.ld()};
}

}  // namespace stepwell::tiles
