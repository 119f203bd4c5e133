// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/buffer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "core/memory_cache.hpp"
#include "stepwell/error.hpp"

namespace stepwell::core {
namespace {

constexpr std::int64_t kHuge = std::int64_t{2} << 20;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::uintptr_t address(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p);
}

/// Pages of virtual memory that this process has mapped.
std::int64_t pages_mapped() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0;
  file >> pages;
  return pages;
}

TEST(Buffer, IsZeroedAlignedAndWritableAtEverySizeAroundAHugePage) {
  for (const std::int64_t bytes :
       {std::int64_t{1}, std::int64_t{63}, std::int64_t{64}, std::int64_t{65}, std::int64_t{4096},
        kHuge - 1, kHuge, kHuge + 1, 2 * kHuge, 3 * kHuge + 12345}) {
    Buffer<unsigned char> buffer(bytes);
    ASSERT_EQ(buffer.size(), bytes);
    ASSERT_EQ(address(buffer.data()) % 64, 0U) << bytes;
    ASSERT_TRUE(std::all_of(buffer.begin(), buffer.end(), [](auto b) { return b == 0; })) << bytes;
    std::fill(buffer.begin(), buffer.end(), 0xff);
    ASSERT_EQ(buffer[bytes - 1], 0xff);
  }
}

TEST(Buffer, IsZeroedWhenTheHeapGivesUsedMemoryAgain) {
  for (int round = 0; round < 100; ++round) {
    Buffer<double> buffer(1000);
    ASSERT_TRUE(std::all_of(buffer.begin(), buffer.end(), [](double x) { return x == 0; }));
    std::fill(buffer.begin(), buffer.end(), 1.0);
  }
}

TEST(Buffer, StartsOnAHugePageWhenItHoldsOne) {
  for (int i = 0; i < 8; ++i) {
    const Buffer<double> a(kHuge / 8);
    const Buffer<double> b(kHuge / 8 + 1);
    EXPECT_EQ(address(a.data()) % kHuge, 0U);
    EXPECT_EQ(address(b.data()) % kHuge, 0U);
  }
}

TEST(Buffer, GivesLargeMemoryBackToTheSystem) {
  constexpr std::int64_t kSlack = 100;  // pages by which the heap may grow in the meantime
  const std::int64_t bytes = 64 * kHuge + 5;
  release_blocks();
  const std::int64_t before = pages_mapped();
  {
    const Buffer<char> buffer(bytes);
    // Nothing beyond the rounded size stays mapped: the extra memory for alignment has been
    // released.
    const std::int64_t pages = round_up(bytes, kHuge) / sysconf(_SC_PAGESIZE);
    EXPECT_LE(pages_mapped() - before, pages + kSlack);
  }
  release_blocks();
  EXPECT_LE(pages_mapped(), before + kSlack);
}

TEST(Buffer, OfSizeZeroIsEmptyAndOwnsNothing) {
  const Buffer<double> buffer(0);
  EXPECT_EQ(buffer.size(), 0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.begin(), buffer.end());
  const Buffer<double> none;
  EXPECT_EQ(none.data(), nullptr);
}

TEST(Buffer, MovesItsMemoryAndLeavesNothingBehind) {
  Buffer<double> a(100);
  a[7] = 7;
  double* const data = a.data();
  Buffer<double> b(std::move(a));
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(b.size(), 100);
  EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move): that is the claim
  EXPECT_EQ(a.size(), 0);
  Buffer<double> c(5);
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c[7], 7);
  Buffer<double>& same = c;
  c = std::move(same);
  EXPECT_EQ(c.data(), data);
  c = Buffer<double>(kHuge);
  EXPECT_EQ(c.size(), kHuge);
}

static_assert(!std::is_copy_constructible_v<Buffer<double>>);
static_assert(!std::is_copy_assignable_v<Buffer<double>>);

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

TEST(Buffer, OfAnAbsurdSizeThrowsTheRightError) {
  EXPECT_EQ(code_of([] { Buffer<double> b(std::int64_t{1} << 57); }), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of([] { Buffer<char> b(kMax); }), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of([] { Buffer<char> b(kMax - kHuge); }), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of([] { Buffer<double> b(std::int64_t{1} << 60); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([] { Buffer<double> b(kMax); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([] { Buffer<double> b(-1); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([] { allocate(-1); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([] { allocate(std::numeric_limits<std::int64_t>::min()); }),
            ErrorCode::too_large);
}

TEST(Buffer, SaysHowMuchWasAskedFor) {
  try {
    Buffer<char> buffer(std::int64_t{1} << 60);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("1152921504606846976 bytes"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace stepwell::core
