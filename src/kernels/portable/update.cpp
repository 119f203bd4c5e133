// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include "kernels/chunks.hpp"
#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/update.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/target-inl.hpp"

/// C -= A B' at the bf16 rungs and fp16 without a matrix engine: the terms of each element are
/// summed in fp32 (exact for bf16, bf16x2 and fp16) and one fp32 product replaces the one to six
/// products of the rung; it keeps the terms that the rung drops, so it is at least as accurate.
///
/// Both panels of 32 rows are widened to fp32 in 128 of depth (16 KiB each, on the stack): A as
/// [k][32 rows], so that a vector is rows of C; B as [row][k], read by broadcast.
/// Register budget: 2 vectors of rows x 8 columns (AVX-512, 32 registers) or x 4 (16 registers).
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::CappedTag<float, 16>;
using V32 = hn::Vec<D32>;
using U32 = hn::RebindToUnsigned<D32>;

constexpr std::int64_t kChunk = 4;                     // depth blocks widened at a time
constexpr std::int64_t kChunkDepth = kChunk * kDepth;  // 128
constexpr std::int64_t kRowStride = kChunkDepth + 16;  // for widened B: rows spread over cache sets
constexpr int kColumns = HWY_TARGET == HWY_AVX3 ? 8 : 4;

/// The sum of the first 'planes' terms of one dword per lane: 'even' is the first element of each
/// pair, 'odd' the second.
HWY_INLINE void widen(const std::uint16_t* terms, int planes, V32& even, V32& odd) {
  const U32 du;
  const D32 df;
  const auto high = hn::Set(du, 0xffff0000U);
  even = hn::Zero(df);
  odd = hn::Zero(df);
  for (int p = 0; p < planes; ++p) {
    const auto bits =
        hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(terms + p * kPlaneElements));
    even = hn::Add(even, hn::BitCast(df, hn::ShiftLeft<16>(bits)));
    odd = hn::Add(odd, hn::BitCast(df, hn::And(bits, high)));
  }
}

/// Widens depth blocks [k0, k1) of A's panel to out[k][32].
void widen_pairs(PackedIn a, std::int64_t panel, std::int64_t k0, std::int64_t k1, int planes,
                 float* HWY_RESTRICT out) {
  const D32 df;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(df));
  for (std::int64_t kb = k0; kb < k1; ++kb) {
    for (std::int64_t half = 0; half < 2; ++half) {
      const std::uint16_t* const tile = a.at(panel, kb) + half * kTileElements;
      for (std::int64_t pair = 0; pair < 16; ++pair) {
        for (std::int64_t r = 0; r < 16; r += lanes) {
          V32 even, odd;
          widen(tile + pair * 32 + r * 2, planes, even, odd);
          float* const to = out + ((kb - k0) * kDepth + 2 * pair) * kPanel + half * 16 + r;
          hn::StoreU(even, df, to);
          hn::StoreU(odd, df, to + kPanel);
        }
      }
    }
  }
}

/// Widens B's panel to out[row][k].
void widen_rows(PackedIn b, std::int64_t panel, std::int64_t k0, std::int64_t k1, int planes,
                float* HWY_RESTRICT out) {
  const D32 df;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(df));
  for (std::int64_t kb = k0; kb < k1; ++kb) {
    for (std::int64_t row = 0; row < kPanel; ++row) {
      const std::uint16_t* const from = b.at(panel, kb) + row * kDepth;
      float* const to = out + row * kRowStride + (kb - k0) * kDepth;
      for (std::int64_t pair = 0; pair < 16; pair += lanes) {
        V32 even, odd;
        widen(from + pair * 2, planes, even, odd);
        hn::StoreInterleaved2(even, odd, df, to + pair * 2);
      }
    }
  }
}

template <Combine combine>
HWY_INLINE void write(V32 sum, float* c) {
  const D32 df;
  if constexpr (combine == Combine::assign) {
    hn::StoreU(sum, df, c);
  } else {
    const V32 old = hn::LoadU(df, c);
    hn::StoreU(combine == Combine::add ? hn::Add(old, sum) : hn::Sub(old, sum), df, c);
  }
}

