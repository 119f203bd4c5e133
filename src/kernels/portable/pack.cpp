// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/pack.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/split-inl.hpp"
#include "kernels/portable/target-inl.hpp"

/// Packing and unpacking, one engine tile (16 rows x 32 of depth) at a time.
///
/// A tile in pairs order is 16 pairs of columns; the 16 elements of a column are contiguous in
/// memory, so it packs without a transpose. Rows order is the same tile with its 16 x 16 dwords
/// transposed.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Splits 16 elements of two adjacent columns and interleaves their terms: one row of a tile in
/// pairs order, for each plane. The number of planes is a compile-time constant, so that the
/// remainder after the last term is not computed.
template <int planes, class T>
HWY_INLINE void split_pair(const T* HWY_RESTRICT even, const T* HWY_RESTRICT odd, bool to_fp16,
                           std::uint16_t* HWY_RESTRICT out, std::int64_t plane_stride) {
  const hn::CappedTag<T, 64 / sizeof(T)> d;
  const hn::Rebind<std::uint32_t, decltype(d)> du;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t r = 0; r < kEngineRows; r += lanes) {
    auto first = whole(d, hn::LoadU(d, even + r), to_fp16);
    auto second = whole(d, hn::LoadU(d, odd + r), to_fp16);
#pragma GCC unroll 3
    for (int p = 0; p < planes; ++p) {
      const auto low = take_term(first);
      const auto high = hn::ShiftLeft<16>(take_term(second));
      hn::StoreU(hn::Or(low, high), du,
                 reinterpret_cast<std::uint32_t*>(out + p * plane_stride) + r);
    }
  }
}

/// Rows [i, i + 16) of column k of the scaled matrix; zero outside the matrix.
template <class From, class To>
void fetch_column(MatrixView<const From> a, Shape shape, Scales scales, std::int64_t i,
                  std::int64_t k, To* out) {
  const std::int64_t from = shape == Shape::lower ? std::clamp<std::int64_t>(k - i, 0, 16) : 0;
  const std::int64_t to = k < a.cols ? std::clamp<std::int64_t>(a.rows - i, 0, 16) : 0;
  const From* const column = a.column(k) + i;
  if (from == 0 && to == kEngineRows) {
    for (std::int64_t r = 0; r < kEngineRows; ++r) out[r] = static_cast<To>(column[r]);
  } else {
    for (std::int64_t r = 0; r < kEngineRows; ++r) {
      out[r] = r >= from && r < to ? static_cast<To>(column[r]) : To{0};
    }
  }
  if constexpr (std::is_same_v<To, double>) {
    if (scales.row != nullptr) {
      for (std::int64_t r = from; r < to; ++r) out[r] *= scales.row[i + r];
    }
    if (scales.col != nullptr) {  // not the padding: a negative factor would make it -0
      for (std::int64_t r = from; r < to; ++r) out[r] *= scales.col[k];
    }
  }
}

/// Transposes 16 x 16 dwords in blocks of 4 x 4, so that the same code serves every vector width.
void transpose_tile(const std::uint16_t* HWY_RESTRICT from, std::uint16_t* HWY_RESTRICT to) {
  const hn::CappedTag<std::uint32_t, 4> d;
  const hn::RepartitionToWide<decltype(d)> dw;
  const auto* in = reinterpret_cast<const std::uint32_t*>(from);
  auto* out = reinterpret_cast<std::uint32_t*>(to);
  for (int r = 0; r < 16; r += 4) {
    for (int c = 0; c < 16; c += 4) {
      const auto r0 = hn::LoadU(d, in + (r + 0) * 16 + c);
      const auto r1 = hn::LoadU(d, in + (r + 1) * 16 + c);
      const auto r2 = hn::LoadU(d, in + (r + 2) * 16 + c);
      const auto r3 = hn::LoadU(d, in + (r + 3) * 16 + c);
      const auto l01 = hn::BitCast(dw, hn::InterleaveLower(d, r0, r1));
      const auto u01 = hn::BitCast(dw, hn::InterleaveUpper(d, r0, r1));
      const auto l23 = hn::BitCast(dw, hn::InterleaveLower(d, r2, r3));
      const auto u23 = hn::BitCast(dw, hn::InterleaveUpper(d, r2, r3));
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, l01, l23)), d, out + (c + 0) * 16 + r);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, l01, l23)), d, out + (c + 1) * 16 + r);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, u01, u23)), d, out + (c + 2) * 16 + r);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, u01, u23)), d, out + (c + 3) * 16 + r);
    }
  }
}

