// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/team.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "engine/counter.hpp"

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

TEST(Team, GivesTheCallerWhatAJobThrew) {
  for (const int threads : {1, 2, 5}) {
    Team team(threads);
    for (int thrower = 0; thrower < threads; ++thrower) {
      std::atomic<int> others{0};
      const auto job = [&](int t) {
        if (t == thrower) throw t;
        ++others;
      };
      try {
        team.run(job);
        ADD_FAILURE() << "nothing was thrown";
      } catch (const int t) {
        EXPECT_EQ(t, thrower);
      }
      EXPECT_EQ(others, threads == 1 ? 0 : threads - 1);
    }
    std::atomic<int> done{0};
    EXPECT_THROW(team.for_each(100, [](std::int64_t) { throw 'x'; }), char);
    team.for_each(100, [&](std::int64_t) { ++done; });
    EXPECT_EQ(done, 100);
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

/// Threads of this process.
std::int64_t threads_alive() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(Team, StartsNothingUntilItRuns) {
  const std::int64_t before = threads_alive();
  Team team(12);
  EXPECT_EQ(threads_alive(), before);
}

TEST(Team, TogetherTeamsHaveNoMoreThreadsThanOneWants) {
  constexpr int kThreads = 4, kCallers = 8;
  {
    Team(kThreads).run([](int) {});
  }  // those that sleep from now on
  const std::int64_t before = threads_alive();
  std::atomic<std::int64_t> most{0}, sum{0};
  std::atomic<int> ready{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c) {
    callers.emplace_back([&] {
      for (int call = 0; call < 50; ++call) {
        Team team(kThreads);
        ++ready;
        while (ready < kCallers) std::this_thread::yield();  // all at once
        EXPECT_TRUE(team.size() >= 1 && team.size() <= kThreads);
        team.for_each(100, [&](std::int64_t i) { sum += i; });
        const std::int64_t now = threads_alive();
        std::int64_t seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, kCallers * 50 * 4950);
  EXPECT_LE(most, before + kCallers) << "beside the callers, those that were there";
}

TEST(Team, ATeamAtRestLeavesItsThreadsToOthers) {
  Team first(5);
  EXPECT_EQ(first.size(), 5);
  Team second(5);
  EXPECT_EQ(second.size(), 1) << "all are taken";
  first.rest();
  second.rest();
  EXPECT_EQ(second.size(), 5);
  EXPECT_EQ(first.size(), 1);
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
