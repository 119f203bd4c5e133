// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "kernels/avx512/avx512.hpp"
#include "kernels/chunks.hpp"
#include "kernels/residue_bytes.hpp"

/// Conversion of FP64 numbers to residues and back, and subtraction of sums, 16 rows of 4 columns
/// at a time: 64 bytes of each plane, in operands and in sums alike.
///
/// Conversion takes 6 vector instructions for 16 elements of a plane, reconstruction 15 for a pair
/// of planes: measured, 1.3 and 2.6 ns an element of a block in L2.
namespace stepwell::kernels {
namespace {

/// Rows [i, i + 16) of a column as integers, low and high halves; written back as fp64.
struct Integers {
  __m512i low, high;
};
template <Numbers numbers>
STEPWELL_VNNI inline __m512i fixed_point(double* x, unsigned lanes) {
  const auto mask = static_cast<__mmask8>(lanes);
  const __m512d scaled = _mm512_mul_pd(_mm512_maskz_loadu_pd(mask, x), _mm512_set1_pd(0x1p54));
  const __m512i number = _mm512_cvtpd_epi64(scaled);
  if constexpr (numbers == Numbers::any) {
    _mm512_mask_storeu_pd(x, mask,
                          _mm512_mul_pd(_mm512_cvtepi64_pd(number), _mm512_set1_pd(0x1p-54)));
  }
  return _mm512_add_epi64(number, _mm512_set1_epi64(std::int64_t{1} << 62));
}
template <Numbers numbers>
STEPWELL_VNNI inline Integers integers_of(double* x, unsigned lanes) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  const __m512i a = fixed_point<numbers>(x, lanes & 255U);
  const __m512i b = fixed_point<numbers>(x + 8, lanes >> 8U);
  return {_mm512_permutex2var_epi32(a, even, b), _mm512_permutex2var_epi32(a, odd, b)};
}

template <int planes, Numbers numbers>
STEPWELL_VNNI void convert(MatrixView<double> x, Shape shape, ResiduesOut out) {
  const std::int64_t depth = out.depth_blocks() * kResidueDepth;
  double none[16] = {};
  for (std::int64_t i = 0; i < out.panels() * kResiduePanel; i += 16) {
    for (std::int64_t k = 0; k < depth; k += 4) {
      Integers column[4];
      for (std::int64_t t = 0; t < 4; ++t) {
        const bool inside = k + t < x.cols && i < x.rows;
        const unsigned lanes = inside ? lanes_of(i, x.rows, shape == Shape::lower ? k + t : 0) : 0U;
        column[t] = integers_of<numbers>(inside ? x.column(k + t) + i : none, lanes);
      }
      std::int8_t* to = out.data + out.offset(i, k);
      for (int p = 0; p < planes; ++p) {
        const ModulusVectors m = modulus_vectors(p);
        __m512i r[4];
        for (int t = 0; t < 4; ++t) {
          const __m512i f = _mm512_dpbusd_epi32(m.start_number, column[t].low, m.low);
          r[t] = reduced(_mm512_dpbusd_epi32(f, column[t].high, m.high), m);
        }
        _mm512_store_si512(to, joined(r));
        to += out.plane_stride;
      }
    }
  }
}

template <int planes>
void convert(MatrixView<double> x, Shape shape, Numbers numbers, ResiduesOut out) {
  numbers == Numbers::any ? convert<planes, Numbers::any>(x, shape, out)
                          : convert<planes, Numbers::fixed_point>(x, shape, out);
}

void to_residues(MatrixView<double> x, Shape shape, Numbers numbers, ResiduesOut out) noexcept {
  (out.planes == kVerifiedPlanes ? convert<kVerifiedPlanes>
                                 : convert<kResiduePlanes>)(x, shape, numbers, out);
}

/// The three parts of 16 numbers modulo M, and the multiples of M that were subtracted.
struct Parts {
  __m512d high[2], middle[2], low[2], multiple[2];
};

/// One byte of a factor of 16 bits, at byte t of each dword: times a signed byte at t.
STEPWELL_VNNI inline __m512i byte_factor(std::uint32_t k, int t) {
  return _mm512_set1_epi32(static_cast<int>((k & 255U) << (8 * t)));
}

/// Column t of 64 bytes of each plane.
template <const Reconstruction& c>
STEPWELL_VNNI inline Parts parts_of(const std::int8_t* x, std::int64_t plane_stride, int t) {
  constexpr int pairs = c.pairs();
  const __m512d zero = _mm512_setzero_pd();
  Parts s{{zero, zero}, {zero, zero}, {zero, zero}, {zero, zero}};
#pragma GCC unroll 8
  for (int q = 0; q < pairs; ++q, x += 2 * plane_stride) {
    const PairConstants& pair = c.pair[static_cast<std::size_t>(q)];
    const __m512i a = _mm512_load_si512(x);
    __m512i high = _mm512_dpbusd_epi32(_mm512_setzero_si512(), byte_factor(pair.a >> 8U, t), a);
    __m512i low = _mm512_dpbusd_epi32(_mm512_setzero_si512(), byte_factor(pair.a, t), a);
    if (2 * q + 1 < c.planes) {
      const __m512i b = _mm512_load_si512(x + plane_stride);
      high = _mm512_dpbusd_epi32(high, byte_factor(pair.b >> 8U, t), b);
      low = _mm512_dpbusd_epi32(low, byte_factor(pair.b, t), b);
    }
    const __m512i v = _mm512_add_epi32(_mm512_slli_epi32(high, 8), low);
    const __m512d d[2] = {_mm512_cvtepi32_pd(_mm512_castsi512_si256(v)),
                          _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(v, 1))};
    for (int half = 0; half < 2; ++half) {
      s.high[half] = _mm512_fmadd_pd(d[half], _mm512_set1_pd(pair.w[0]), s.high[half]);
      s.middle[half] = _mm512_fmadd_pd(d[half], _mm512_set1_pd(pair.w[1]), s.middle[half]);
      s.low[half] = _mm512_fmadd_pd(d[half], _mm512_set1_pd(pair.w[2]), s.low[half]);
    }
  }
  for (int half = 0; half < 2; ++half) {
    const __m512d multiple = _mm512_roundscale_pd(
        _mm512_mul_pd(s.high[half], _mm512_set1_pd(c.inverse)), _MM_FROUND_TO_NEAREST_INT);
    s.multiple[half] = multiple;
    s.high[half] = _mm512_fnmadd_pd(multiple, _mm512_set1_pd(c.m[0]), s.high[half]);
    s.middle[half] = _mm512_fnmadd_pd(multiple, _mm512_set1_pd(c.m[1]), s.middle[half]);
    s.low[half] = _mm512_fnmadd_pd(multiple, _mm512_set1_pd(c.m[2]), s.low[half]);
  }
  return s;
}

