// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <immintrin.h>

#include <cstdint>

#include "kernels/avx512/avx512.hpp"
#include "kernels/chunks.hpp"

/// C -= A B' at rung bf16 with VDPBF16PS: a vector of A's pairs order holds 16 rows with two
/// elements of depth each; a dword of B's rows order is one row's pair, which is broadcast.
///
/// Register budget: 2 vectors of rows x 8 columns of sums (16), 2 of A, 1 broadcast.
/// Like the matrix engine, the instruction treats subnormal values as zero and ignores MXCSR.
namespace stepwell::kernels {
namespace {

#define STEPWELL_AVX512_BF16 __attribute__((target("avx512f,avx512bf16")))

constexpr std::int64_t kColumns = 8;

STEPWELL_AVX512_BF16 void write_column(float* c, __m512 sums, unsigned lanes_set, Write write) {
  const auto lanes = static_cast<__mmask16>(lanes_set);
  const __m512 old = _mm512_maskz_loadu_ps(lanes, c);
  _mm512_mask_storeu_ps(c, lanes, write == Write::assign ? sums : _mm512_sub_ps(old, sums));
}

/// The rows of panel pi x columns [q, q + 8) of panel pj, over the whole depth.
STEPWELL_AVX512_BF16 void micro_block(PackedIn a, PackedIn b, MatrixView<float> c, std::int64_t pi,
                                      std::int64_t pj, std::int64_t q, Shape shape, Write write) {
  __m512 low[kColumns];
  __m512 high[kColumns];
  for (int s = 0; s < kColumns; ++s) low[s] = high[s] = _mm512_setzero_ps();
  for (std::int64_t kb = 0; kb < a.depth_blocks(); ++kb) {
    const std::uint16_t* const ap = a.at(pi, kb);
    const auto* const bp = reinterpret_cast<const std::int32_t*>(b.at(pj, kb)) + q * 16;
    for (std::int64_t pair = 0; pair < 16; ++pair) {
      const auto a0 = (__m512bh)_mm512_loadu_si512(ap + pair * 32);
      const auto a1 = (__m512bh)_mm512_loadu_si512(ap + kTileElements + pair * 32);
      for (int s = 0; s < kColumns; ++s) {
        const auto bs = (__m512bh)_mm512_set1_epi32(bp[s * 16 + pair]);
        low[s] = _mm512_dpbf16_ps(low[s], a0, bs);
        high[s] = _mm512_dpbf16_ps(high[s], a1, bs);
      }
    }
  }
  const std::int64_t i = pi * kPanel;
  for (std::int64_t s = 0; s < kColumns; ++s) {
    const std::int64_t j = pj * kPanel + q + s;
    if (j >= c.cols) break;
    const std::int64_t diagonal = shape == Shape::lower ? j : 0;
    float* const out = c.column(j) + i;
    write_column(out, low[s], lanes_of(i, c.rows, diagonal), write);
    write_column(out + 16, high[s], lanes_of(i + 16, c.rows, diagonal), write);
  }
}

void update_bf16(Rung, PackedIn a, PackedIn b, MatrixView<float> c, Shape shape, Write write,
                 const Next&) noexcept {
  if (c.empty()) return;
  for (std::int64_t pj = 0; pj < b.panels(); ++pj) {
    for (std::int64_t pi = shape == Shape::lower ? pj : 0; pi < a.panels(); ++pi) {
      for (std::int64_t q = 0; q < kPanel; q += kColumns) {
        micro_block(a, b, c, pi, pj, q, shape, write);
      }
    }
  }
}

}  // namespace

void fill_avx512_update(Table& t) {
  t.update[static_cast<unsigned>(Rung::bf16)] = {&update_bf16, "update_bf16_avx512_bf16_32x8",
                                                 core::Isa::avx512_bf16};
}

}  // namespace stepwell::kernels
