// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <immintrin.h>

#include "kernels/residue_constants.hpp"

/// Reduction modulo m with VPDPBUSD, 16 integers at a time, for the kernels of x86-64;
/// residue_constants.hpp has the proof.
namespace stepwell::kernels {

#define STEPWELL_VNNI \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,bmi2")))

/// The constants of a modulus, in registers.
struct ModulusVectors {
  __m512i low, high, start_number, start_sum, complement;
  __m512 inverse;
};
STEPWELL_VNNI inline ModulusVectors modulus_vectors(int plane) {
  const ModulusConstants& c = kModulusConstants[static_cast<std::size_t>(plane)];
  return {_mm512_set1_epi32(static_cast<int>(c.low)),
          _mm512_set1_epi32(static_cast<int>(c.high)),
          _mm512_set1_epi32(c.start_number),
          _mm512_set1_epi32(c.start_sum),
          _mm512_set1_epi32(static_cast<int>(c.complement)),
          _mm512_set1_ps(c.inverse)};
}

/// The residues of f, |f| < 2^23, in the low bytes.
STEPWELL_VNNI inline __m512i reduced(__m512i f, const ModulusVectors& m) {
  const __m512 to_integer = _mm512_set1_ps(0x1.8p23F);  // leaves the integer in the low bits
  const __m512 q = _mm512_fmadd_ps(_mm512_cvtepi32_ps(f), m.inverse, to_integer);
  return _mm512_dpbusd_epi32(f, _mm512_castps_si512(q), m.complement);
}

/// Byte t of each dword is the low byte of that dword in r[t].
STEPWELL_VNNI inline __m512i joined(const __m512i* r) {
  const __m512i low_bytes = _mm512_set4_epi32(0x0C0C0C0C, 0x08080808, 0x04040404, 0);
  __m512i all = _mm512_mask_shuffle_epi8(r[0], 0x2222222222222222U, r[1], low_bytes);
  all = _mm512_mask_shuffle_epi8(all, 0x4444444444444444U, r[2], low_bytes);
  return _mm512_mask_shuffle_epi8(all, 0x8888888888888888U, r[3], low_bytes);
}

/// Reduces 16 rows of 4 columns of sums, with or without the residues of earlier sums. 'shallow':
/// the sums have at most kShallowDepth products, and are small enough to be reduced as they are.
template <bool first, bool shallow>
STEPWELL_VNNI inline void reduce_sums(const std::int32_t* sums, std::int8_t* residues,
                                      const ModulusVectors& m) {
  const __m512i sign = _mm512_set1_epi32(static_cast<int>(0x80000000U));
  __m512i old = _mm512_setzero_si512(), r[4];
  if constexpr (!first) old = _mm512_load_si512(residues);
#pragma GCC unroll 4
  for (int t = 0; t < 4; ++t) {
    __m512i f = _mm512_load_si512(sums + 16 * t);
    if constexpr (!shallow) {
      f = _mm512_dpbusd_epi32(m.start_sum, _mm512_xor_si512(f, sign), m.low);
    }
    // The old residue, a signed byte, times one.
    if constexpr (!first) f = _mm512_dpbusd_epi32(f, _mm512_set1_epi32(1 << (8 * t)), old);
    r[t] = reduced(f, m);
  }
  _mm512_store_si512(residues, joined(r));
}

}  // namespace stepwell::kernels