/// 16 rows of up to 4 columns.
STEPWELL_VNNI inline void restore_block(const ResiduesIn& x, std::int64_t i, std::int64_t k,
                                        MatrixView<double> out) {
  const int columns = static_cast<int>(std::min<std::int64_t>(4, out.cols - k));
  const std::int8_t* const bytes = x.data + x.offset(i, k);
  const unsigned lanes = lanes_of(i, out.rows, 0);
#pragma GCC unroll 4
  for (int t = 0; t < 4; ++t) {
    if (t >= columns) break;
    const Parts s = parts_of<kNumbers>(bytes, x.plane_stride, t);
    for (int half = 0; half < 2; ++half) {
      const auto mask = static_cast<__mmask8>(lanes >> (8 * half));
      _mm512_mask_storeu_pd(out.column(k + t) + i + 8 * half, mask,
                            _mm512_add_pd(s.high[half], s.middle[half]));
    }
  }
}

/// An engine tile of each plane at a time, 1 KiB in sequence.
STEPWELL_VNNI void from_residues(ResiduesIn x, MatrixView<double> out) noexcept {
  for (std::int64_t block = 0; block < out.cols; block += kResidueDepth) {
    const std::int64_t end = std::min(block + kResidueDepth, out.cols);
    for (std::int64_t i = 0; i < out.rows; i += 16) {
      for (std::int64_t k = block; k < end; k += 4) restore_block(x, i, k, out);
    }
  }
}

