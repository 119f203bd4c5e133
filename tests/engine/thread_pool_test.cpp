// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/threads/thread_pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "engine/threads/counter.hpp"

namespace stepwell::engine {
namespace {

/// A job that each of so many threads begins before any of them leaves it.
template <class Job>
auto on_all(int threads, std::atomic<int>& inside, const Job& job) {
  return [threads, &inside, job](int t) {
    ++inside;
    while (inside < threads) std::this_thread::yield();
    job(t);
  };
}

TEST(ThreadPool, RunsTheJobAtMostOnceOnEveryThread) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    ASSERT_EQ(pool.size(), threads);
    for (int run = 0; run < 50; ++run) {
      std::array<std::atomic<int>, 5> calls{};
      std::atomic<int> inside{0};
      pool.run(on_all(threads, inside, [&](int t) { ++calls[static_cast<std::size_t>(t)]; }));
      for (int t = 0; t < 5; ++t) ASSERT_EQ(calls[static_cast<std::size_t>(t)], t < threads);
    }
  }
}

TEST(ThreadPool, DoesNotWaitForAThreadThatHasNotBegun) {
  ThreadPool pool(3);
  std::atomic<int> done{0};
  for (int run = 0; run < 1000; ++run) {
    std::atomic<int> inside{0}, after{0};
    std::atomic<bool> over{false};
    pool.run([&](int) {
      ++inside;
      if (over) ++after;
      --inside;
      ++done;
    });
    over = true;
    ASSERT_EQ(inside, 0);
    ASSERT_EQ(after, 0);
  }
  EXPECT_GE(done, 1000);  // the caller took part in each
}

TEST(ThreadPool, GivesTheCallerWhatAJobThrew) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int thrower = 0; thrower < threads; ++thrower) {
      std::atomic<int> others{0}, inside{0};
      const auto job = on_all(threads, inside, [&](int t) {
        if (t == thrower) throw t;
        ++others;
      });
      try {
        pool.run(job);
        ADD_FAILURE() << "nothing was thrown";
      } catch (const int t) {
        EXPECT_EQ(t, thrower);
      }
      EXPECT_EQ(others, threads == 1 ? 0 : threads - 1);
    }
    std::atomic<int> done{0};
    EXPECT_THROW(pool.for_each(100, [](std::int64_t) { throw 'x'; }), char);
    pool.for_each(100, [&](std::int64_t) { ++done; });
    EXPECT_EQ(done, 100);
  }
}

/// The number of threads of this process.
std::int64_t threads_alive() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(ThreadPool, StartsNothingUntilItRuns) {
  const std::int64_t before = threads_alive();
  ThreadPool pool(12);
  EXPECT_EQ(threads_alive(), before);
}

TEST(ThreadPool, ConcurrentPoolsHaveNoMoreThreadsThanOneWants) {
  constexpr int kThreads = 4, kCallers = 8;
  {
    ThreadPool(kThreads).run([](int) {});
  }  // these threads sleep from now on
  const std::int64_t before = threads_alive();
  std::atomic<std::int64_t> most{0}, sum{0};
  std::atomic<int> ready{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c) {
    callers.emplace_back([&] {
      for (int call = 0; call < 50; ++call) {
        ThreadPool pool(kThreads);
        ++ready;
        while (ready < kCallers) std::this_thread::yield();  // start all callers at once
        EXPECT_TRUE(pool.size() >= 1 && pool.size() <= kThreads);
        pool.for_each(100, [&](std::int64_t i) { sum += i; });
        const std::int64_t now = threads_alive();
        std::int64_t seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, kCallers * 50 * 4950);
  EXPECT_LE(most, before + kCallers) << "more threads than the callers and those that existed";
}

TEST(ThreadPool, AReleasedPoolLeavesItsThreadsToOthers) {
  ThreadPool first(5);
  EXPECT_EQ(first.size(), 5);
  ThreadPool second(5);
  EXPECT_EQ(second.size(), 1) << "all are taken";
  first.release();
  second.release();
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

TEST(ThreadPool, LetsAPieceWaitForEarlierOnes) {
  for (const int threads : {1, 2, 3, 4}) {
    ThreadPool pool(threads);
    Counter done;
    std::vector<int> calls(500);
    pool.for_each(500, [&](std::int64_t i) {
      done.wait_for(i);  // all earlier indices have been done
      ++calls[static_cast<std::size_t>(i)];
      done.add();
    });
    EXPECT_EQ(calls, std::vector<int>(500, 1)) << threads;
    pool.for_each(0, [&](std::int64_t) { ADD_FAILURE() << "no piece"; });
  }
}

}  // namespace
}  // namespace stepwell::engine
