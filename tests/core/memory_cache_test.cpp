// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory_cache.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "core/buffer.hpp"

/// Memory that buffers leave for the next ones.
namespace stepwell::core {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class MemoryCache : public ::testing::Test {
 protected:
  void SetUp() override {
    release_blocks();
    set_most_kept(64 * kMiB);
  }
  void TearDown() override { set_most_kept(0); }
};

TEST_F(MemoryCache, GivesABlockAgain) {
  const char* before = nullptr;
  {
    const Buffer<char> first(10 * kMiB, Contents::any);
    before = first.data();
    std::fill(first.begin(), first.end(), 'x');
  }
  EXPECT_EQ(kept_bytes(), 10 * kMiB);
  const Buffer<char> second(9 * kMiB + 1, Contents::any);
  EXPECT_EQ(second.data(), before);
  EXPECT_EQ(kept_bytes(), 0);
}

TEST_F(MemoryCache, KeepsSmallerBuffersOfTheHeap) {
  constexpr std::int64_t kSize = 100 << 10;
  const char* before = nullptr;
  {
    const Buffer<char> first(kSize, Contents::any);
    before = first.data();
    std::fill(first.begin(), first.end(), 'x');
  }
  EXPECT_EQ(kept_bytes(), kSize);
  { const Buffer<char> much_smaller(kSize / 3, Contents::any); }
  {
    const Buffer<char> again(kSize - 1000);
    EXPECT_EQ(again.data(), before);
    EXPECT_EQ(std::count(again.begin(), again.end(), '\0'), kSize - 1000);
  }
  for (std::int64_t size = 32 << 10; size < 2 * kMiB; size += 32 << 10) {
    const Buffer<char> buffer(size, Contents::any);
    std::fill(buffer.begin(), buffer.end(), 'y');
  }
  EXPECT_LE(kept_bytes(), 8 * kMiB);
  EXPECT_GT(kept_bytes(), 0);
  release_blocks();
  EXPECT_EQ(kept_bytes(), 0);
  set_most_kept(0);
  { const Buffer<char> buffer(kSize); }
  EXPECT_EQ(kept_bytes(), 0);
}

TEST_F(MemoryCache, ClearsWhatHasToBeZero) {
  { std::fill_n(Buffer<char>(10 * kMiB, Contents::any).data(), 10 * kMiB, 'x'); }
  const Buffer<char> zeros(10 * kMiB);
  EXPECT_TRUE(std::all_of(zeros.begin(), zeros.end(), [](char c) { return c == 0; }));
}

TEST_F(MemoryCache, DividesBlocksAndJoinsThem) {
  { const Buffer<char> whole(16 * kMiB, Contents::any); }
  {
    const Buffer<char> one(6 * kMiB, Contents::any), two(10 * kMiB, Contents::any);
    EXPECT_EQ(one.end(), two.begin());
    EXPECT_EQ(kept_bytes(), 0);
  }
  const Buffer<char> again(16 * kMiB, Contents::any);
  EXPECT_EQ(kept_bytes(), 0) << "the parts were one block";
}

TEST_F(MemoryCache, HoldsAtMostItsLimit) {
  { const Buffer<char> large(100 * kMiB, Contents::any); }
  EXPECT_EQ(kept_bytes(), 0);
  { const Buffer<char> one(40 * kMiB, Contents::any), two(30 * kMiB, Contents::any); }
  EXPECT_LE(kept_bytes(), 64 * kMiB);
  EXPECT_GE(kept_bytes(), 30 * kMiB);
  set_most_kept(8 * kMiB);
  EXPECT_LE(kept_bytes(), 8 * kMiB);
  set_most_kept(0);
  { const Buffer<char> small(4 * kMiB, Contents::any); }
  EXPECT_EQ(kept_bytes(), 0);
}

TEST_F(MemoryCache, GivesBackAsMuchAsARequestMapsInVain) {
  {
    const Buffer<char> one(10 * kMiB, Contents::any), gap(2 * kMiB, Contents::any);
    const Buffer<char> two(10 * kMiB, Contents::any);
  }
  const std::int64_t before = kept_bytes();
  const Buffer<char> larger(before + 2 * kMiB, Contents::any);
  EXPECT_EQ(kept_bytes(), 0);
}

TEST_F(MemoryCache, IsSharedByThreads) {
  std::atomic<int> wrong = 0;
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Buffer<unsigned char>> held;
    for (int k = 0; k < 300; ++k) {
      const auto size = static_cast<std::int64_t>(1 + random() % 6) * kMiB + 12;
      held.emplace_back(size, random() % 4 == 0 ? Contents::zeros : Contents::any);
      std::fill_n(held.back().data(), 64, static_cast<unsigned char>(seed));
      held.back()[size - 1] = static_cast<unsigned char>(seed);
      if (held.size() == 5) {
        for (const auto& buffer : held) {
          if (buffer[0] != seed || buffer[63] != seed || buffer[buffer.size() - 1] != seed) ++wrong;
        }
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(random() % 5));
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned k = 1; k <= 4; ++k) threads.emplace_back(work, k);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(kept_bytes(), 64 * kMiB);
}

TEST_F(MemoryCache, IsTheChildsOwnAfterFork) {
  { std::fill_n(Buffer<char>(8 * kMiB, Contents::any).data(), 8 * kMiB, 'p'); }
  const pid_t child = fork();
  if (child == 0) {
    const Buffer<char> own(8 * kMiB, Contents::any);
    std::fill(own.begin(), own.end(), 'c');
    _exit(own[8 * kMiB - 1] == 'c' ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const Buffer<char> mine(8 * kMiB, Contents::any);
  EXPECT_EQ(mine[0], 'p') << "the parent's memory is untouched";
}

}  // namespace
}  // namespace stepwell::core
