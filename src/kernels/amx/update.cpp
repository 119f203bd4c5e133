// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "kernels/amx/amx.hpp"
#include "kernels/amx/tile_scope.hpp"
#include "kernels/chunks.hpp"
#include "kernels/rung_products.hpp"

/// C -= A B' on the matrix engine, 32 x 32 of C at a time.
///
/// Tile budget: 0-3 the block's sums (2 x 2 tiles), 4-5 the two halves of a panel of B, 6-7 the two
/// halves of a panel of A: one load per product at bf16, 0.67 at bf16x2, 0.58 at bf16x3
/// (rung_products orders the terms so that only one operand changes).
///
/// Caches: B's panel (32 x 512 elements, 32 KiB) stays in L1 while A streams past it from L2 with
/// TILELOADDT1, which keeps A out of L1. Without C this runs at 97 % of the bare instruction loop
/// (74 % with plain loads). The next panel of B is prefetched into L2 while this one is used, and
/// the next call's A over the whole call: L2 then holds C, two A and little of B (fetching all of
/// the next B as well overflows it, and costs a quarter of the speed). Storing the sums costs 8
/// points, bringing C into L1 another 10, writing it 10 (on a core whose sibling is idle). Loading
/// C into the tiles instead, and writing it while the next block is multiplied, were both slower.
///
/// Sums start at zero and go to C through 4 KiB of scratch: so C can be column-major with any
/// leading dimension, the sign is free, and C is rounded once per 512 / planes of depth instead of
/// once per 32, which bf16x3 needs to keep its 1e-7. The left operand's tile rows are rows of B, so
/// a stored tile row is 16 rows of a column of C.
namespace stepwell::kernels {
namespace {

#define STEPWELL_AVX512 __attribute__((target("avx512f")))

/// Prefetches runs of memory into L2, a few cache lines at each step of depth.
class Fetch {
 public:
  /// Prefetches depth blocks [k0, k1) of 'panels' panels of p from panel p0 on, within 'steps'
  /// steps. Panels that p does not have are skipped.
  Fetch(PackedIn p, std::int64_t p0, std::int64_t panels, std::int64_t k0, std::int64_t k1,
        std::int64_t steps) {
    runs_ = std::min(panels, p.panels() - p0);
    bytes_ = (std::min(k1, p.depth_blocks()) - k0) * p.planes * kPlaneElements * 2;
    if (p.data == nullptr || runs_ <= 0 || bytes_ <= 0) return;
    run_ = reinterpret_cast<const char*>(p.at(p0, k0));
    stride_ = p.panel_stride * 2;
    lines_per_step_ = (runs_ * bytes_ / 64 + steps - 1) / steps;
  }

  void step() {
    for (std::int64_t l = 0; l < lines_per_step_; ++l) {
      _mm_prefetch(run_ + offset_, _MM_HINT_T1);
      offset_ += 64;
      if (offset_ < bytes_) continue;
      offset_ = 0;
      run_ += stride_;
      if (--runs_ == 0) lines_per_step_ = 0;
    }
  }