STEPWELL_VNNI inline void subtract_half(const Parts& s, int half, unsigned lanes, double* t) {
  const auto mask = static_cast<__mmask8>(lanes >> (8 * half));
  const __m512d rest = _mm512_sub_pd(
      _mm512_sub_pd(_mm512_maskz_loadu_pd(mask, t + 8 * half), s.high[half]), s.middle[half]);
  _mm512_mask_storeu_pd(t + 8 * half, mask, _mm512_sub_pd(rest, s.low[half]));
}

/// The lanes whose redundant residue does not agree with the others.
STEPWELL_VNNI inline unsigned wrong_lanes(const Parts& s, const std::int8_t* x,
                                          std::int64_t plane_stride, int t) {
  const ModulusVectors r = modulus_vectors(kResiduePlanes);
  const __m512i multiple =
      _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtpd_epi32(s.multiple[0])),
                         _mm512_cvtpd_epi32(s.multiple[1]), 1);
  __m512i f = _mm512_mullo_epi32(multiple, _mm512_set1_epi32(-kRedundant.m));
#pragma GCC unroll 16
  for (std::size_t p = 0; p < kResiduePlanes; ++p, x += plane_stride) {
    f = _mm512_dpbusd_epi32(f, byte_factor(kRedundant.c[p], t), _mm512_load_si512(x));
  }
  const auto minus_one = static_cast<std::uint32_t>(kModuli[kResiduePlanes] - 1);
  f = _mm512_dpbusd_epi32(f, byte_factor(minus_one, t), _mm512_load_si512(x));
  const unsigned differ = _mm512_test_epi32_mask(reduced(f, r), _mm512_set1_epi32(255));
  const __m512d limit = _mm512_set1_pd(kLargestSum);
  const unsigned low = _mm512_cmp_pd_mask(_mm512_abs_pd(s.high[0]), limit, _CMP_NLE_UQ);
  const unsigned high = _mm512_cmp_pd_mask(_mm512_abs_pd(s.high[1]), limit, _CMP_NLE_UQ);
  return differ | low | high << 8U;
}

/// 16 rows of up to 4 columns; returns the number of wrong elements.
template <bool verified>
STEPWELL_VNNI inline int subtract_block(const ResidueSums& sums, std::int64_t i, std::int64_t j,
                                        Shape shape, MatrixView<double> t) {
  const int columns = static_cast<int>(std::min<std::int64_t>(4, t.cols - j));
  const std::int8_t* const bytes = sums.data + sums.offset(i, j);
  int wrong = 0;
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
    if (k >= columns) break;
    const unsigned lanes = lanes_of(i, t.rows, shape == Shape::lower ? j + k : 0);
    const Parts s = parts_of<kSums>(bytes, sums.plane_stride, k);
    subtract_half(s, 0, lanes, t.column(j + k) + i);
    subtract_half(s, 1, lanes, t.column(j + k) + i);
    if constexpr (verified) {
      wrong += __builtin_popcount(lanes & wrong_lanes(s, bytes, sums.plane_stride, k));
    }
  }
  return wrong;
}

/// 16 columns of 16 rows of each plane at a time, 256 bytes in sequence.
template <bool verified>
STEPWELL_VNNI std::int64_t subtract(ResidueSums sums, Shape shape, MatrixView<double> t) {
  std::int64_t wrong = 0;
  for (std::int64_t block = 0; block < t.cols; block += 16) {
    const std::int64_t end = std::min(block + 16, t.cols);
    for (std::int64_t i = shape == Shape::lower ? block : 0; i < t.rows; i += 16) {
      for (std::int64_t j = block; j < end; j += 4) {
        wrong += subtract_block<verified>(sums, i, j, shape, t);
      }
    }
  }
  return wrong;
}

std::int64_t subtract_sums(ResidueSums sums, Shape shape, MatrixView<double> t) noexcept {
  return (sums.planes == kVerifiedPlanes ? subtract<true> : subtract<false>)(sums, shape, t);
}

}  // namespace

void fill_avx512_residues(Table& t) {
  constexpr auto isa = core::Isa::avx512_bf16;
  t.residues.convert = {&to_residues, "to_residues_avx512_vnni_16x4", isa};
  t.residues.restore = {&from_residues, "from_residues_avx512_vnni_16x4", isa};
  t.residues.subtract = {&subtract_sums, "subtract_sums_avx512_vnni_16x4", isa};
}

}  // namespace stepwell::kernels
