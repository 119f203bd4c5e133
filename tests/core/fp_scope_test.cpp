// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine/fp_scope.hpp"

#include <gtest/gtest.h>

#include <cfenv>

namespace stepwell::core {
namespace {

TEST(FpScope, RoundsToNearestAndGivesTheCallersRoundingBack) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  volatile double one = 1;
  volatile double tiny = 0x1p-60;
  double inside = 0;
  {
    const FpScope scope;
    inside = one + tiny;
  }
  const double outside = one + tiny;
  const int rounding = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(inside, 1.0);
  EXPECT_GT(outside, 1.0);
  EXPECT_EQ(rounding, FE_UPWARD);
}

#if defined(__x86_64__)
TEST(FpScope, KeepsSubnormalsAndRestoresMxcsrToTheBit) {
  const unsigned saved = _mm_getcsr();
  const unsigned flushing = 0x1f80U | 0x8040U | 0x2000U | 0x1U;  // FTZ, DAZ, rounding down, a flag
  volatile double small = 0x1p-1040;
  volatile double half = 0.5;
  _mm_setcsr(flushing);
  double inside = 0;
  {
    const FpScope scope;
    inside = small * half;
  }
  const unsigned after = _mm_getcsr();
  _mm_setcsr(saved);
  EXPECT_EQ(inside, 0x1p-1041);
  EXPECT_EQ(after, flushing);
}
#endif

}  // namespace
}  // namespace stepwell::core
