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

/// x 2^54 as integers, with an offset that makes them positive.
STEPWELL_VNNI inline __m512i fixed_point(__m512i number) {
  return _mm512_add_epi64(number, _mm512_set1_epi64(std::int64_t{1} << 62));
}

/// Eight elements; those that may be written are replaced by what the integers stand for.
STEPWELL_VNNI inline __m512i fixed_point(double* x, unsigned lanes, __m512d) {
  const auto mask = static_cast<__mmask8>(lanes);
  const __m512d scaled = _mm512_mul_pd(_mm512_maskz_loadu_pd(mask, x), _mm512_set1_pd(0x1p54));
  const __m512i number = _mm512_cvtpd_epi64(scaled);
  _mm512_mask_storeu_pd(x, mask,
                        _mm512_mul_pd(_mm512_cvtepi64_pd(number), _mm512_set1_pd(0x1p-54)));
  return fixed_point(number);
}
STEPWELL_VNNI inline __m512i fixed_point(const double* x, unsigned lanes, __m512d scale) {
  const __m512d value = _mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), x);
  const __m512d scaled = _mm512_mul_pd(_mm512_mul_pd(value, scale), _mm512_set1_pd(0x1p54));
  return fixed_point(_mm512_cvtpd_epi64(scaled));
}

/// The dwords of a and b with even places, and those with odd ones: of 64-bit integers the low and
/// the high halves.
struct Halves {
  __m512i even, odd;
};
STEPWELL_VNNI inline Halves halves(__m512i a, __m512i b) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  return {_mm512_permutex2var_epi32(a, even, b), _mm512_permutex2var_epi32(a, odd, b)};
}

/// Takes 64 dwords in sequence apart: lane e of to[t] is number 4 e + t.
STEPWELL_VNNI inline void every_fourth(const __m512i* from, __m512i* to) {
  const Halves a = halves(from[0], from[1]), b = halves(from[2], from[3]);
  const Halves even = halves(a.even, b.even), odd = halves(a.odd, b.odd);
  to[0] = even.even;
  to[1] = odd.even;
  to[2] = even.odd;
  to[3] = odd.odd;
}

/// 64 bytes of each plane, in which byte t of dword e is the residue of lane e of column[t].
template <int planes>
STEPWELL_VNNI inline void store_residues(const Halves* column, const ResiduesOut& out,
                                         std::int8_t* to) {
  for (int p = 0; p < planes; ++p) {
    const ModulusVectors m = modulus_vectors(p);
    __m512i r[4];
    for (int t = 0; t < 4; ++t) {
      const __m512i f = _mm512_dpbusd_epi32(m.start_number, column[t].even, m.low);
      r[t] = reduced(_mm512_dpbusd_epi32(f, column[t].odd, m.high), m);
    }
    _mm512_store_si512(to, joined(r));
    to += out.plane_stride;
  }
}

/// Columns ahead of those that are converted: no hardware prefetcher follows a row of a matrix.
constexpr std::int64_t kFetchAhead = 16;
template <class T>
inline void fetch_rows(MatrixView<T> x, std::int64_t i, std::int64_t k) {
  if (i >= x.rows || k + 4 > x.cols) return;
  for (int t = 0; t < 4; ++t) {
    const auto* const line = reinterpret_cast<const char*>(x.column(k + t) + i);
    _mm_prefetch(line, _MM_HINT_T0);
    _mm_prefetch(line + 64, _MM_HINT_T0);
  }
}

/// Rows of x: 16 rows of 4 columns at a time.
template <int planes, class T>
STEPWELL_VNNI void convert(MatrixView<T> x, Shape shape, const double* scale, ResiduesOut out) {
  const std::int64_t depth = out.depth_blocks() * kResidueDepth;
  T none[16] = {};
  for (std::int64_t i = 0; i < out.panels() * kResiduePanel; i += 16) {
    __m512d s[2] = {_mm512_set1_pd(1), _mm512_set1_pd(1)};
    if (scale != nullptr && i < x.rows) {
      const unsigned lanes = lanes_of(i, x.rows, 0);
      s[0] = _mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), scale + i);
      s[1] = _mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes >> 8U), scale + i + 8);
    }
    for (std::int64_t k = 0; k < depth; k += 4) {
      fetch_rows(x, i, k + kFetchAhead);
      Halves column[4];
      for (std::int64_t t = 0; t < 4; ++t) {
        const bool inside = k + t < x.cols && i < x.rows;
        const unsigned lanes = inside ? lanes_of(i, x.rows, shape == Shape::lower ? k + t : 0) : 0U;
        T* const from = inside ? x.column(k + t) + i : none;
        column[t] =
            halves(fixed_point(from, lanes & 255U, s[0]), fixed_point(from + 8, lanes >> 8U, s[1]));
      }
      store_residues<planes>(column, out, out.data + out.offset(i, k));
    }
  }
}

