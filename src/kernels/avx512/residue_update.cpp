// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/avx512/avx512.hpp"
#include "kernels/residue_bytes.hpp"

/// Products of residues with VPDPBUSD, where there is no matrix engine: 16 rows x 8 columns at a
/// time. The instruction multiplies unsigned bytes with signed ones, so B's residues are used with
/// 128 added, and 128 times the sum of A's row is subtracted.
///
/// Register budget: 8 columns of sums, 1 sum of A's row, 1 of A, 1 broadcast.
namespace stepwell::kernels {
namespace {

constexpr int kColumns = 8;

/// Adds the products of A's 16 rows with 8 rows of B over a depth block.
STEPWELL_VNNI inline void add_block(const std::int8_t* a, const std::int8_t* b, __m512i* sums,
                                    __m512i& row) {
  const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));
  for (std::int64_t quad = 0; quad < 16; ++quad) {
    const __m512i left = _mm512_load_si512(a + 64 * quad);
    row = _mm512_dpbusd_epi32(row, offset, left);
    for (int s = 0; s < kColumns; ++s) {
      const std::int32_t four = reinterpret_cast<const std::int32_t*>(b + 64 * s)[quad];
      const __m512i right = _mm512_xor_si512(_mm512_set1_epi32(four), offset);
      sums[s] = _mm512_dpbusd_epi32(sums[s], right, left);
    }
  }
}

/// Sums of rows [i, i + 16) and columns [j, j + 8), for both quads of columns.
STEPWELL_VNNI void update_block(const ResidueUpdate& u, std::int64_t i, std::int64_t j,
                                const ModulusVectors& m) {
  __m512i sums[kColumns], row = _mm512_setzero_si512();
  for (__m512i& s : sums) s = _mm512_setzero_si512();
  for (const ResidueFactors& f : u.products) {
    for (std::int64_t k = 0; k < f.a.depth_blocks(); ++k) {
      const std::int64_t at = k * kResidueDepth;
      add_block(f.a.at(u.plane, 0, 0) + f.a.offset(i, at),
                f.b.at(u.plane, 0, 0) + f.b.offset(j, at), sums, row);
    }
  }
  alignas(64) std::int32_t out[kColumns * 16];
  for (int s = 0; s < kColumns; ++s) {
    _mm512_store_si512(out + 16 * s, _mm512_sub_epi32(sums[s], row));
  }
  for (std::int64_t quad = 0; quad < 2; ++quad) {
    std::int8_t* const to = u.sums.at(u.plane, 0, 0) + u.sums.offset(i, j + 4 * quad);
    u.first ? reduce_sums<true, false>(out + 64 * quad, to, m)
            : reduce_sums<false, false>(out + 64 * quad, to, m);
  }
}

STEPWELL_VNNI void update(const ResidueUpdate& u) noexcept {
  const ModulusVectors m = modulus_vectors(u.plane);
  const std::int64_t rows = core::round_up(u.sums.rows, 32);
  const std::int64_t cols = core::round_up(u.sums.cols, 32);
  for (std::int64_t j = 0; j < cols; j += kColumns) {
    for (std::int64_t i = u.shape == Shape::lower ? j / 32 * 32 : 0; i < rows; i += 16) {
      update_block(u, i, j, m);
    }
  }
}

}  // namespace

void fill_avx512_residue_update(Table& t) {
  t.residues.update = {&update, "residue_update_avx512_vnni_16x8", core::Isa::avx512_bf16};
}

}  // namespace stepwell::kernels
