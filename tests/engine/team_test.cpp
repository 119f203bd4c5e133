// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/team.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace stepwell::engine {
namespace {

TEST(Team, RunsTheJobOnceOnEveryThread) {
  for (const int threads : {1, 2, 5}) {
    Team team(threads);
    ASSERT_EQ(team.size(), threads);
    for (int run = 0; run < 50; ++run) {
      std::array<std::atomic<int>, 5> calls{};
      team.run([&](int t) { ++calls[static_cast<std::size_t>(t)]; });
      for (int t = 0; t < 5; ++t) ASSERT_EQ(calls[static_cast<std::size_t>(t)], t < threads);
    }
  }
}

TEST(Team, BarrierLetsNobodyThroughBeforeAllAreThere) {
  constexpr int threads = 4;
  Team team(threads);
  for (int run = 0; run < 10; ++run) {
    std::atomic<int> arrived{0};
    std::atomic<int> early{0};
    team.run([&](int) {
      for (int round = 1; round <= 20; ++round) {
        ++arrived;
        team.barrier();
        if (arrived < round * threads) ++early;
        team.barrier();
      }
    });
    ASSERT_EQ(early, 0);
    ASSERT_EQ(arrived, 20 * threads);
  }
}

TEST(Counter, WakesSleepers) {
  Counter counter;
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    counter.add();
  });
  counter.wait_for(1);
  late.join();
  counter.wait_for(0);
}

TEST(Team, LetsAPieceWaitForEarlierOnes) {
  for (const int threads : {1, 2, 3, 4}) {
    Team team(threads);
    Counter done;
    std::vector<int> calls(500);
    team.for_each(500, [&](std::int64_t i) {
      done.wait_for(i);  // all before it have been done
      ++calls[static_cast<std::size_t>(i)];
      done.add();
    });
    EXPECT_EQ(calls, std::vector<int>(500, 1)) << threads;
    team.for_each(0, [&](std::int64_t) { ADD_FAILURE() << "no piece"; });
  }
}

}  // namespace
}  // namespace stepwell::engine
