// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/residues.hpp"

/// The constants of residue arithmetic, and what is proven about its intermediate results.
namespace stepwell::kernels {

__extension__ using Wide = unsigned __int128;

/// The residue of smallest magnitude; of two the negative one.
constexpr std::int64_t residue(std::int64_t x, std::int64_t modulus) {
  std::int64_t r = x % modulus;
  if (2 * r >= modulus) r -= modulus;
  if (2 * r < -modulus) r += modulus;
  return r;
}

/// Reduction of an integer modulo m by a dot product with its bytes (VPDPBUSD). An integer x with
/// unsigned bytes u_b is congruent to sum_b u_b c_b, c_b = residue(256^b, m), |c_b| <= 127: at most
/// 8 * 255 * 127 < 2^18 in magnitude. 'start' takes back the offset that made x positive, and the
/// residue of an earlier sum may be added: |f| < 2^18 + 2^8, exact in fp32. The quotient f / m,
/// computed with m's reciprocal in fp32 and one rounding, is rounded to an integer q with an error
/// below 1/2 + |f| 2^-24 / m, so |f - q m| < m / 2 + |f| 2^-24: for |f| < 2^23 that is below
/// (m + 1) / 2, and as an integer the residue of smallest magnitude, because m is odd. For m = 256
/// the residue is the low byte of f.
///
/// A sum of few products is below 2^23 itself, and needs no bytes: residues modulo an odd m are at
/// most 127 in magnitude.
inline constexpr std::int64_t kShallowDepth = 512;
static_assert(kShallowDepth * 127 * 127 + 127 < 1 << 23);

struct ModulusConstants {
  std::uint32_t low = 0, high = 0;  ///< c_0 .. c_3 and c_4 .. c_7, as bytes
  std::int32_t start_number = 0;    ///< residue of -2^62, the offset of a number
  std::int32_t start_sum = 0;       ///< residue of -2^31, the offset of a sum
  float inverse = 0;
  std::uint32_t complement = 0;  ///< 256 - m: f - q m and f + q (256 - m) have the same low byte
};

constexpr ModulusConstants modulus_constants(int plane) {
  const std::int64_t m = kModuli[static_cast<std::size_t>(plane)];
  ModulusConstants c;
  std::int64_t power = 1;
  for (int b = 0; b < 8; ++b) {
    const std::int64_t weight = residue(power, m);
    const auto bits = static_cast<std::uint32_t>(weight & 255) << (8 * (b % 4));
    (b < 4 ? c.low : c.high) |= bits;
    power = power * 256 % m;
  }
  c.start_number = static_cast<std::int32_t>(residue(-(std::int64_t{1} << 62), m));
  c.start_sum = static_cast<std::int32_t>(residue(-(std::int64_t{1} << 31), m));
  c.inverse = static_cast<float>(1.0 / static_cast<double>(m));
  c.complement = static_cast<std::uint32_t>(256 - m);
  return c;
}

/// By plane.
inline constexpr auto kModulusConstants = [] {
  std::array<ModulusConstants, kVerifiedPlanes> all = {};
  for (int p = 0; p < kVerifiedPlanes; ++p) all[static_cast<std::size_t>(p)] = modulus_constants(p);
  return all;
}();

/// The Chinese remainder theorem, two planes at a time: with moduli a and b of a pair, W = M /
/// (ab), a number is congruent modulo M to sum over pairs of v W, v = x_a k_a + x_b k_b, where k_a
/// is b times the inverse of M / a modulo a, and 0 <= k_a < ab; x_a, x_b are the residues. |v| <
/// 2^24.
///
/// W = w[0] + w[1] + w[2] in fp64, each a multiple of its own power of two, chosen such that
/// sum v w[0] and sum v w[1] are exact; so are their differences with q m[0] and q m[1], where q M
/// is the multiple of M that is nearest to the sum. Only the third sums are rounded, by less than
/// 2^-80 in the unit of the result.
struct PairConstants {
  std::uint32_t a = 0, b = 0;  ///< k_a, k_b
  std::array<double, 3> w = {};
};
struct Reconstruction {
  int planes = 0;
  std::array<PairConstants, 8> pair = {};
  std::array<double, 3> m = {};
  double inverse = 0;  ///< 1 / M, of the scaled M