/// Calls with(panel, depth block, half) for every engine tile of the operand.
template <class F>
HWY_INLINE void for_each_tile(std::int64_t panels, std::int64_t blocks, const F& with) {
  for (std::int64_t p = 0; p < panels; ++p) {
    for (std::int64_t kb = 0; kb < blocks; ++kb) {
      for (std::int64_t half = 0; half < 2; ++half) with(p, kb, half);
    }
  }
}

/// Packs the engine tile (p, kb, half). If it lies completely inside A and needs no scaling,
/// columns are read in place, otherwise through a buffer.
template <int planes, class From, class Work>
void pack_tile(Rung rung, MatrixView<const From> a, Shape shape, Scales scales, PackedOut out,
               std::int64_t p, std::int64_t kb, std::int64_t half) {
  HWY_ALIGN std::uint16_t pairs[3 * kTileElements];
  HWY_ALIGN Work buffer[2][kEngineRows];
  const std::int64_t i = p * kPanel + half * kEngineRows;
  const std::int64_t k0 = kb * kDepth;
  const bool plain = std::is_same_v<From, Work> && scales.row == nullptr && scales.col == nullptr &&
                     i + kEngineRows <= a.rows && k0 + kDepth <= a.cols &&
                     (shape == Shape::full || i >= k0 + kDepth);
  std::uint16_t* const target = out.at(p, kb) + half * kTileElements;
  const bool direct = out.order == Order::pairs;
  std::uint16_t* const to = direct ? target : pairs;
  const std::int64_t stride = direct ? kPlaneElements : kTileElements;
  for (std::int64_t pair = 0; pair < kDepth / 2; ++pair) {
    const std::int64_t k = k0 + 2 * pair;
    const Work* even = buffer[0];
    const Work* odd = buffer[1];
    if (plain) {
      if constexpr (std::is_same_v<From, Work>) {
        even = a.column(k) + i;
        odd = a.column(k + 1) + i;
      }
    } else {
      fetch_column(a, shape, scales, i, k, buffer[0]);
      fetch_column(a, shape, scales, i, k + 1, buffer[1]);
    }
    split_pair<planes>(even, odd, rung == Rung::fp16, to + pair * 32, stride);
  }
  if (!direct) {
    for (int plane = 0; plane < planes; ++plane) {
      transpose_tile(pairs + plane * kTileElements, target + plane * kPlaneElements);
    }
  }
}

template <int planes, class T>
void pack_planes(Rung rung, MatrixView<const T> a, Shape shape, Scales scales, PackedOut out) {
  const bool narrow = std::is_same_v<T, float> && scales.row == nullptr && scales.col == nullptr;
  for_each_tile(out.panels(), out.depth_blocks(),
                [&](std::int64_t p, std::int64_t kb, std::int64_t half) HWY_ATTR {
                  if (narrow) {
                    pack_tile<planes, T, float>(rung, a, shape, scales, out, p, kb, half);
                  } else {
                    pack_tile<planes, T, double>(rung, a, shape, scales, out, p, kb, half);
                  }
                });
}

template <class T>
void pack(Rung rung, MatrixView<const T> a, Shape shape, Scales scales, PackedOut out) noexcept {
  if (out.planes == 1) return pack_planes<1>(rung, a, shape, scales, out);
  if (out.planes == 2) return pack_planes<2>(rung, a, shape, scales, out);
  pack_planes<3>(rung, a, shape, scales, out);
}