/// Columns of x: 64 elements of a column at a time, which are 64 bytes in sequence, as are those of
/// the next column.
template <int planes>
STEPWELL_VNNI void convert_columns(MatrixView<const double> x, const double* scale,
                                   ResiduesOut out) {
  const std::int64_t depth = out.depth_blocks() * kResidueDepth;
  for (std::int64_t panel = 0; panel < out.panels() * kResiduePanel; panel += kResiduePanel) {
    for (std::int64_t k = 0; k < depth; k += kResidueDepth) {
      const std::int64_t count = std::clamp<std::int64_t>(x.rows - k, 0, 64);
      const std::uint64_t inside =
          count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
      for (std::int64_t j = panel; j < panel + kResiduePanel; ++j) {
        const std::uint64_t lanes = j < x.cols ? inside : 0;
        const __m512d s = _mm512_set1_pd(lanes != 0 && scale != nullptr ? scale[j] : 1);
        __m512i low[4], high[4];
        for (int t = 0; t < 4; ++t) {
          const auto part = static_cast<unsigned>(lanes >> (16 * t) & 0xffffU);
          const double* const from = part != 0 ? x.column(j) + k + 16 * t : nullptr;
          const Halves h = halves(fixed_point(from, part & 255U, s),
                                  fixed_point(from == nullptr ? from : from + 8, part >> 8U, s));
          low[t] = h.even;
          high[t] = h.odd;
        }
        __m512i of_low[4], of_high[4];
        every_fourth(low, of_low);
        every_fourth(high, of_high);
        Halves column[4];
        for (int t = 0; t < 4; ++t) column[t] = {of_low[t], of_high[t]};
        store_residues<planes>(column, out, out.data + out.offset(j, k));
      }
    }
  }
}

void to_residues(MatrixView<double> x, Shape shape, ResiduesOut out) noexcept {
  (out.planes == kVerifiedPlanes ? convert<kVerifiedPlanes, double>
                                 : convert<kResiduePlanes, double>)(x, shape, nullptr, out);
}

