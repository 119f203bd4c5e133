// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/numeric/checksum.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace stepwell::core {
namespace {

std::uint64_t of(std::string_view text, std::uint64_t seed = 0) {
  Checksum sum(seed);
  sum.add(text);
  return sum.value();
}

TEST(ChecksumTest, IsXxh64) {  // values from its authors and its Python package
  EXPECT_EQ(of(""), 0xef46db3751d8e999U);
  EXPECT_EQ(of("a"), 0xd24ec4f1a98c6e5bU);
  EXPECT_EQ(of("abc"), 0x44bc2cf5ad770999U);
  EXPECT_EQ(of("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1U);
}

RC_GTEST_PROP(ChecksumTest, DoesNotDependOnHowTheBytesCome, (const std::string& text)) {
  Checksum sum(7);
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto some = *rc::gen::inRange<std::size_t>(1, rest.size() + 1);
    sum.add(rest.substr(0, some));
    rest.remove_prefix(some);
  }
  RC_ASSERT(sum.value() == of(text, 7));
}

TEST(ChecksumTest, SeesEveryBitOfEveryLength) {
  for (std::size_t length = 0; length < 100; ++length) {
    std::string text(length, '\0');
    const std::uint64_t whole = of(text);
    EXPECT_NE(whole, of(text, 1));
    EXPECT_NE(whole, of(text + '\0'));
    for (std::size_t bit = 0; bit < 8 * length; ++bit) {
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
      EXPECT_NE(of(text), whole) << length << ' ' << bit;
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    }
  }
}

}  // namespace
}  // namespace stepwell::core
