// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/numeric/rounding.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stepwell::core {
namespace {

// A common interface to both formats, so that each claim is written once.
template <class T>
struct Traits;
template <>
struct Traits<bf16> {
  static constexpr Format format = Format::bf16;
  static constexpr unsigned infinity = 0x7f80;
  static constexpr unsigned quiet = 0x0040;
  template <class From>
  static unsigned narrow(From x) {
    return to_bf16(x).bits;
  }
};
template <>
struct Traits<fp16> {
  static constexpr Format format = Format::fp16;
  static constexpr unsigned infinity = 0x7c00;
  static constexpr unsigned quiet = 0x0200;
  template <class From>
  static unsigned narrow(From x) {
    return to_fp16(x).bits;
  }
};

template <class T>
double value(unsigned bits) {
  return to_double(T{static_cast<std::uint16_t>(bits)});
}

/// The value of a bit pattern by the definition of a binary format, computed with ldexp. The
/// pattern of infinity stands for the value that would follow the largest one: rounding treats it
/// like that.
template <class T>
double meaning(unsigned magnitude) {
  constexpr FormatInfo f = info(Traits<T>::format);
  const int stored = f.significant_bits - 1;
  const int field = static_cast<int>(magnitude >> stored);
  const double fraction = static_cast<double>(magnitude & ((1U << stored) - 1));
  const int lowest = std::ilogb(f.smallest_subnormal);
  if (field == 0) return std::ldexp(fraction, lowest);
  return std::ldexp(fraction + std::ldexp(1.0, stored), lowest + field - 1);
}

template <class T>
class Rounding : public testing::Test {};
using SixteenBitFormats = testing::Types<bf16, fp16>;
TYPED_TEST_SUITE(Rounding, SixteenBitFormats);

TYPED_TEST(Rounding, EveryPatternWidensToItsMeaning) {
  using F = Traits<TypeParam>;
  for (unsigned bits = 0; bits < F::infinity; ++bits) {
    const double expected = meaning<TypeParam>(bits);
    ASSERT_EQ(value<TypeParam>(bits), expected) << bits;
    ASSERT_EQ(value<TypeParam>(bits | 0x8000U), -expected) << bits;
    ASSERT_EQ(to_float(TypeParam{static_cast<std::uint16_t>(bits)}), expected) << bits;
  }
  ASSERT_EQ(value<TypeParam>(F::infinity), std::numeric_limits<double>::infinity());
  ASSERT_EQ(value<TypeParam>(F::infinity | 0x8000U), -std::numeric_limits<double>::infinity());
  ASSERT_TRUE(std::signbit(value<TypeParam>(0x8000U)));
}

TYPED_TEST(Rounding, EveryPatternRoundTrips) {
  using F = Traits<TypeParam>;
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const bool nan = (bits & 0x7fffU) > F::infinity;
    const unsigned expected = nan ? bits | F::quiet : bits;
    ASSERT_EQ(F::narrow(value<TypeParam>(bits)), expected) << bits;
    ASSERT_EQ(F::narrow(to_float(TypeParam{static_cast<std::uint16_t>(bits)})), expected) << bits;
  }
}

/// Checks at and next to the midpoint of every two neighbours, including infinity: the overflow
/// threshold is the midpoint between the largest value and the one that would follow it.
template <class T, class From>
void check_around_every_middle() {
  using F = Traits<T>;
  const From infinity = std::numeric_limits<From>::infinity();
  for (unsigned low = 0; low < F::infinity; ++low) {
    const unsigned high = low + 1;
    const double exact = (meaning<T>(low) + meaning<T>(high)) / 2;
    const From middle = static_cast<From>(exact);
    ASSERT_EQ(static_cast<double>(middle), exact) << low;
    const unsigned even = (low & 1U) == 0 ? low : high;
    ASSERT_EQ(F::narrow(middle), even) << low;
    ASSERT_EQ(F::narrow(std::nextafter(middle, From{0})), low) << low;
    ASSERT_EQ(F::narrow(std::nextafter(middle, infinity)), high) << low;
    ASSERT_EQ(F::narrow(-middle), even | 0x8000U) << low;
    ASSERT_EQ(F::narrow(-std::nextafter(middle, From{0})), low | 0x8000U) << low;
    ASSERT_EQ(F::narrow(-std::nextafter(middle, infinity)), high | 0x8000U) << low;
  }
}