  constexpr int pairs() const { return (planes + 1) / 2; }
};

constexpr int bit_count(Wide x) {
  int bits = 0;
  for (; x > 0; x >>= 1) ++bits;
  return bits;
}
constexpr std::int64_t inverse_modulo(std::int64_t a, std::int64_t m) {
  for (std::int64_t x = 1; x < m; ++x) {
    if (a % m * x % m == 1) return x;
  }
  return 0;
}

/// x 2^-bits in three parts: multiples of 2^first, of 2^second, and the rest.
constexpr std::array<double, 3> split_wide(Wide x, int first, int second, int bits) {
  double unit = 1;
  for (int b = 0; b < bits; ++b) unit /= 2;
  const Wide high = x >> first << first, middle = (x - high) >> second << second;
  return {static_cast<double>(high) * unit, static_cast<double>(middle) * unit,
          static_cast<double>(x - high - middle) * unit};
}

/// For numbers X 2^-bits, determined by the first 'planes' residues.
constexpr Reconstruction reconstruction(int planes, int bits) {
  Wide product = 1;
  for (int p = 0; p < planes; ++p)
    product *= static_cast<Wide>(kModuli[static_cast<std::size_t>(p)]);
  Reconstruction r;
  r.planes = planes;
  std::array<Wide, 8> weight = {};
  double total = 0;  // largest sum of v W
  Wide factors = 0;  // largest sum of v
  for (int q = 0; q < r.pairs(); ++q) {
    const auto p = 2 * static_cast<std::size_t>(q);
    const std::int64_t a = kModuli[p], b = 2 * q + 1 < planes ? kModuli[p + 1] : 1;
    PairConstants& pair = r.pair[static_cast<std::size_t>(q)];
    const auto of = [&](std::int64_t m, std::int64_t other) {
      const auto rest =
          static_cast<std::int64_t>(product / static_cast<Wide>(m) % static_cast<Wide>(m));
      return static_cast<std::uint32_t>(inverse_modulo(rest, m) * other % (a * b));
    };
    pair.a = of(a, b);
    pair.b = b > 1 ? of(b, a) : 0;
    weight[static_cast<std::size_t>(q)] = product / static_cast<Wide>(a * b);
    const Wide largest = 128 * static_cast<Wide>(pair.a + pair.b);
    factors += largest;
    total +=
        static_cast<double>(largest) * static_cast<double>(weight[static_cast<std::size_t>(q)]);
  }
  int total_bits = 0;
  for (; total >= 1; total /= 2) ++total_bits;
  const int first = total_bits > 53 ? total_bits - 53 : 0;
  const int carried = first + bit_count(factors) - 53;
  const int second = carried > 0 ? carried : 0;
  for (int q = 0; q < r.pairs(); ++q) {
    const auto i = static_cast<std::size_t>(q);
    r.pair[i].w = split_wide(weight[i], first, second, bits);
  }
  r.m = split_wide(product, first, second, bits);
  r.inverse = 1 / (r.m[0] + r.m[1]);
  return r;
}

/// Sums of FP64 quality.
inline constexpr Reconstruction kSums = reconstruction(kResiduePlanes, 2 * kFractionBits);
/// Sums of kWidePlanes: M / 2 = 2.23 * 197 * 2^108 = 440 * 2^108, and the largest is 435.2 * 2^108.
inline constexpr Reconstruction kWideSums = reconstruction(kWidePlanes, 2 * kFractionBits);

/// Four columns are checked together, as a sum in which column t has weight 2^t: it is zero modulo
/// an odd modulus if all four are right, and is not if one of them is wrong.
///
/// Several wrong ones may cancel, once in 197 times. A wrong residue of a left operand makes a row
/// of a product wrong in many columns. It is found in one of the row's groups, of which tiles have
/// at least eight; but the first rows of a lower triangle have a single one, so there every sum is
/// checked by itself. A wrong residue of a right operand makes one column wrong.
inline constexpr std::int64_t kCheckedColumns = 4;
constexpr std::int64_t check_weight(std::int64_t t) {
  return std::int64_t{1} << t;
}

/// The sum modulo the redundant plane's modulus r, from the residues x_p: sum_p x_p c_p - q m,
/// where q M is the multiple of M that the reconstruction subtracts. It must be congruent to the
/// redundant residue, whose c is -1. A wrong residue of plane p changes the sum by d M / m_p, d not
/// zero; it is found if r does not divide d. If the sum stays in its range, |d| <= 2 kLargestSum
/// 2^(2f) 256 / M < 195 < r; if not, that is what is found.
///
/// By columns of a group, with their weights: c as unsigned bytes for VPDPBUSD, 60 products below
/// 2^15. As q is below 14 * 128 in magnitude (pairs() values v < 256 ab times M / ab), the four
/// products with m, |m| <= 98, add less than 2^20, and the sum may be reduced as it is (< 2^23).
struct RedundantCheck {
  std::array<std::uint32_t, kVerifiedPlanes> c = {};
  std::array<double, kCheckedColumns> m = {};
};
/// Byte t is x 2^t modulo m, which is positive.
constexpr std::uint32_t weighted_bytes(std::int64_t x, std::int64_t m) {
  std::uint32_t bytes = 0;
  for (std::int64_t t = 0; t < kCheckedColumns; ++t) {
    const std::int64_t byte = (x * check_weight(t) % m + m) % m;
    bytes |= static_cast<std::uint32_t>(byte) << (8 * t);
  }
  return bytes;
}

constexpr RedundantCheck redundant_check() {
  const auto r = static_cast<Wide>(kModuli[kResiduePlanes]);
  RedundantCheck check;
  Wide product = 1;
  for (std::size_t p = 0; p < kResiduePlanes; ++p) product *= static_cast<Wide>(kModuli[p]);
  for (std::size_t p = 0; p < kResiduePlanes; ++p) {
    const PairConstants& pair = kSums.pair[p / 2];
    const Wide moduli =
        static_cast<Wide>(kModuli[p / 2 * 2]) * static_cast<Wide>(kModuli[p / 2 * 2 + 1]);
    const Wide k = p % 2 == 0 ? pair.a : pair.b;
    check.c[p] = weighted_bytes(static_cast<std::int64_t>(product / moduli % r * (k % r) % r),
                                kModuli[kResiduePlanes]);
  }
  check.c[kResiduePlanes] = weighted_bytes(-1, kModuli[kResiduePlanes]);
  for (std::int64_t t = 0; t < kCheckedColumns; ++t) {
    const auto m = static_cast<std::int64_t>(product % r) * check_weight(t);
    check.m[static_cast<std::size_t>(t)] = static_cast<double>(residue(m, kModuli[kResiduePlanes]));
  }
  return check;
}
inline constexpr RedundantCheck kRedundant = redundant_check();

/// A number itself is determined by seven planes: M / 2 = 1.63 * 2^54.
/// The others are its residues by their own moduli, which are odd: no wrong residue leaves all of
/// them right, as the number itself would be wrong by d M / m_p, of which none of them is a
/// divisor.
inline constexpr int kNumberPlanes = 7;
inline constexpr Reconstruction kNumbers = reconstruction(kNumberPlanes, kFractionBits);

}  // namespace stepwell::kernels