/// Columns 2 * pair and 2 * pair + 1 of a tile in pairs order, with the terms summed in fp64.
HWY_INLINE void join_pair(const std::uint16_t (*pairs)[kTileElements], int planes,
                          std::int64_t pair, double (*column)[kEngineRows]) {
  for (std::int64_t r = 0; r < kEngineRows; ++r) column[0][r] = column[1][r] = 0;
  for (int plane = 0; plane < planes; ++plane) {
    const std::uint16_t* const from = pairs[plane] + pair * 32;
    for (std::int64_t r = 0; r < kEngineRows; ++r) {
      column[0][r] += std::bit_cast<float>(static_cast<std::uint32_t>(from[2 * r]) << 16);
      column[1][r] += std::bit_cast<float>(static_cast<std::uint32_t>(from[2 * r + 1]) << 16);
    }
  }
}

template <class T>
void unpack(PackedIn in, Scales scales, MatrixView<T> out) noexcept {
  for_each_tile(in.panels(), in.depth_blocks(),
                [&](std::int64_t p, std::int64_t kb, std::int64_t half) HWY_ATTR {
                  HWY_ALIGN std::uint16_t pairs[3][kTileElements];
                  HWY_ALIGN double column[2][kEngineRows];
                  for (int plane = 0; plane < in.planes; ++plane) {
                    const std::uint16_t* const from =
                        in.at(p, kb) + plane * kPlaneElements + half * kTileElements;
                    if (in.order == Order::rows) {
                      transpose_tile(from, pairs[plane]);
                    } else {
                      std::memcpy(pairs[plane], from, sizeof pairs[plane]);
                    }
                  }
                  const std::int64_t i = p * kPanel + half * kEngineRows;
                  const std::int64_t rows = std::clamp<std::int64_t>(out.rows - i, 0, kEngineRows);
                  for (std::int64_t pair = 0; pair < kDepth / 2; ++pair) {
                    join_pair(pairs, in.planes, pair, column);
                    for (std::int64_t q = 0; q < 2; ++q) {
                      const std::int64_t k = kb * kDepth + 2 * pair + q;
                      if (k >= out.cols) break;
                      for (std::int64_t r = 0; r < rows; ++r) {
                        double x = column[q][r];
                        if (scales.row != nullptr) x *= scales.row[i + r];
                        if (scales.col != nullptr) x *= scales.col[k];
                        out(i + r, k) = static_cast<T>(x);
                      }
                    }
                  }
                });
}

void reorder(PackedIn in, PackedOut out) noexcept {
  for_each_tile(in.panels(), in.depth_blocks(),
                [&](std::int64_t p, std::int64_t kb, std::int64_t half) HWY_ATTR {
                  for (int plane = 0; plane < in.planes; ++plane) {
                    const std::int64_t at = plane * kPlaneElements + half * kTileElements;
                    if (in.order == out.order) {
                      std::memcpy(out.at(p, kb) + at, in.at(p, kb) + at, kTileElements * 2);
                    } else {
                      transpose_tile(in.at(p, kb) + at, out.at(p, kb) + at);
                    }
                  }
                });
}

}  // namespace

void fill_portable_pack(Table& t) {
  constexpr auto isa = STEPWELL_TARGET_ISA;
  t.pack_fp32 = {&pack<float>, "pack_fp32_" STEPWELL_TARGET_NAME, isa};
  t.pack_fp64 = {&pack<double>, "pack_fp64_" STEPWELL_TARGET_NAME, isa};
  t.unpack_fp32 = {&unpack<float>, "unpack_fp32_" STEPWELL_TARGET_NAME, isa};
  t.unpack_fp64 = {&unpack<double>, "unpack_fp64_" STEPWELL_TARGET_NAME, isa};
  t.reorder = {&reorder, "reorder_" STEPWELL_TARGET_NAME, isa};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_pack)
}  // namespace stepwell::kernels
#endif
