// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/checked.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "stepwell/error.hpp"

namespace stepwell::core {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

template <class F>
ErrorCode code_of(F&& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()), "");
    return e.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::internal;
}

static_assert(checked_add(kMax, 0) == kMax);
static_assert(!checked_add(kMax, 1));
static_assert(!checked_add(kMin, -1));
static_assert(checked_multiply(kMax, 1) == kMax);
static_assert(!checked_multiply(kMin, -1));
static_assert(checked_multiply(std::int64_t{1} << 31, std::int64_t{1} << 31) == std::int64_t{1}
                                                                                    << 62);
static_assert(!checked_multiply(std::int64_t{1} << 32, std::int64_t{1} << 31));
static_assert(round_up(0, 64) == 0);
static_assert(round_up(1, 64) == 64);
static_assert(round_up(64, 64) == 64);
static_assert(round_up(65, 64) == 128);
static_assert(round_up(kMax, 1) == kMax);

RC_GTEST_PROP(Checked, ProductsAndSumsAreTheExactOnesOrNothing, (std::int64_t a, std::int64_t b)) {
  const int shift = *rc::gen::inRange(0, 63);  // otherwise nearly every product overflows
  const std::int64_t c = b >> shift;
  const __int128 product = static_cast<__int128>(a) * c;
  const __int128 sum = static_cast<__int128>(a) + c;
  const auto fits = [](__int128 x) { return x >= kMin && x <= kMax; };
  RC_ASSERT(checked_multiply(a, c).has_value() == fits(product));
  RC_ASSERT(checked_add(a, c).has_value() == fits(sum));
  if (fits(product)) RC_ASSERT(static_cast<__int128>(*checked_multiply(a, c)) == product);
  if (fits(sum)) RC_ASSERT(static_cast<__int128>(*checked_add(a, c)) == sum);
}

TEST(Checked, ASizeOf46341SquaredIsNotSpecial) {
  EXPECT_EQ(size_product(46341, 46341, "matrix"), 2147488281);
  EXPECT_EQ(size_product(3037000499, 3037000499, "matrix"), 9223372030926249001);
}

TEST(Checked, AProductThatDoesNotFitIsTooLargeAndNamed) {
  EXPECT_EQ(code_of([] { size_product(3037000500, 3037000500, "matrix"); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([] { size_product(kMax, kMax, "matrix"); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([] { size_product(1 << 30, 1 << 30, 8, "matrix"); }), ErrorCode::too_large);
  EXPECT_EQ(size_product(1 << 30, 1 << 30, 4, "matrix"), std::int64_t{1} << 62);
  try {
    size_product(kMax, 2, "the packed operand");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("the packed operand"), std::string::npos) << e.what();
  }
}

TEST(Checked, ANegativeSizeIsRefusedEvenIfTheProductIsPositive) {
  EXPECT_EQ(code_of([] { size_product(-1, 5, "matrix"); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([] { size_product(5, -1, "matrix"); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([] { size_product(-2, -3, "matrix"); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([] { size_product(-2, -3, 1, "matrix"); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([] { size_product(kMin, -1, "matrix"); }), ErrorCode::too_large);
}

TEST(Checked, RoundingUpNeverWraps) {
  EXPECT_EQ(round_up(kMax - 63, 64), kMax - 63);
  EXPECT_EQ(code_of([] { round_up(kMax, 64); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([] { round_up(kMax - 62, 64); }), ErrorCode::too_large);
}

}  // namespace
}  // namespace stepwell::core