TYPED_TEST(Rounding, TiesGoToEvenAndTheRestToTheNearestFromFp64) {
  check_around_every_middle<TypeParam, double>();
}

TYPED_TEST(Rounding, TiesGoToEvenAndTheRestToTheNearestFromFp32) {
  check_around_every_middle<TypeParam, float>();
}

TYPED_TEST(Rounding, TheEndsOfTheRangeAreZeroAndInfinityWithTheirSign) {
  using F = Traits<TypeParam>;
  const auto check = [](auto one) {
    using From = decltype(one);
    using Limits = std::numeric_limits<From>;
    EXPECT_EQ(F::narrow(Limits::infinity()), F::infinity);
    EXPECT_EQ(F::narrow(-Limits::infinity()), F::infinity | 0x8000U);
    EXPECT_EQ(F::narrow(Limits::max()), F::infinity);
    EXPECT_EQ(F::narrow(Limits::lowest()), F::infinity | 0x8000U);
    EXPECT_EQ(F::narrow(Limits::denorm_min()), 0U);
    EXPECT_EQ(F::narrow(-Limits::denorm_min()), 0x8000U);
    EXPECT_EQ(F::narrow(From{0}), 0U);
    EXPECT_EQ(F::narrow(-From{0}), 0x8000U);
  };
  check(1.0);
  check(1.0F);
  EXPECT_EQ(F::narrow(std::numeric_limits<double>::min()), 0U);
}

TYPED_TEST(Rounding, NanStaysNanWithItsSignAndLeadingPayload) {
  using F = Traits<TypeParam>;
  const int stored = info(F::format).significant_bits - 1;
  const auto narrow64 = [](std::uint64_t bits) { return F::narrow(std::bit_cast<double>(bits)); };
  for (unsigned payload = 1; payload < 1U << stored; ++payload) {
    const std::uint64_t bits = 0x7ffULL << 52 | static_cast<std::uint64_t>(payload)
                                                    << (52 - stored);
    ASSERT_EQ(narrow64(bits), F::infinity | payload | F::quiet);
    ASSERT_EQ(narrow64(bits | 1ULL << 63), F::infinity | payload | F::quiet | 0x8000U);
  }
  // A payload that the format can't store must not turn the NaN into infinity.
  EXPECT_EQ(narrow64(0x7ff0000000000001ULL), F::infinity | F::quiet);
  EXPECT_EQ(F::narrow(std::bit_cast<float>(0x7f800001U)), F::infinity | F::quiet);
  EXPECT_EQ(F::narrow(std::bit_cast<float>(0xff800001U)), F::infinity | F::quiet | 0x8000U);
  EXPECT_EQ(F::narrow(std::bit_cast<float>(0x7fffffffU)), 0x7fffU);
}

TYPED_TEST(Rounding, IsMonotoneOverTheWholeRangeOfFp64) {
  using F = Traits<TypeParam>;
  std::mt19937_64 random(20240601);
  std::uniform_real_distribution<double> exponent(-160, 140);
  for (int i = 0; i < 2'000'000; ++i) {
    const double x = std::exp2(exponent(random));
    const unsigned bits = F::narrow(x);
    ASSERT_LE(bits, F::infinity);
    // x lies between the midpoints next to the value it was rounded to.
    const double here = meaning<TypeParam>(bits);
    if (bits > 0) {
      ASSERT_GE(x, (meaning<TypeParam>(bits - 1) + here) / 2) << x;
    }
    if (bits < F::infinity) {
      ASSERT_LE(x, (here + meaning<TypeParam>(bits + 1)) / 2) << x;
    }
  }
}

