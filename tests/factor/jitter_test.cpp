// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "factor/fixture.hpp"

/// What is added to the diagonal of a matrix that is not positive definite is as little as asked
/// for, and reported.
namespace stepwell::factor::test {
namespace {

FactorOptions with_jitter(const std::string& map, const Jitter& jitter) {
  FactorOptions options = options_for(map);
  options.jitter = jitter;
  return options;
}

/// Every element is 4: of rank one, with eigenvalues 4 n and 0.
Dense<double> all_fours(std::int64_t n) {
  Dense<double> a(n, n);
  for (double& x : a.data) x = 4;
  return a;
}

/// A with the triangle that must not be read as NaN.
Dense<double> in_triangle(const Dense<double>& a, Triangle triangle) {
  Dense<double> out = a;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const bool read = triangle == Triangle::lower ? i >= j : i <= j;
      if (!read) out(i, j) = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return out;
}

TEST(JitterTest, TheFactorIsThatOfAWithTheReportedAmount) {
  const std::int64_t n = 150;
  for (const char* map : {"fp64", "int8x14"}) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      for (const bool spread : {false, true}) {
        SCOPED_TRACE(testing::Message() << map << " spread " << spread);
        FactorOptions options = with_jitter(map, {0x1p-60, 1024, 6});
        options.triangle = triangle;
        options.spread = spread;
        const Dense<double> a = all_fours(n);
        const Factor factor = factor_of(in_triangle(a, triangle), options);
        ASSERT_TRUE(factor.ok());
        const FactorReport& r = factor.report();
        // The first amount is below the rounding of the diagonal, the next ones are powers of 1024.
        const double tries = std::log2(r.jitter / 0x1p-58) / 10;
        EXPECT_TRUE(tries >= 1 && tries == std::floor(tries)) << r.jitter;
        EXPECT_EQ(r.attempts.back().jitter, r.jitter);
        EXPECT_EQ(r.attempts.front().jitter, 0);
        Dense<double> with = a;
        for (std::int64_t i = 0; i < n; ++i) with(i, i) += r.jitter;
        const double allowed = static_cast<double>(n + 1) * kU64;
        // Rows of A are alike, so an order of elimination changes nothing.
        EXPECT_TRUE(residual(with, lower_factor(factor)) <= allowed);
      }
    }
  }
}

TEST(JitterTest, ADefiniteMatrixGetsNone) {
  const Dense<double> a = well_conditioned(150);
  const Factor plain = factor_of(a, options_for("fp64"));
  const Factor factor = factor_of(a, with_jitter("fp64", {1e-6, 10, 5}));
  EXPECT_TRUE(same_factor(factor, plain));
  EXPECT_EQ(factor.report().jitter, 0);
}

/// The smallest eigenvalue is about -0.05: of the amounts 0.01, 0.03, 0.09 the third suffices.
TEST(JitterTest, AmountsGrowUntilOneSuffices) {
  const Dense<double> a = indefinite(150, 70, -0.1);
  const Factor factor = factor_of(a, with_jitter("fp64", {0.01, 3, 5}));
  ASSERT_TRUE(factor.ok());
  EXPECT_NEAR(factor.report().jitter, 0.09, 1e-12);
  const std::vector<RecoveryStep>& attempts = factor.report().attempts;
  EXPECT_NEAR(attempts[attempts.size() - 2].jitter, 0.03, 1e-12);
  EXPECT_EQ(attempts[attempts.size() - 2].pivot, 70);
}

TEST(JitterTest, TheFailureIsReportedIfNoneSuffices) {
  const Dense<double> a = indefinite(150, 70, -0.1);
  const Factor factor = factor_of(a, with_jitter("fp64", {1e-6, 2, 3}));
  EXPECT_EQ(factor.report().outcome, FactorOutcome::not_positive_definite);
  EXPECT_EQ(factor.report().pivot, 70);
  EXPECT_NEAR(factor.report().jitter, 4e-6, 1e-15);
  Dense<double> negative(3, 3);
  for (std::int64_t i = 0; i < 3; ++i) negative(i, i) = -1;  // the mean of the diagonal, too
  EXPECT_EQ(factor_of(negative, with_jitter("fp64", {1e-6, 2, 3})).report().outcome,
            FactorOutcome::not_positive_definite);
}

TEST(JitterTest, NothingIsAddedToWhatIsNotFinite) {
  Dense<double> a = all_fours(70);
  a(50, 20) = std::numeric_limits<double>::infinity();
  const Factor factor = factor_of(a, with_jitter("fp64", {1e-6, 10, 5}));
  EXPECT_EQ(factor.report().outcome, FactorOutcome::non_finite);
  EXPECT_EQ(factor.report().jitter, 0);
  Dense<double> large(2, 2);
  for (double& x : large.data) x = std::numeric_limits<double>::max();
  EXPECT_FALSE(factor_of(large, with_jitter("fp64", {1, 10, 5})).ok());
}

TEST(JitterTest, OptionsAreChecked) {
  const Dense<double> a = well_conditioned(10);
  for (const Jitter& jitter : {Jitter{0, 10, 1}, Jitter{2, 10, 1}, Jitter{1e-6, 1, 1},
                               Jitter{1e-6, 10, -1}, Jitter{std::nan(""), 10, 1}}) {
    const std::string message = message_of(
        ErrorCode::invalid_argument, [&] { (void)factor_of(a, with_jitter("fp64", jitter)); });
    EXPECT_NE(message.find("jitter."), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace stepwell::factor::test
