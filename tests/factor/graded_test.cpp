// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "factor/fixture.hpp"
#include "stepwell/level3.hpp"

/// Graded maps, and the spread elimination order that they need for sorted points: P A P' = L L'.
namespace stepwell::factor::test {
namespace {

FactorOptions spread_options(const std::string& map, std::int64_t tile = 64) {
  FactorOptions options = options_for(map, tile);
  options.spread = true;
  return options;
}

/// P A P' from the lower triangle of A. Both triangles are stored.
Dense<double> permuted(const Dense<double>& a, const std::vector<std::int64_t>& order) {
  Dense<double> b(a.rows, a.cols);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      b(i, j) = a(std::max(order[i], order[j]), std::min(order[i], order[j]));
    }
  }
  return b;
}

class Graded : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Factor, Graded,
                         ::testing::Values("graded:bf16x3*1,bf16x2*3,bf16", "graded:fp32*1,bf16",
                                           "graded:fp64*2,bf16x2*1,fp16",
                                           "graded:fp64*1,bf16x3*2,fp32", "graded:bf16*2,fp64",
                                           "graded:bf16*1,fp32*1,bf16x2"));

TEST_P(Graded, FactorsToItsRoundoffAtEverySizeAroundATile) {
  for (const std::int64_t n : {1, 31, 64, 65, 127, 128, 129, 256, 257, 500, 700}) {
    const Dense<double> a = well_conditioned(n, static_cast<std::uint64_t>(n));
    const Factor factor = factor_of(a, options_for(GetParam()));
    ASSERT_EQ(factor.report().attempts.size(), 1U) << n;
    EXPECT_EQ(to_string(factor.report().map), GetParam());
    EXPECT_TRUE(factor.permutation().empty());
    const double error = residual(a, lower_factor(factor));
    EXPECT_LT(error / residual_bound(factor.report(), n), 1) << n << ": " << error;
  }
}

// ---- the spread order

class Spread : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Factor, Spread,
                         ::testing::Values("bf16", "bf16x2", "fp16", "fp32", "fp64", "int8x14",
                                           "bf16,bf16x2,fp32", "graded:bf16x3*1,bf16x2*3,bf16",
                                           "graded:fp64*1,bf16"));

TEST_P(Spread, FactorsThePermutedMatrix) {
  for (const std::int64_t n : {65, 127, 128, 129, 300, 500, 700}) {
    const Dense<double> a = well_conditioned(n, static_cast<std::uint64_t>(n));
    const Factor factor = factor_of(a, spread_options(GetParam()));
    ASSERT_TRUE(factor.ok()) << n;
    ASSERT_EQ(factor.permutation().size(), static_cast<std::size_t>(n));
    const Dense<double> b = permuted(a, factor.permutation());
    const double error = residual(b, lower_factor(factor));
    EXPECT_LT(error / residual_bound(factor.report(), n), 1) << n << ": " << error;
    // The same bits as for the permuted matrix.
    EXPECT_TRUE(same_factor(factor, factor_of(b, options_for(GetParam())))) << n;
    EXPECT_EQ(factor.report().max_abs, factor_of(a, options_for(GetParam())).report().max_abs);
  }
}

TEST_P(Spread, IsAPermutationWithRowsFromAllOverInEachBlockColumn) {
  for (const std::int64_t n : {65, 128, 129, 300, 700}) {
    const Factor factor = factor_of(well_conditioned(n), spread_options(GetParam()));
    const std::vector<std::int64_t>& order = factor.permutation();
    std::vector<std::int64_t> sorted(order), all(order.size());
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all) << n;
    const std::int64_t tiles = (n + 63) / 64;
    for (std::int64_t first = 0; first + 64 <= n; first += 64) {
      const auto [low, high] =
          std::minmax_element(order.begin() + first, order.begin() + first + 64);
      EXPECT_GE(*high - *low, n - 2 * tiles) << n << ", block column " << first / 64;
    }
  }
}

TEST_P(Spread, IsNothingForOneTile) {
  const Dense<double> a = well_conditioned(64);
  const Factor factor = factor_of(a, spread_options(GetParam()));
  EXPECT_TRUE(factor.permutation().empty());
  EXPECT_TRUE(same_factor(factor, factor_of(a, options_for(GetParam()))));
  EXPECT_TRUE(factor_of(Dense<double>(0, 0), spread_options(GetParam())).ok());
}

TEST_P(Spread, GivesTheSameBitsForAnyNumberOfWorkers) {
  const Dense<double> a = well_conditioned(500);
  FactorOptions options = spread_options(GetParam());
  Context one(1);
  options.engine.context = &one;
  const Factor expected = factor_of(a, options);
  for (const int threads : {2, 3}) {
    Context context(threads);
    options.engine.context = &context;
    EXPECT_TRUE(same_factor(factor_of(a, options), expected)) << threads;
  }
}

