// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>

#include "gallery/fixture.hpp"

/// General matrices with known elements, determinants, inverses or statistics.
namespace stepwell::gallery::test {
namespace {

Square matrix(Kind kind, std::int64_t n, std::uint64_t seed = 1) {
  Recipe recipe;
  recipe.kind = kind;
  recipe.seed = seed;
  return Square(n, recipe, 2);
}

/// 'expected' is column-major, as the matrix is stored.
void expect_columns(Kind kind, std::int64_t n, const std::vector<double>& expected) {
  EXPECT_EQ(matrix(kind, n).data, expected) << to_string(kind);
}

TEST(GeneralClassics, AreWhatTheBooksSay) {
  expect_columns(Kind::circul, 3, {1, 3, 2, 2, 1, 3, 3, 2, 1});
  expect_columns(Kind::frank, 4, {4, 3, 0, 0, 3, 3, 2, 0, 2, 2, 2, 1, 1, 1, 1, 1});
  expect_columns(Kind::fiedler, 3, {0, 1, 2, 1, 0, 1, 2, 1, 0});
  expect_columns(Kind::riemann, 3, {1, -1, -1, -1, 2, -1, 1, -1, 3});
  expect_columns(Kind::zielke, 3, {0, 1, 1, 0, 0, 1, -1, 0, 0});
  expect_columns(Kind::triw, 3, {1, 0, 0, -1, 1, 0, -1, -1, 1});
  expect_columns(Kind::gfpp, 4, {1, -1, -1, -1, 0, 1, -1, -1, 0, 0, 1, -1, 1, 1, 1, 1});
  expect_columns(Kind::gfpp_rows, 4, {1, 0, 0, 1, -1, 1, 0, 1, -1, -1, 1, 1, -1, -1, -1, 1});
}

TEST(GeneralClassics, HaveTheirDeterminants) {
  EXPECT_NEAR(lu(matrix(Kind::frank, 8)).determinant, 1, 1e-9);
  EXPECT_EQ(lu(matrix(Kind::triw, 40)).determinant, 1);
  EXPECT_EQ(std::abs(lu(matrix(Kind::zielke, 40)).determinant), 1);
  // (-1)^(n-1) (n-1) 2^(n-2)
  EXPECT_NEAR(lu(matrix(Kind::fiedler, 9)).determinant, 8 * 128, 1e-9);
}

TEST(GeneralClassics, GrowAsPartialPivotingCan) {
  for (const std::int64_t n : {2, 10, 50, 200}) {
    EXPECT_EQ(lu(matrix(Kind::gfpp, n)).growth, std::ldexp(1, static_cast<int>(n) - 1)) << n;
    EXPECT_LE(lu(matrix(Kind::gfpp_rows, n)).growth, 2) << n;
  }
}

TEST(GeneralClassics, OrthogIsItsOwnInverse) {
  for (const std::int64_t n : {1, 2, 3, 50, 101}) {
    const Square q = matrix(Kind::orthog, n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < n; ++k) sum += q(i, k) * q(k, j);
        ASSERT_LT(std::abs(sum - (i == j ? 1 : 0)), 4 * static_cast<double>(n + 4) * kU64) << n;
      }
    }
  }
}

TEST(GeneralClassics, ChebspecDifferentiatesPolynomials) {
  const std::int64_t n = 12;
  const Square d = matrix(Kind::chebspec, n);
  // For polynomials that vanish at the first point, x = 1, which the matrix omits.
  for (int power = 1; power <= n; ++power) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto t = [&](std::int64_t k) {  // x - 1
        const double s = std::sin(static_cast<double>(k + 1) * std::numbers::pi / (2.0 * n));
        return -2 * s * s;
      };
      double sum = 0, sizes = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        sum += d(i, j) * std::pow(t(j), power);
        sizes += std::abs(d(i, j) * std::pow(t(j), power));
      }
      ASSERT_LT(std::abs(sum - power * std::pow(t(i), power - 1)), 100 * n * kU64 * sizes) << power;
    }
  }
}

TEST(GeneralRandom, HasTheMomentsOfItsElements) {
  const std::int64_t n = 200;
  const auto count = static_cast<double>(n * n);
  struct Moments {
    Kind kind;
    double second, fourth;
  };
  for (const Moments m : {Moments{Kind::randn, 1, 3},
                          {Kind::rands, 1.0 / 3, 0.2},
                          {Kind::randb, 1, 1},
                          {Kind::general_dominant, 1.0 / 3, 0.2}}) {
    const Square a = matrix(m.kind, n);
    double sums[3] = {};
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        const double shift = m.kind == Kind::general_dominant && i == j ? 1.0 * n : 0;
        const double x = a(i, j) - shift;
        sums[0] += x / count;
        sums[1] += x * x / count;
        sums[2] += x * x * x * x / count;
      }
    }
    // Six standard deviations; that of the fourth power of a normal variable is sqrt(96).
    const double deviation = 6 / std::sqrt(count);
    EXPECT_LT(std::abs(sums[0]), deviation) << to_string(m.kind);
    EXPECT_LT(std::abs(sums[1] - m.second), deviation * std::sqrt(2.0)) << to_string(m.kind);
    EXPECT_LT(std::abs(sums[2] - m.fourth), deviation * std::sqrt(96.0)) << to_string(m.kind);
  }
}

TEST(GeneralRandom, HplMxpHasRowsThatItsDiagonalBalances) {
  const std::int64_t n = 100;
  const Square a = matrix(Kind::hplmxp, n);
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      if (i == j) continue;
      ASSERT_LE(std::abs(a(i, j)), 0.5);
      sum += std::abs(a(i, j));
    }
    EXPECT_EQ(a(i, i), sum);
    EXPECT_LT(std::abs(sum / static_cast<double>(n) - 0.25), 0.1);
  }
}

TEST(GeneralRandom, GrowsAsTheTheoryOfItsKindSays) {
  // Positive and dominant kinds have hardly any growth, the others some: n^(2/3) is observed for
  // randn.
  for (const Kind kind : {Kind::positive_arithmetic, Kind::positive_clustered,
                          Kind::positive_logarithmic, Kind::general_dominant, Kind::hplmxp}) {
    EXPECT_LT(lu(matrix(kind, 300)).growth, 2) << to_string(kind);
  }
  for (const Kind kind : {Kind::general_arithmetic, Kind::general_clustered, Kind::randn}) {
    EXPECT_GT(lu(matrix(kind, 300)).growth, 3) << to_string(kind);
  }
}

}  // namespace
}  // namespace stepwell::gallery::test
