// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/numeric/split.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace stepwell::core {
namespace {

constexpr Rung kBf16Rungs[] = {Rung::bf16, Rung::bf16x2, Rung::bf16x3};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Half the spacing of bf16's subnormal numbers: no split can be closer where the terms underflow.
constexpr double kFloor = 0x1p-134;

/// Many values with random significands and exponents from 'lowest' to the largest that does not
/// overflow bf16. They have full size from the first case on: RapidCheck's small integers would all
/// be powers of two here.
std::vector<double> some_values(int lowest = -150) {
  const auto number = rc::gen::map(
      rc::gen::tuple(rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange<int>(lowest, 127)),
      [](const auto& t) {
        const std::uint64_t random = std::get<0>(t);
        const double significand = std::bit_cast<double>(0x3ff0000000000000U | (random >> 12));
        return std::ldexp((random & 1U) != 0 ? significand : -significand, std::get<1>(t));
      });
  return *rc::gen::resize(rc::kNominalSize, rc::gen::container<std::vector<double>>(200, number));
}

int planes_used(const Terms& t) {
  int used = 0;
  for (int p = 0; p < 3; ++p) {
    if (to_double(t.term[p]) != 0) used = p + 1;
  }
  return used;
}

double spacing(bf16 x) {
  const int exponent = std::max(std::ilogb(to_double(x)), -126);
  return std::ldexp(1.0, exponent - 7);
}

RC_GTEST_PROP(Split, IsAsNearAsItsRungSays, ()) {
  for (const double x : some_values()) {
    for (const Rung rung : kBf16Rungs) {
      const double error = std::abs(x - join(split(x, rung)));
      RC_ASSERT(error <= std::max(info(rung).unit_roundoff * std::abs(x), kFloor));
    }
  }
}

RC_GTEST_PROP(Split, TakesEachTermAsTheRoundingOfWhatIsLeft, ()) {
  for (const double x : some_values()) {
    for (const Rung rung : kBf16Rungs) {
      const Terms t = split(x, rung);
      double rest = x;
      for (int p = 0; p < info(rung).planes; ++p) {
        RC_ASSERT(t.term[p].bits == to_bf16(rest).bits);
        const double left = rest - to_double(t.term[p]);
        RC_ASSERT(left + to_double(t.term[p]) == rest);  // exact in fp64
        rest = left;
      }
      RC_ASSERT(planes_used(t) <= info(rung).planes);
    }
  }
}

RC_GTEST_PROP(Split, MakesTermsThatDoNotOverlap, ()) {
  for (const double x : some_values()) {
    const Terms t = split(x, Rung::bf16x3);
    for (int p = 0; p < 2; ++p) {
      const double next = std::abs(to_double(t.term[p + 1]));
      RC_ASSERT(next <= (to_double(t.term[p]) == 0 ? 0 : spacing(t.term[p]) / 2));
    }
  }
}

// Three terms of 8 bits hold fp32's 24, as long as the last term does not underflow in bf16.
RC_GTEST_PROP(Split, IsExactForFp32InThreeTerms, ()) {
  for (const double wide : some_values(-110)) {
    const double x = static_cast<float>(wide);
    RC_ASSERT(join(split(x, Rung::bf16x3)) == x);
  }
}

RC_GTEST_PROP(Split, OfTheNegativeIsTheNegative, ()) {
  for (const double x : some_values()) {
    for (const Rung rung : {Rung::bf16, Rung::bf16x2, Rung::bf16x3, Rung::fp16}) {
      RC_ASSERT(join(split(-x, rung)) == -join(split(x, rung)));
    }
  }
}

RC_GTEST_PROP(Split, AtRungFp16IsTheFp16Number, ()) {
  for (const double x : some_values(-30)) {
    const Terms t = split(x, Rung::fp16);
    RC_ASSERT(join(t) == to_double(to_fp16(x)));
    RC_ASSERT(planes_used(t) <= 2);
  }
}

TEST(Split, OfEveryFp16NumberIsExactInTwoTerms) {
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const fp16 h{static_cast<std::uint16_t>(bits)};
    const double x = to_double(h);
    if (std::isnan(x)) continue;
    const Terms t = split(x, Rung::fp16);
    ASSERT_EQ(join(t), x) << bits;
    ASSERT_LE(planes_used(t), 2) << bits;
  }
}

TEST(Split, OfInfinityIsInfinityNotNan) {
  for (const Rung rung : {Rung::bf16, Rung::bf16x2, Rung::bf16x3, Rung::fp16}) {
    for (const double x : {kInfinity, std::numeric_limits<double>::max(), 3.5e38}) {
      EXPECT_EQ(join(split(x, rung)), kInfinity) << to_string(rung) << " " << x;
      EXPECT_EQ(join(split(-x, rung)), -kInfinity) << to_string(rung) << " " << x;
      EXPECT_EQ(planes_used(split(x, rung)), 1) << to_string(rung) << " " << x;
    }
  }
  EXPECT_EQ(join(split(65520.0, Rung::fp16)), kInfinity);
  EXPECT_EQ(join(split(65519.0, Rung::fp16)), 65504.0);
}

TEST(Split, OfNanIsNan) {
  for (const Rung rung : {Rung::bf16, Rung::bf16x2, Rung::bf16x3, Rung::fp16}) {
    const Terms t = split(std::numeric_limits<double>::quiet_NaN(), rung);
    EXPECT_TRUE(std::isnan(join(t)));
    EXPECT_EQ(t.term[1].bits, 0);
    EXPECT_EQ(t.term[2].bits, 0);
  }
}

TEST(Split, OfTheLargestFiniteNumberIsFinite) {
  const double largest = info(Format::bf16).largest;
  const double below_threshold = std::nextafter(0x1.ffp127, 0.0);  // rounds to the largest value
  for (const Rung rung : kBf16Rungs) {
    EXPECT_EQ(join(split(largest, rung)), largest);
    const double error = std::abs(below_threshold - join(split(below_threshold, rung)));
    EXPECT_LE(error, info(rung).unit_roundoff * below_threshold);
  }
}

TEST(Split, OfNumbersBelowTheSmallestIsZero) {
  for (const double x : {0.0, 0x1p-135, 0x1p-134, 0x1p-1022, 0x1p-1074}) {
    EXPECT_EQ(join(split(x, Rung::bf16x3)), 0.0) << x;
    EXPECT_EQ(join(split(-x, Rung::bf16x3)), 0.0) << x;
  }
}

}  // namespace
}  // namespace stepwell::core