void scaled_to_residues(MatrixView<const double> x, const double* scale, ResiduesOut out) noexcept {
  const bool verified = out.planes == kVerifiedPlanes;
  if (out.order == ResidueOrder::rows) {
    return (verified ? convert_columns<kVerifiedPlanes> : convert_columns<kResiduePlanes>)(x, scale,
                                                                                           out);
  }
  (verified ? convert<kVerifiedPlanes, const double>
            : convert<kResiduePlanes, const double>)(x, Shape::full, scale, out);
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

/// The rows in which a residue of four columns differs from their numbers. 'sum': of the numbers,
/// with their weights.
STEPWELL_VNNI inline unsigned wrong_numbers(const __m512i* sum, const std::int8_t* x,
                                            std::int64_t plane_stride) {
  const Halves number = halves(fixed_point(sum[0]), fixed_point(sum[1]));
  __m512i differences = _mm512_setzero_si512();
  x += kNumberPlanes * plane_stride;
#pragma GCC unroll 8
  for (int p = kNumberPlanes; p < kVerifiedPlanes; ++p, x += plane_stride) {
    const ModulusVectors m = modulus_vectors(p);
    constexpr auto minus = [](int plane) {
      return weighted_bytes(-1, kModuli[static_cast<std::size_t>(plane)]);
    };
    const __m512i weights = _mm512_set1_epi32(static_cast<int>(minus(p)));
    __m512i f = _mm512_dpbusd_epi32(m.start_number, number.even, m.low);
    f = _mm512_dpbusd_epi32(f, number.odd, m.high);
    f = _mm512_dpbusd_epi32(f, weights, _mm512_load_si512(x));
    differences = _mm512_or_si512(differences, reduced(f, m));
  }
  return _mm512_test_epi32_mask(differences, _mm512_set1_epi32(255));
}

/// 16 rows of up to 4 columns; returns the number of wrong rows.
template <bool verified>
STEPWELL_VNNI inline int restore_block(const ResiduesIn& x, std::int64_t i, std::int64_t k,
                                       MatrixView<double> out) {
  const int columns = static_cast<int>(std::min<std::int64_t>(4, out.cols - k));
  const std::int8_t* const bytes = x.data + x.offset(i, k);
  const unsigned lanes = lanes_of(i, out.rows, 0);
  __m512i sum[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
#pragma GCC unroll 4
  for (int t = 0; t < 4; ++t) {
    if (t >= columns) break;
    const Parts s = parts_of<kNumbers>(bytes, x.plane_stride, t);
    for (int half = 0; half < 2; ++half) {
      const auto mask = static_cast<__mmask8>(lanes >> (8 * half));
      const __m512d number = _mm512_add_pd(s.high[half], s.middle[half]);
      _mm512_mask_storeu_pd(out.column(k + t) + i + 8 * half, mask, number);
      if constexpr (verified) {
        const __m512d scaled =
            _mm512_mul_pd(number, _mm512_set1_pd(0x1p54 * static_cast<double>(check_weight(t))));
        sum[half] = _mm512_add_epi64(sum[half], _mm512_cvtpd_epi64(scaled));
      }
    }
  }
  if constexpr (!verified) return 0;
  return __builtin_popcount(lanes & wrong_numbers(sum, bytes, x.plane_stride));
}

/// An engine tile of each plane at a time, 1 KiB in sequence.
template <bool verified>
STEPWELL_VNNI std::int64_t restore(const ResiduesIn& x, MatrixView<double> out) {
  std::int64_t wrong = 0;
  for (std::int64_t block = 0; block < out.cols; block += kResidueDepth) {
    const std::int64_t end = std::min(block + kResidueDepth, out.cols);
    for (std::int64_t i = 0; i < out.rows; i += 16) {
      for (std::int64_t k = block; k < end; k += 4) wrong += restore_block<verified>(x, i, k, out);
    }
  }
  return wrong;
}

std::int64_t from_residues(ResiduesIn x, MatrixView<double> out) noexcept {
  return x.planes == kVerifiedPlanes ? restore<true>(x, out) : restore<false>(x, out);
}

/// The scales of 16 rows, and the pointer to those of columns.
struct RowScales {
  __m512d rows[2];
  const double* cols;
};
STEPWELL_VNNI inline RowScales row_scales(SumScales scales, std::int64_t i, unsigned lanes) {
  RowScales s{{_mm512_set1_pd(1), _mm512_set1_pd(1)}, scales.cols};
  if (scales.rows != nullptr) {
    s.rows[0] = _mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), scales.rows + i);
    s.rows[1] = _mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes >> 8U), scales.rows + i + 8);
  }
  return s;
}

STEPWELL_VNNI inline void subtract_half(const Parts& s, int half, unsigned lanes, __m512d scale,
                                        double* t) {
  const auto mask = static_cast<__mmask8>(lanes >> (8 * half));
  const __m512d high =
      _mm512_fnmadd_pd(s.high[half], scale, _mm512_maskz_loadu_pd(mask, t + 8 * half));
  const __m512d rest = _mm512_fnmadd_pd(s.middle[half], scale, high);
  _mm512_mask_storeu_pd(t + 8 * half, mask, _mm512_fnmadd_pd(s.low[half], scale, rest));
}

/// What is checked of 16 rows of four columns of sums.
class RedundantSums {
 public:
  STEPWELL_VNNI RedundantSums()
      : multiples_{_mm512_setzero_pd(), _mm512_setzero_pd()},
        largest_{_mm512_setzero_pd(), _mm512_setzero_pd()} {}

  /// Column t, in the rows that count.
  STEPWELL_VNNI void add(const Parts& s, unsigned lanes, int t) {
    bytes_ |= _pdep_u64(lanes, std::uint64_t{0x1111111111111111} << t);
    const __m512d m = _mm512_set1_pd(-kRedundant.m[static_cast<std::size_t>(t)]);
    for (int half = 0; half < 2; ++half) {
      const auto mask = static_cast<__mmask8>(lanes >> (8 * half));
      multiples_[half] = _mm512_mask3_fmadd_pd(s.multiple[half], m, multiples_[half], mask);
      largest_[half] =
          _mm512_mask_max_pd(largest_[half], mask, largest_[half], _mm512_abs_pd(s.high[half]));
    }
  }
  /// The rows in which a redundant residue does not agree with the others.
  STEPWELL_VNNI unsigned wrong(const std::int8_t* x, std::int64_t plane_stride) const {
    __m512i f = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtpd_epi32(multiples_[0])),
                                   _mm512_cvtpd_epi32(multiples_[1]), 1);