/// 2 vectors of rows x kColumns of the block; 'a' at the first row, 'b' at the first column's row.
template <Combine combine>
HWY_INLINE void micro_block(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                            std::int64_t depth, float* HWY_RESTRICT c, std::int64_t ld) {
  const D32 df;
  const std::size_t lanes = hn::Lanes(df);
  V32 low[kColumns];
  V32 high[kColumns];
  for (int q = 0; q < kColumns; ++q) low[q] = high[q] = hn::Zero(df);
  for (std::int64_t k = 0; k < depth; ++k) {
    const V32 a0 = hn::LoadU(df, a + k * kPanel);
    const V32 a1 = hn::LoadU(df, a + k * kPanel + lanes);
    for (int q = 0; q < kColumns; ++q) {
      const V32 bq = hn::Set(df, b[q * kRowStride + k]);
      low[q] = hn::MulAdd(a0, bq, low[q]);
      high[q] = hn::MulAdd(a1, bq, high[q]);
    }
  }
  for (int q = 0; q < kColumns; ++q) {
    write<combine>(low[q], c + q * ld);
    write<combine>(high[q], c + q * ld + lanes);
  }
}

/// The 32 x 32 block of sums at (i, j). A block that does not lie completely inside C, or that
/// crosses its diagonal, is computed in a buffer and copied element by element.
template <Combine combine>
void block(const float* a, const float* b, std::int64_t depth, MatrixView<float> c, std::int64_t i,
           std::int64_t j, Shape shape) {
  const D32 df;
  const auto step = static_cast<std::int64_t>(2 * hn::Lanes(df));
  const std::int64_t m = std::min(kPanel, c.rows - i);
  const std::int64_t n = std::min(kPanel, c.cols - j);
  const bool crosses = shape == Shape::lower && i < j + kPanel;
  if (m == kPanel && n == kPanel && !crosses) {
    for (std::int64_t q = 0; q < kPanel; q += kColumns) {
      for (std::int64_t r = 0; r < kPanel; r += step) {
        micro_block<combine>(a + r, b + q * kRowStride, depth, c.column(j + q) + i + r, c.ld);
      }
    }
    return;
  }
  HWY_ALIGN float sums[kPanel * kPanel];
  for (std::int64_t q = 0; q < kPanel; q += kColumns) {
    for (std::int64_t r = 0; r < kPanel; r += step) {
      micro_block<Combine::assign>(a + r, b + q * kRowStride, depth, sums + q * kPanel + r, kPanel);
    }
  }
  for (std::int64_t q = 0; q < n; ++q) {
    for (std::int64_t r = shape == Shape::lower ? std::max<std::int64_t>(0, j + q - i) : 0; r < m;
         ++r) {
      float& out = c(i + r, j + q);
      const float sum = sums[q * kPanel + r];
      out = combine == Combine::assign ? sum : combine == Combine::add ? out + sum : out - sum;
    }
  }
}

template <Combine combine>
void update_chunk(PackedIn a, PackedIn b, MatrixView<float> c, Shape shape, int planes,
                  std::int64_t k0, std::int64_t k1) {
  HWY_ALIGN float wide_a[kPanel * kChunkDepth];
  HWY_ALIGN float wide_b[kPanel * kRowStride];
  const std::int64_t depth = (k1 - k0) * kDepth;
  for (std::int64_t pj = 0; pj < b.panels(); ++pj) {
    widen_rows(b, pj, k0, k1, planes, wide_b);
    for (std::int64_t pi = shape == Shape::lower ? pj : 0; pi < a.panels(); ++pi) {
      widen_pairs(a, pi, k0, k1, planes, wide_a);
      block<combine>(wide_a, wide_b, depth, c, pi * kPanel, pj * kPanel, shape);
    }
  }
}

void update(Rung rung, PackedIn a, PackedIn b, MatrixView<float> c, Shape shape, Write how,
            const Next&) noexcept {
  if (c.empty()) return;
  const int planes = info(rung).planes;
  for_each_chunk(a.depth_blocks(), kChunk, how,
                 [&](std::int64_t k0, std::int64_t k1, Combine combine) HWY_ATTR {
                   const auto run = combine == Combine::assign ? update_chunk<Combine::assign>
                                    : combine == Combine::add  ? update_chunk<Combine::add>
                                                               : update_chunk<Combine::subtract>;
                   run(a, b, c, shape, planes, k0, k1);
                 });
}

}  // namespace

void fill_portable_update(Table& t) {
  for (auto& entry : t.update) {
    entry = {&update, "update_widened_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_update)
}  // namespace stepwell::kernels
#endif