 private:
  const char* run_ = nullptr;
  std::int64_t offset_ = 0;
  std::int64_t runs_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t stride_ = 0;
  std::int64_t lines_per_step_ = 0;
};

/// Products P, P + 1, ... of the rung at one depth block; loads only the term that changed.
template <Rung rung, int P = 0>
inline void multiply_terms(const std::uint16_t* a, const std::uint16_t* b) {
  constexpr RungProducts products = rung_products(rung);
  if constexpr (P < products.count) {
    constexpr TermPair now = products.pair[P];
    constexpr TermPair before = P == 0 ? TermPair{-1, -1} : products.pair[P - (P > 0 ? 1 : 0)];
    const std::uint16_t* const ap = a + now.a * kPlaneElements;
    const std::uint16_t* const bp = b + now.b * kPlaneElements;
    if constexpr (now.a != before.a) amx::load_streamed<6>(ap);
    if constexpr (now.b != before.b) amx::load<4>(bp);
    amx::multiply<0, 4, 6>();
    if constexpr (now.a != before.a) amx::load_streamed<7>(ap + kTileElements);
    amx::multiply<1, 4, 7>();
    if constexpr (now.b != before.b) amx::load<5>(bp + kTileElements);
    amx::multiply<2, 5, 6>();
    amx::multiply<3, 5, 7>();
    multiply_terms<rung, P + 1>(a, b);
  }
}

template <Combine combine>
STEPWELL_AVX512 inline __m512 combined(__m512 old, __m512 sums) {
  if constexpr (combine == Combine::assign) return sums;
  return combine == Combine::add ? _mm512_add_ps(old, sums) : _mm512_sub_ps(old, sums);
}

/// Combines the sums of a block that lies completely inside C with C. 'sums' holds the tiles (B
/// half, A half) in order.
template <Combine combine>
STEPWELL_AVX512 inline void write_whole_block(const float* sums, float* c, std::int64_t ld) {
  for (std::int64_t q = 0; q < kPanel; ++q, c += ld) {
    const float* const s = sums + (q / 16) * 512 + (q % 16) * 16;
    _mm512_storeu_ps(c, combined<combine>(_mm512_loadu_ps(c), _mm512_load_ps(s)));
    _mm512_storeu_ps(c + 16, combined<combine>(_mm512_loadu_ps(c + 16), _mm512_load_ps(s + 256)));
  }
}

/// The same for a block that extends beyond C or crosses its diagonal.
template <Combine combine>
STEPWELL_AVX512 void write_part_of_block(const float* sums, MatrixView<float> c, std::int64_t i,
                                         std::int64_t j, Shape shape) {
  const std::int64_t columns = std::min(kPanel, c.cols - j);
  for (std::int64_t q = 0; q < columns; ++q) {
    const std::int64_t diagonal = shape == Shape::lower ? j + q : 0;
    for (std::int64_t half = 0; half < 2; ++half) {
      const std::int64_t row = i + half * 16;
      const auto lanes = static_cast<__mmask16>(lanes_of(row, c.rows, diagonal));
      const __m512 s = _mm512_load_ps(sums + (q / 16) * 512 + half * 256 + (q % 16) * 16);
      float* const out = c.column(j + q) + row;
      _mm512_mask_storeu_ps(out, lanes, combined<combine>(_mm512_maskz_loadu_ps(lanes, out), s));
    }
  }
}

/// Depth blocks [k0, k1) of the whole update; 'next' holds the operands that are used after them.
template <Rung rung, Combine combine>
STEPWELL_AVX512 void update_chunk(PackedIn a, PackedIn b, MatrixView<float> c, Shape shape,
                                  std::int64_t k0, std::int64_t k1, const Next& next) {
  alignas(64) float sums[1024];
  const std::int64_t depth = std::max<std::int64_t>(1, k1 - k0);
  Fetch next_a(next.a, 0, a.panels(), 0, depth, a.panels() * b.panels() * depth);
  for (std::int64_t pj = 0; pj < b.panels(); ++pj) {
    const std::int64_t first = shape == Shape::lower ? pj : 0;
    const std::int64_t steps = std::max<std::int64_t>(1, a.panels() - first) * depth;
    Fetch next_b = pj + 1 < b.panels() ? Fetch(b, pj + 1, 1, k0, k1, steps)
                                       : Fetch(next.b, 0, 1, 0, depth, steps);
    for (std::int64_t pi = first; pi < a.panels(); ++pi) {
      const std::int64_t i = pi * kPanel;
      const std::int64_t j = pj * kPanel;
      amx::zero<0>();
      amx::zero<1>();
      amx::zero<2>();
      amx::zero<3>();
      const char* fetch_c = reinterpret_cast<const char*>(c.column(j) + i);
      const std::int64_t columns_per_step = kPanel / std::max<std::int64_t>(1, k1 - k0);
      for (std::int64_t kb = k0; kb < k1; ++kb) {
        multiply_terms<rung>(a.at(pi, kb), b.at(pj, kb));
        for (std::int64_t q = 0; q < columns_per_step; ++q) {
          _mm_prefetch(fetch_c, _MM_HINT_T0);
          _mm_prefetch(fetch_c + 64, _MM_HINT_T0);
          fetch_c += c.ld * 4;
        }
        next_a.step();
        next_b.step();
      }
      amx::store<0>(sums);
      amx::store<1>(sums + 256);
      amx::store<2>(sums + 512);
      amx::store<3>(sums + 768);
      const bool crosses = shape == Shape::lower && pi == pj;
      if (i + kPanel <= c.rows && j + kPanel <= c.cols && !crosses) {
        write_whole_block<combine>(sums, c.column(j) + i, c.ld);
      } else {
        write_part_of_block<combine>(sums, c, i, j, shape);
      }
    }
  }
}

/// The operands from depth block k on.
PackedIn from(PackedIn p, std::int64_t k) {
  return p.block(0, k * kDepth, p.rows, p.depth - k * kDepth);
}

/// Largest number of depth blocks for which a panel of B with all its planes fits in L1.
constexpr std::int64_t chunk_blocks(Rung rung) {
  return rung == Rung::bf16x3 ? 5 : 16 / info(rung).planes;
}

template <Rung rung>
void update(Rung, PackedIn a, PackedIn b, MatrixView<float> c, Shape shape, Write write,
            const Next& next) noexcept {
  if (c.empty()) return;
  const std::int64_t depth = a.depth_blocks();
  const amx::TileScope tiles;
  for_each_chunk(
      depth, chunk_blocks(rung), write, [&](std::int64_t k0, std::int64_t k1, Combine combine) {
        const auto run = combine == Combine::assign ? update_chunk<rung, Combine::assign>
                         : combine == Combine::add  ? update_chunk<rung, Combine::add>
                                                    : update_chunk<rung, Combine::subtract>;
        run(a, b, c, shape, k0, k1, k1 < depth ? Next{from(a, k1), from(b, k1)} : next);
      });
}

}  // namespace

void fill_amx_update(Table& t) {
  constexpr auto isa = core::Isa::amx;
  t.update = {{{&update<Rung::bf16>, "update_bf16_amx_32x32", isa},
               {&update<Rung::bf16x2>, "update_bf16x2_amx_32x32", isa},
               {&update<Rung::bf16x3>, "update_bf16x3_amx_32x32", isa},
               {&update<Rung::fp16>, "update_fp16_amx_32x32", isa}}};
}

}  // namespace stepwell::kernels
