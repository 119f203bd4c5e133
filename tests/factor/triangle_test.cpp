// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "factor/fixture.hpp"

/// A matrix of which the upper triangle is read has the same factor as one of which the lower one
/// is, and a factor in one triangle leaves the other one alone.
namespace stepwell::factor::test {
namespace {

/// A' with NaN in the triangle that must not be read.
Dense<double> in_upper(const Dense<double>& a) {
  const std::int64_t n = a.rows;
  Dense<double> t(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      t(j, i) = i >= j ? a(i, j) : std::numeric_limits<double>::quiet_NaN();
    }
  }
  return t;
}

void expect_same(const Factor& lower, const Factor& upper) {
  const std::int64_t n = lower.order();
  const double mark = 7;
  Dense<double> l(n, n), u(n, n);
  for (double& x : l.data) x = mark;
  for (double& x : u.data) x = mark;
  lower.copy_to(l.view(), Triangle::lower);
  upper.copy_to(u.view(), Triangle::upper);
  const Dense<double> whole = lower_factor(upper);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(l(i, j), i >= j ? whole(i, j) : mark) << i << ' ' << j;
      ASSERT_EQ(u(j, i), l(i, j)) << i << ' ' << j;
    }
  }
}

TEST(TriangleTest, TheUpperOneGivesTheSameFactor) {
  for (const char* map : {"fp64", "bf16", "bf16x2,bf16", "adaptive:1e-6", "int8x14"}) {
    for (const std::int64_t n : {1, 64, 150, 301}) {
      for (const bool spread : {false, true}) {
        SCOPED_TRACE(testing::Message() << map << ' ' << n << " spread " << spread);
        FactorOptions options = options_for(map);
        if (spread && options.map.adaptive()) continue;
        options.spread = spread;
        const Dense<double> a = well_conditioned(n);
        const Factor lower = factor_of(a, options);
        options.triangle = Triangle::upper;
        const Factor upper = factor_of(in_upper(a), options);
        expect_same(lower, upper);
        EXPECT_EQ(lower.permutation(), upper.permutation());
        EXPECT_LE(upper.report().peak_bytes, factor_bytes(n, options));
      }
    }
  }
}

TEST(TriangleTest, FailuresAreReportedInThatTriangle) {
  const std::int64_t n = 150;
  FactorOptions options = options_for("fp64");
  options.triangle = Triangle::upper;
  Dense<double> a = in_upper(indefinite(n, 77, -0.5));
  const Factor failed = cholesky(a.view(), options);
  EXPECT_EQ(failed.report().outcome, FactorOutcome::not_positive_definite);
  EXPECT_EQ(failed.report().pivot, 77);
  a = in_upper(well_conditioned(n));
  a(20, 100) = std::numeric_limits<double>::infinity();
  const Factor infinite = cholesky(a.view(), options);
  EXPECT_EQ(infinite.report().outcome, FactorOutcome::non_finite);
  EXPECT_EQ(infinite.report().row, 20);
  EXPECT_EQ(infinite.report().col, 100);
}

TEST(TriangleTest, TheFactorMayOverwriteTheMatrix) {
  const std::int64_t n = 301;
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const Dense<double> lower = well_conditioned(n);
    Dense<double> a = triangle == Triangle::lower ? lower : in_upper(lower);
    FactorOptions options = options_for("int8x14");
    options.triangle = triangle;
    const Factor factor = cholesky(a.view(), options);
    factor.copy_to(a.view(), triangle);
    const Dense<double> l = lower_factor(factor);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        const double found = triangle == Triangle::lower ? a(i, j) : a(j, i);
        if (i >= j) {
          ASSERT_EQ(found, l(i, j)) << i << ' ' << j;
        } else {
          ASSERT_TRUE(std::isnan(found)) << i << ' ' << j;
        }
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::factor::test
