// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/checked.hpp"
#include "stepwell/rung.hpp"

/// The packed layout of an operand of the matrix engine.
///
/// An operand is rows x depth elements, each the sum of 'planes' bf16 terms. It is cut into panels
/// of 32 rows; a panel is a sequence of depth blocks of 32; a depth block holds its planes one
/// after the other; a plane is two engine tiles of 16 rows x 32 depth, 1 KiB each:
///
///   [panel][depth block][plane][half panel][1 KiB tile]
///
/// Inside a tile there are two orders, and one is the 16x16 dword transpose of the other:
///   pairs  [16 pairs of k][16 rows][2]   the engine's right operand. L is stored in this order,
///                                        because a column-major tile packs without a transpose.
///   rows   [16 rows][32 k]               the engine's left operand: row block j of L, converted
///                                        once per block column.
///
/// Rows and depth are padded with zeros to multiples of 32.
namespace stepwell::kernels {

inline constexpr std::int64_t kPanel = 32;          ///< rows of a panel
inline constexpr std::int64_t kDepth = 32;          ///< depth of a depth block
inline constexpr std::int64_t kEngineRows = 16;     ///< rows of an engine tile
inline constexpr std::int64_t kTileElements = 512;  ///< bf16 elements of an engine tile
inline constexpr std::int64_t kPlaneElements = 2 * kTileElements;  ///< bf16 elements of a plane

enum class Order : unsigned char { pairs, rows };

/// A non-owning view of a packed operand. T is std::uint16_t or const std::uint16_t (bf16 bits).
template <class T>
struct Packed {
  T* data = nullptr;              ///< aligned to 64 bytes
  std::int64_t rows = 0;          ///< without padding
  std::int64_t depth = 0;         ///< without padding
  std::int64_t panel_stride = 0;  ///< bf16 elements from one panel to the next
  int planes = 1;
  Order order = Order::pairs;

  std::int64_t panels() const { return (rows + kPanel - 1) / kPanel; }
  std::int64_t depth_blocks() const { return (depth + kDepth - 1) / kDepth; }

  /// Depth block kb of panel p: 'planes' planes of kPlaneElements elements.
  T* at(std::int64_t p, std::int64_t kb) const {
    return data + p * panel_stride + kb * planes * kPlaneElements;
  }

  /// Offset of the term 'plane' of element (i, k).
  std::int64_t offset(std::int64_t i, std::int64_t k, int plane) const {
    const std::int64_t r = i % kEngineRows;
    const std::int64_t c = k % kDepth;
    const std::int64_t inner = order == Order::rows ? r * kDepth + c : (c / 2) * 32 + r * 2 + c % 2;
    return (i / kPanel) * panel_stride + ((k / kDepth) * planes + plane) * kPlaneElements +
           (i % kPanel / kEngineRows) * kTileElements + inner;
  }

  /// The m x n block that starts at (i, k). i and k are multiples of 32, and so are m and n, unless
  /// the block ends where the operand ends.
  Packed block(std::int64_t i, std::int64_t k, std::int64_t m, std::int64_t n) const {
    return {at(i / kPanel, k / kDepth), m, n, panel_stride, planes, order};
  }

  operator Packed<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, depth, panel_stride, planes, order};
  }
};

using PackedIn = Packed<const std::uint16_t>;
using PackedOut = Packed<std::uint16_t>;

/// A leading dimension for fp32 sums of this many rows: whole vectors, and an odd number of cache
/// lines, so that the columns of a block do not share a few sets of L1 (512 instead of 528 costs
/// the AMX update a tenth of its speed).
constexpr std::int64_t sums_ld(std::int64_t rows) {
  return core::round_up(rows, 16) | std::int64_t{16};
}

/// Number of bf16 elements that a packed operand of this shape takes. Throws Error(too_large).
inline std::int64_t packed_elements(std::int64_t rows, std::int64_t depth, int planes) {
  return core::size_product(core::round_up(rows, kPanel), core::round_up(depth, kDepth), planes,
                            "packed operand");
}

/// A packed operand in memory of at least packed_elements(...) elements.
inline PackedOut packed(std::uint16_t* data, std::int64_t rows, std::int64_t depth, Rung rung,
                        Order order) {
  const int planes = info(rung).planes;
  return {data, rows, depth, core::round_up(depth, kDepth) * kPanel * planes, planes, order};
}

}  // namespace stepwell::kernels
