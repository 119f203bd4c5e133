// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "bench/harness/compare_stats.hpp"
#include "sanitized.hpp"

namespace stepwell::bench {
namespace {

using Values = std::vector<double>;

/// Ratios around a median, with lognormal noise as on a shared machine.
Values ratios(std::mt19937_64& random, std::size_t count, double median, double noise) {
  std::lognormal_distribution<double> draw(std::log(median), noise);
  Values values(count);
  std::generate(values.begin(), values.end(), [&] { return draw(random); });
  return values;
}

Change verdict(const Values& before, const Values& after) {
  return compare_samples({{before, after}}, {})[0].verdict;
}

TEST(RankTest, IsExactForFewValues) {
  // One of the 252 possible orders of five out of ten values, and its reverse.
  EXPECT_NEAR(rank_test({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}), 2.0 / 252, 1e-15);
  EXPECT_NEAR(rank_test({6, 7, 8, 9, 10}, {1, 2, 3, 4, 5}), 2.0 / 252, 1e-15);
  EXPECT_NEAR(least_probability(5, 5), 2.0 / 252, 1e-12);
  // 2 of the 6 orders of two and two are as far apart as this.
  EXPECT_NEAR(rank_test({1, 2}, {3, 4}), 2.0 / 6, 1e-15);
  // Ties: of {1, 2, 2, 3}, {1, 2} and {2, 3} have the two extreme sums, each in 2 ways.
  EXPECT_NEAR(rank_test({1, 2}, {2, 3}), 4.0 / 6, 1e-15);
}

TEST(RankTest, OfEqualValuesSeesNothing) {
  EXPECT_EQ(rank_test({2, 2, 2, 2}, {2, 2, 2, 2, 2}), 1);
  EXPECT_EQ(rank_test(Values(50, 1.0), Values(50, 1.0)), 1);
  EXPECT_EQ(rank_test({}, {1, 2}), 1);
}

TEST(RankTest, GoesOnWhereExactCountsEnd) {
  // The same data with 40 and with 42 values: exact, then by the normal approximation.
  const auto comb = [](std::size_t count, double from) {
    Values values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = from + static_cast<double>(i);
    return values;
  };
  const double exact = rank_test(comb(20, 0), comb(20, 5.5));
  const double curve = rank_test(comb(21, 0), comb(21, 5.5));
  EXPECT_LT(exact, 0.05);
  EXPECT_GT(exact, 1e-3);
  EXPECT_NEAR(curve, exact, 0.3 * exact);
}

RC_GTEST_PROP(RankTest, DependsOnOrderOnly,
              (const std::vector<int>& a, const std::vector<int>& b)) {
  const Values x(a.begin(), a.end());
  const Values y(b.begin(), b.end());
  const double p = rank_test(x, y);
  RC_ASSERT(p > 0 && p <= 1 + 1e-12);
  RC_ASSERT(std::abs(p - rank_test(y, x)) <= 1e-12);
  const auto stretch = [](Values values) {
    for (double& v : values) v = std::cbrt(v) + 7;
    return values;
  };
  RC_ASSERT(std::abs(p - rank_test(stretch(x), stretch(y))) <= 1e-12);
}

TEST(ManyTests, AreAdjustedAsBenjaminiAndHochberg) {
  const Values adjusted = adjust_for_many({0.01, 0.04, 0.03, 0.005});
  ASSERT_EQ(adjusted.size(), 4U);
  EXPECT_NEAR(adjusted[0], 0.02, 1e-15);
  EXPECT_NEAR(adjusted[1], 0.04, 1e-15);
  EXPECT_NEAR(adjusted[2], 0.04, 1e-15);
  EXPECT_NEAR(adjusted[3], 0.02, 1e-15);
  EXPECT_TRUE(adjust_for_many({}).empty());
}

RC_GTEST_PROP(Compare, FindsAFileTheSameAsItself, (const std::vector<unsigned char>& a)) {
  RC_PRE(!a.empty());
  const Values values(a.begin(), a.end());
  RC_ASSERT(verdict(values, values) == Change::same);
}

TEST(Compare, FindsAFifthInLittleNoise) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) {
    const Values before = ratios(random, 9, 8, 0.03);
    EXPECT_EQ(verdict(before, ratios(random, 9, 8 * 0.8, 0.03)), Change::slower);
    EXPECT_EQ(verdict(before, ratios(random, 9, 8 * 1.2, 0.03)), Change::faster);
  }
}

TEST(Compare, LeavesAloneWhatIsTooSmallToMatter) {
  std::mt19937_64 random(2);
  const Values before = ratios(random, 100, 8, 0.001);
  const Values after = ratios(random, 100, 8 * 0.97, 0.001);
  EXPECT_LT(rank_test(before, after), 1e-10);  // the change is detected
  EXPECT_EQ(verdict(before, after), Change::same);
}

TEST(Compare, SaysWhenThereIsTooLittleToGoBy) {
  EXPECT_EQ(verdict({1, 1.01, 1.02}, {0.5, 0.51, 0.52}), Change::unknown);
  EXPECT_EQ(verdict({1}, {1.01}), Change::unknown);
  EXPECT_EQ(verdict({}, {}), Change::unknown);
  // Enough for one case, but not for one out of a hundred.
  const Samples fifth = {{1, 1.01, 1.02, 1.03, 1.04}, {0.5, 0.51, 0.52, 0.53, 0.54}};
  std::vector<Samples> many(100, {{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}});
  many[7] = fifth;
  EXPECT_EQ(compare_samples({fifth}, {})[0].verdict, Change::slower);
  EXPECT_EQ(compare_samples(many, {})[7].verdict, Change::unknown);
}

/// Five in a hundred may be wrong, plus three standard deviations for this number of trials.
void expect_rare(int alarms, int trials) {
  EXPECT_LE(alarms, 0.05 * trials + 3 * std::sqrt(0.05 * 0.95 * trials));
}

TEST(Compare, SeldomTakesNoiseForAChange) {
  std::mt19937_64 random(3);
  for (const std::size_t pairs : {5U, 9U, 20U, 60U}) {
    int alarms = 0;
    constexpr int trials = test::kSanitized ? 200 : 1000;
    for (int i = 0; i < trials; ++i) {
      const Change change = verdict(ratios(random, pairs, 8, 0.3), ratios(random, pairs, 8, 0.3));
      alarms += change == Change::slower || change == Change::faster ? 1 : 0;
    }
    expect_rare(alarms, trials);
    EXPECT_GT(alarms, 0) << "a test that never fires at " << pairs << " pairs is none";
  }
}

TEST(Compare, SeldomTakesNoiseForAChangeInAnyOfManyCases) {
  std::mt19937_64 random(4);
  int alarms = 0;
  constexpr int files = test::kSanitized ? 40 : 200;
  for (int i = 0; i < files; ++i) {
    std::vector<Samples> cases(40);
    for (Samples& s : cases) s = {ratios(random, 9, 8, 0.3), ratios(random, 9, 8, 0.3)};
    const std::vector<Comparison> results = compare_samples(cases, {});
    alarms += std::any_of(results.begin(), results.end(), [](const Comparison& c) {
      return c.verdict == Change::slower || c.verdict == Change::faster;
    });
  }
  expect_rare(alarms, files);
}

}  // namespace
}  // namespace stepwell::bench