#pragma GCC unroll 16
    for (std::size_t p = 0; p < kVerifiedPlanes; ++p, x += plane_stride) {
      f = _mm512_dpbusd_epi32(f, _mm512_set1_epi32(static_cast<int>(kRedundant.c[p])),
                              _mm512_maskz_loadu_epi8(bytes_, x));
    }
    const __m512i rest = reduced(f, modulus_vectors(kResiduePlanes));
    const __m512d limit = _mm512_set1_pd(kLargestSum);
    const unsigned low = _mm512_cmp_pd_mask(largest_[0], limit, _CMP_NLE_UQ);
    const unsigned high = _mm512_cmp_pd_mask(largest_[1], limit, _CMP_NLE_UQ);
    return _mm512_test_epi32_mask(rest, _mm512_set1_epi32(255)) | low | high << 8U;
  }

 private:
  __m512d multiples_[2], largest_[2];
  std::uint64_t bytes_ = 0;
};

/// 16 rows of up to 4 columns; returns the number of wrong rows.
template <const Reconstruction& c, bool verified>
STEPWELL_VNNI inline int subtract_block(const ResidueSums& sums, std::int64_t i, std::int64_t j,
                                        Shape shape, const RowScales& scales,
                                        MatrixView<double> t) {
  const int columns = static_cast<int>(std::min<std::int64_t>(4, t.cols - j));
  const std::int8_t* const bytes = sums.data + sums.offset(i, j);
  RedundantSums together;
  unsigned wrong = 0;
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
    if (k >= columns) break;
    const unsigned lanes = lanes_of(i, t.rows, shape == Shape::lower ? j + k : 0);
    const Parts s = parts_of<c>(bytes, sums.plane_stride, k);
    const __m512d col = _mm512_set1_pd(scales.cols == nullptr ? 1 : scales.cols[j + k]);
    for (int half = 0; half < 2; ++half) {
      subtract_half(s, half, lanes, _mm512_mul_pd(scales.rows[half], col), t.column(j + k) + i);
    }
    if (verified && shape == Shape::lower) {
      RedundantSums alone;
      alone.add(s, lanes, k);
      wrong |= alone.wrong(bytes, sums.plane_stride);
    } else if (verified) {
      together.add(s, lanes, k);
    }
  }
  if (verified && shape == Shape::full) wrong = together.wrong(bytes, sums.plane_stride);
  return __builtin_popcount(wrong);
}

/// 16 columns of 16 rows of each plane at a time, 256 bytes in sequence.
template <const Reconstruction& c, bool verified>
STEPWELL_VNNI std::int64_t subtract(ResidueSums sums, Shape shape, SumScales scales,
                                    MatrixView<double> t) {
  std::int64_t wrong = 0;
  for (std::int64_t block = 0; block < t.cols; block += 16) {
    const std::int64_t end = std::min(block + 16, t.cols);
    for (std::int64_t i = shape == Shape::lower ? block : 0; i < t.rows; i += 16) {
      const RowScales of_rows = row_scales(scales, i, lanes_of(i, t.rows, 0));
      for (std::int64_t j = block; j < end; j += 4) {
        wrong += subtract_block<c, verified>(sums, i, j, shape, of_rows, t);
      }
    }
  }
  return wrong;
}

std::int64_t subtract_sums(ResidueSums sums, Shape shape, SumScales scales,
                           MatrixView<double> t) noexcept {
  if (scales.wide) return subtract<kWideSums, false>(sums, shape, scales, t);
  return (sums.planes == kVerifiedPlanes ? subtract<kSums, true>
                                         : subtract<kSums, false>)(sums, shape, scales, t);
}

}  // namespace

void fill_avx512_residues(Table& t) {
  constexpr auto isa = core::Isa::avx512_bf16;
  t.residues.convert = {&to_residues, "to_residues_avx512_vnni_16x4", isa};
  t.residues.convert_scaled = {&scaled_to_residues, "scaled_to_residues_avx512_vnni", isa};
  t.residues.restore = {&from_residues, "from_residues_avx512_vnni_16x4", isa};
  t.residues.subtract = {&subtract_sums, "subtract_sums_avx512_vnni_16x4", isa};
}

}  // namespace stepwell::kernels