TEST_P(Spread, TakesThePredictedMemory) {
  for (const std::int64_t n : {1, 64, 129, 700}) {
    const Factor factor = factor_of(well_conditioned(n), spread_options(GetParam()));
    EXPECT_EQ(factor.report().peak_bytes, factor_bytes(n, spread_options(GetParam()))) << n;
  }
}

// ---- failures are reported with A's row numbers

TEST_P(Spread, NamesTheFailingPivotsRowOfA) {
  for (const std::int64_t row : {0, 1, 63, 64, 150, 299}) {
    for (const bool escalate : {true, false}) {
      Dense<double> a = well_conditioned(300);
      a(row, row) = -1;
      FactorOptions options = spread_options(GetParam());
      options.climb = escalate;
      const Factor factor = factor_of(a, options);
      EXPECT_FALSE(factor.ok());
      EXPECT_EQ(factor.report().pivot, row);
      EXPECT_EQ(factor.report().attempts.back().pivot, row);
      EXPECT_LT(factor.report().pivot_value, 0);
    }
  }
}

// If two rows make the matrix indefinite, the one that is eliminated later is reported, not the one
// with the larger index.
TEST_P(Spread, NamesTheRowThatIsEliminatedLater) {
  for (const auto& [row, col] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{299, 0}, {200, 101}, {5, 4}, {250, 7}}) {
    Dense<double> a(300, 300);
    for (std::int64_t i = 0; i < 300; ++i) a(i, i) = 1;
    a(row, col) = 2;
    const Factor factor = factor_of(a, spread_options(GetParam()));
    ASSERT_EQ(factor.report().outcome, FactorOutcome::not_positive_definite);
    const std::vector<std::int64_t>& order = factor.permutation();
    const bool row_first =
        std::find(order.begin(), order.end(), row) < std::find(order.begin(), order.end(), col);
    EXPECT_EQ(factor.report().pivot, row_first ? col : row) << row << ", " << col;
  }
}

TEST_P(Spread, SaysWhereANonFiniteElementIs) {
  for (const auto& [row, col] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {299, 0}, {200, 101}, {64, 63}}) {
    Dense<double> a = well_conditioned(300);
    a(row, col) = std::numeric_limits<double>::quiet_NaN();
    const FactorReport report = factor_of(a, spread_options(GetParam())).report();
    EXPECT_EQ(report.outcome, FactorOutcome::non_finite);
    EXPECT_EQ(report.row, row);
    EXPECT_EQ(report.col, col);
  }
}

TEST(SpreadOrder, IsRefusedByTrsmAndAdaptiveMaps) {
  const Factor factor = factor_of(well_conditioned(200), spread_options("fp32"));
  Dense<double> b(10, 200);
  const std::string text =
      message_of(ErrorCode::invalid_argument, [&] { (void)trsm(factor, b.view()); });
  EXPECT_NE(text.find("permuted"), std::string::npos) << text;
  message_of(ErrorCode::invalid_argument,
             [&] { (void)factor_of(well_conditioned(200), spread_options("adaptive:1e-3")); });
}

// ---- the purpose of graded maps

/// Matern 3/2 covariance of a grid of side x side points, row by row, plus a nugget.
Dense<double> covariance(std::int64_t side, double length, double nugget) {
  const std::int64_t n = side * side;
  Dense<double> a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double dx = static_cast<double>(i % side - j % side) / static_cast<double>(side);
      const double dy = static_cast<double>(i / side - j / side) / static_cast<double>(side);
      const double s = std::sqrt(3.0) * std::hypot(dx, dy) / length;
      a(i, j) = (1 + s) * std::exp(-s) + (i == j ? nugget : 0);
    }
  }
  return a;
}

TEST(GradedMaps, FactorSortedPointsInASpreadOrderWhereTheirLastRungAloneBreaksDown) {
  const Dense<double> a = covariance(24, 0.3, 1e-2);
  for (const char* map : {"graded:fp32*2,bf16", "graded:bf16x3*1,bf16x2*3,bf16"}) {
    FactorOptions options = options_for("bf16");
    options.climb = false;
    EXPECT_EQ(factor_of(a, options).report().outcome, FactorOutcome::breakdown);
    options.map = parse_map(map);
    options.spread = true;
    EXPECT_EQ(factor_of(a, options).report().outcome, FactorOutcome::ok) << map;
  }
}

}  // namespace
}  // namespace stepwell::factor::test