// Values just above a midpoint in fp64 that become the midpoint when rounded to fp32: going through
// fp32 would round twice and end at the even neighbour below.
TEST(RoundingOfFp64, DoesNotRoundTwice) {
  for (unsigned low = 0x0080; low < 0x7f80; low += 2) {
    const double middle = (meaning<bf16>(low) + meaning<bf16>(low + 1)) / 2;
    const double above = middle * (1 + 0x1p-40);
    const double below = middle * (1 - 0x1p-40);
    ASSERT_EQ(to_bf16(above).bits, low + 1);
    ASSERT_EQ(to_bf16(static_cast<float>(above)).bits, low);  // the result of rounding twice
    ASSERT_EQ(to_bf16(-above).bits, (low + 1) | 0x8000U);
    ASSERT_EQ(to_bf16(below).bits, low);
  }
  for (unsigned low = 0x0400; low < 0x7c00; low += 2) {
    const double middle = (meaning<fp16>(low) + meaning<fp16>(low + 1)) / 2;
    ASSERT_EQ(to_fp16(middle * (1 + 0x1p-40)).bits, low + 1);
    ASSERT_EQ(to_fp16(middle * (1 - 0x1p-40)).bits, low);
  }
}

TEST(RoundingOfFp32, AgreesWithRoundingItsFp64Value) {
  std::uint32_t bits = 0;
  do {
    const float x = std::bit_cast<float>(bits);
    if (!std::isnan(x)) {
      ASSERT_EQ(to_bf16(x).bits, to_bf16(static_cast<double>(x)).bits) << bits;
    }
    bits += 1021;
  } while (bits >= 1021);
}

static_assert(to_bf16(1.0).bits == 0x3f80);
static_assert(to_bf16(-0x1.01p0).bits == 0xbf80, "a tie goes to even");
static_assert(to_fp16(65520.0).bits == 0x7c00, "the overflow threshold of fp16 rounds to infinity");
static_assert(to_fp16(65519.0).bits == 0x7bff);
static_assert(to_float(fp16{0x0001}) == 0x1p-24F);

#if defined(__x86_64__)

__attribute__((target("f16c"))) unsigned hardware_fp16(float x) {
  return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
}
__attribute__((target("f16c"))) float hardware_float(unsigned bits) {
  return _cvtsh_ss(static_cast<unsigned short>(bits));
}

TEST(RoundingToFp16, AgreesWithTheHardware) {
  // Clang 14 can't test for f16c; every CPU with AVX2 has it.
  if (__builtin_cpu_supports("avx2") == 0) GTEST_SKIP() << "the CPU has no AVX2";
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const bool nan = (bits & 0x7fffU) > 0x7c00U;
    const float ours = to_float(fp16{static_cast<std::uint16_t>(bits)});
    if (nan) {
      ASSERT_TRUE(std::isnan(ours)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(ours),
                std::bit_cast<std::uint32_t>(hardware_float(bits)))
          << bits;
    }
  }
  std::uint32_t bits = 0;
  do {
    const float x = std::bit_cast<float>(bits);
    ASSERT_EQ(to_fp16(x).bits, hardware_fp16(x)) << bits;
    bits += 1021;
  } while (bits >= 1021);
}

// The results do not depend on flush-to-zero, denormals-are-zero and rounding upwards, which a
// careless library may leave set.
TEST(RoundingToSixteenBits, DoesNotDependOnMxcsr) {
  const unsigned saved = _mm_getcsr();
  for (unsigned low = 0; low < 0x7f80; ++low) {
    const volatile double middle = (meaning<bf16>(low) + meaning<bf16>(low + 1)) / 2;
    const volatile float middle32 = static_cast<float>(middle);
    const volatile std::uint16_t pattern = static_cast<std::uint16_t>(low);
    _mm_setcsr(0x1f80U | 0x8040U | 0x4000U);
    const unsigned from64 = to_bf16(static_cast<double>(middle)).bits;
    const unsigned from32 = to_bf16(static_cast<float>(middle32)).bits;
    const unsigned half64 = to_fp16(static_cast<double>(middle)).bits;
    const unsigned half32 = to_fp16(static_cast<float>(middle32)).bits;
    const std::uint64_t wide = std::bit_cast<std::uint64_t>(to_double(bf16{pattern}));
    _mm_setcsr(saved);
    const unsigned even = (low & 1U) == 0 ? low : low + 1;
    ASSERT_EQ(from64, even);
    ASSERT_EQ(from32, even);
    ASSERT_EQ(half64, to_fp16(static_cast<double>(middle)).bits);
    ASSERT_EQ(half32, half64);
    ASSERT_EQ(std::bit_cast<double>(wide), meaning<bf16>(low)) << low;
  }
}

#endif

}  // namespace
}  // namespace stepwell::core
