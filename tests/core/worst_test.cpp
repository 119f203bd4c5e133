// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/numeric/worst.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace stepwell::core {
namespace {

/// A NaN stays, whatever comes before or after it.
TEST(Worst, KeepsANaN) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(worst(1, 2), 2);
  EXPECT_EQ(worst(2, 1), 2);
  EXPECT_EQ(worst(1, kInf), kInf);
  EXPECT_TRUE(std::isnan(worst(kNaN, 1)));
  EXPECT_TRUE(std::isnan(worst(1, kNaN)));
  EXPECT_TRUE(std::isnan(worst(kNaN, kInf)));
  EXPECT_TRUE(std::isnan(worst(worst(worst(0, 1), kNaN), 2)));
}

}  // namespace
}  // namespace stepwell::core
