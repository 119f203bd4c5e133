// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/harness.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <string>
#include <thread>

namespace stepwell::bench {
namespace {

/// Uses this much processor time.
void burn(double seconds) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double end = now() + seconds;
  while (now() < end) {
  }
}

Contest contest_of(double candidate_seconds, double baseline_seconds) {
  Contest c;
  c.candidate.work = c.baseline.work = 1e6;
  c.candidate.run = [=] { burn(candidate_seconds); };
  c.baseline.run = [=] { burn(baseline_seconds); };
  return c;
}

HarnessOptions quick(int windows) {
  HarnessOptions o;
  o.seconds = 0;
  o.windows = windows;
  o.window = 0.001;
  return o;
}

TEST(Summary, OfNothingIsZero) {
  const Summary s = summarize({});
  EXPECT_EQ(s.median, 0);
  EXPECT_EQ(s.best, 0);
  EXPECT_EQ(s.p10, 0);
}

TEST(Summary, OfOneIsThatOne) {
  const Summary s = summarize({3});
  EXPECT_EQ(s.median, 3);
  EXPECT_EQ(s.best, 3);
  EXPECT_EQ(s.p10, 3);
}

TEST(Summary, DoesNotDependOnOrder) {
  const Summary s = summarize({9, 1, 5, 3, 7, 11, 2, 10, 8, 6, 4});
  EXPECT_EQ(s.median, 6);
  EXPECT_EQ(s.best, 11);
  EXPECT_EQ(s.p10, 2);
}

TEST(Summary, InterpolatesBetweenNeighbours) {
  EXPECT_EQ(quantile({1, 2}, 0.5), 1.5);
  EXPECT_EQ(quantile({0, 10, 20, 30}, 0.25), 7.5);
  EXPECT_EQ(quantile({0, 10, 20, 30}, 1), 30);
}

RC_GTEST_PROP(Summary, LiesWithinTheSample, (const std::vector<int>& numbers)) {
  RC_PRE(!numbers.empty());
  const std::vector<double> sample(numbers.begin(), numbers.end());
  const Summary s = summarize(sample);
  RC_ASSERT(s.best == *std::max_element(sample.begin(), sample.end()));
  RC_ASSERT(s.p10 >= *std::min_element(sample.begin(), sample.end()));
  RC_ASSERT(s.p10 <= s.median);
  RC_ASSERT(s.median <= s.best);
}

TEST(Alternate, SeesAFactorOfTwo) {
  // Both use the clock of this thread, which other processes hardly disturb: far from 1 and 4.
  const ContestResult r = alternate(contest_of(50e-6, 100e-6), quick(20));
  EXPECT_GT(r.ratio.median, 1.5);
  EXPECT_LT(r.ratio.median, 2.7);
  EXPECT_GE(r.ratio.best, r.ratio.median);
  EXPECT_LE(r.ratio.p10, r.ratio.median);
  EXPECT_GE(r.candidate.seconds, 50e-6);
  EXPECT_LE(r.candidate.rate.best, 1e6 / 50e-6 * 1e-9);
  EXPECT_GE(r.baseline.seconds, 100e-6);
}

TEST(Alternate, MeasuresAsManyPairsAsAsked) {
  EXPECT_EQ(alternate(contest_of(1e-5, 1e-5), quick(7)).pairs.size(), 7U);
}

TEST(Alternate, MeasuresAtLeastTwentyPairs) {
  EXPECT_EQ(alternate(contest_of(1e-5, 1e-5), quick(0)).pairs.size(),
            static_cast<std::size_t>(kLeastWindows));
}

TEST(Alternate, SwapsWhoGoesFirst) {
  std::string order;
  Contest c = contest_of(2e-3, 2e-3);  // longer than a window: each call is one window
  c.candidate.run = [&, run = c.candidate.run] { order += 'c', run(); };
  c.baseline.run = [&, run = c.baseline.run] { order += 'b', run(); };
  alternate(c, quick(4));
  ASSERT_GE(order.size(), 8U);
  EXPECT_EQ(order.substr(order.size() - 8), "cbbccbbc");
}

TEST(Alternate, PreparesEveryCallAndDoesNotTimeIt) {
  Contest c = contest_of(20e-6, 20e-6);
  int prepared = 0;
  int calls = 0;
  c.candidate.prepare = [&] {
    EXPECT_EQ(prepared, calls);
    ++prepared;
    burn(200e-6);
  };
  c.candidate.run = [&, run = c.candidate.run] { ++calls, run(); };
  const ContestResult r = alternate(c, quick(5));
  EXPECT_EQ(prepared, calls);
  EXPECT_LT(r.candidate.seconds, 200e-6);
}

TEST(Alternate, PassesOnWhatASideThrows) {
  Contest c = contest_of(1e-5, 1e-5);
  c.baseline.run = [] { throw std::runtime_error("no"); };
  EXPECT_THROW(alternate(c, quick(5)), std::runtime_error);
}

TEST(Alternate, GivesTheSummaryOfItsPairs) {
  const ContestResult r = alternate(contest_of(2e-5, 4e-5), quick(9));
  const Summary s = summarize(r.pairs);
  EXPECT_EQ(r.ratio.median, s.median);
  EXPECT_EQ(r.ratio.best, s.best);
  EXPECT_EQ(r.ratio.p10, s.p10);
}

/// Sides that append their letter and take longer than a window.
std::vector<Side> letters(const std::string& names, std::string& order) {
  std::vector<Side> sides;
  for (const char name : names) {
    Side side;
    side.name = name;
    side.run = [name, &order] { order += name, burn(2e-3); };
    sides.push_back(side);
  }
  return sides;
}

TEST(Rotate, GivesEverySideAWindowInEveryRound) {
  std::string order;
  RotateOptions options;
  options.rounds = 3;
  options.warm_up = false;
  options.window = 0.001;
  std::string announced;
  options.before = [&](const Side& side) { announced += side.name; };
  const auto seconds = rotate(letters("abc", order), Clock::thread_cpu, options);
  EXPECT_EQ(order, "abccbaabc");
  EXPECT_EQ(announced, order);
  ASSERT_EQ(seconds.size(), 3U);
  for (const std::vector<double>& side : seconds) {
    ASSERT_EQ(side.size(), 3U);
    for (const double s : side) EXPECT_GE(s, 2e-3);
  }
}

TEST(Rotate, DoesNotCountTheWarmUp) {
  std::string order;
  RotateOptions options;
  options.rounds = 2;
  options.window = 1e-5;  // a single run is enough to warm up
  const auto seconds = rotate(letters("ab", order), Clock::thread_cpu, options);
  EXPECT_EQ(order, "ababba");
  EXPECT_EQ(seconds[0].size(), 2U);
}

/// Work that goes on for 50 ms after a call, as a library's spinning threads do.
class Spinning {
 public:
  ~Spinning() { join(); }
  void start() {
    join();
    active_ = true;
    thread_ = std::thread([this] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      while (std::chrono::steady_clock::now() < end) continue;
      active_ = false;
    });
  }
  bool active() const { return active_; }

 private:
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  std::atomic<bool> active_{false};
  std::thread thread_;
};

TEST(Rotate, StartsASideWhenTheThreadsOfTheOtherSleep) {
  Spinning spinning;
  int disturbed = 0;
  std::vector<Side> sides(2);
  sides[0].threads = 2;
  sides[0].run = [&] { spinning.start(); };
  sides[1].run = [&] { disturbed += spinning.active() ? 1 : 0; };
  RotateOptions options;
  options.rounds = 3;
  options.warm_up = false;
  rotate(sides, Clock::wall, options);
  EXPECT_EQ(disturbed, 0);
}

}  // namespace
}  // namespace stepwell::bench
