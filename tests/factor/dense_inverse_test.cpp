// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/dense/inverse.hpp"

#include <limits>

#include "engine/runtime.hpp"
#include "factor/fixture.hpp"
#include "stepwell/error.hpp"

/// The inverse in place of a factor, in either triangle: each column has the residual of a solve,
/// and what is in the other triangle is neither used nor changed.
namespace stepwell::factor::test {
namespace {

constexpr double kOther = std::numeric_limits<double>::quiet_NaN();

/// L of a condition of about 10, with rows of different sizes, in a triangle of a matrix that has
/// NaN elsewhere.
Dense<double> factor_in(Triangle triangle, std::int64_t n) {
  Random random(static_cast<unsigned>(n));
  const Dense<double> g = kernels::test::gaussian(n, n, random);
  Dense<double> l(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const bool upper = triangle == Triangle::upper;
      const std::int64_t row = upper ? j : i, col = upper ? i : j;
      const double below = 0.5 * g(row, col) / std::sqrt(static_cast<double>(n));
      l(i, j) = row < col ? kOther : std::ldexp(row == col ? 1 : below, static_cast<int>(row % 5));
    }
  }
  return l;
}

/// The largest ||L L' x - e_j|| / (||L||_F^2 ||x||) of some columns, in units of u.
double worst_residual(const Dense<double>& l, const Dense<double>& inverse, Triangle triangle) {
  const std::int64_t n = l.rows;
  const bool upper = triangle == Triangle::upper;
  const auto at = [upper](const Dense<double>& a, std::int64_t i, std::int64_t j) {
    return upper ? a(j, i) : a(i, j);
  };
  long double norm = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i)
      norm += static_cast<long double>(at(l, i, j)) * at(l, i, j);
  }
  double worst = 0;
  for (std::int64_t j : {std::int64_t{0}, n / 3, n / 2, n - 1}) {
    std::vector<long double> x(static_cast<std::size_t>(n)), y(x.size()), z(x.size());
    long double size = 0, gap = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double element = i < j ? at(inverse, j, i) : at(inverse, i, j);
      x[static_cast<std::size_t>(i)] = element;
      size += static_cast<long double>(element) * element;
    }
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t i = k; i < n; ++i) {
        y[static_cast<std::size_t>(k)] += at(l, i, k) * x[static_cast<std::size_t>(i)];
      }
    }
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t i = k; i < n; ++i) {
        z[static_cast<std::size_t>(i)] += at(l, i, k) * y[static_cast<std::size_t>(k)];
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const long double off = z[static_cast<std::size_t>(i)] - (i == j ? 1 : 0);
      gap += off * off;
    }
    const auto ratio = static_cast<double>(std::sqrt(gap) / (norm * std::sqrt(size)) / kU64);
    if (!(ratio <= worst)) worst = ratio;  // a NaN stays
  }
  return worst;
}

class DenseInverseTest : public ::testing::TestWithParam<Products> {};
INSTANTIATE_TEST_SUITE_P(Factor, DenseInverseTest,
                         ::testing::Values(Products::exact, Products::blas));

/// Orders: one leaf, two and three of them, more than the rows and columns that are computed at a
/// time.
TEST_P(DenseInverseTest, ColumnsHaveTheResidualsOfSolves) {
  const engine::SingleThreadedBlas blas;
  for (const std::int64_t n : {1, 70, 700, 1300, 2150}) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      SCOPED_TRACE(testing::Message() << n << (triangle == Triangle::upper ? " upper" : " lower"));
      const Dense<double> l = factor_in(triangle, n);
      Dense<double> one = l, three = l;
      engine::ThreadPool single(1), several(3);
      ASSERT_TRUE(dense_inverse(single, GetParam(), one.view(), triangle, nullptr));
      ASSERT_TRUE(dense_inverse(several, GetParam(), three.view(), triangle, nullptr));
      const double worst = worst_residual(l, one, triangle);
      EXPECT_TRUE(worst <= static_cast<double>(n + 2)) << worst;
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < n; ++i) {
          if (std::isnan(l(i, j))) {
            ASSERT_TRUE(std::isnan(one(i, j)) && std::isnan(three(i, j))) << i << ' ' << j;
          } else {
            ASSERT_EQ(one(i, j), three(i, j)) << i << ' ' << j;
          }
        }
      }
    }
  }
}

TEST(InvertFactorTest, RefusesWhatIsNoFactor) {
  const std::int64_t n = 90;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    InverseOptions options;
    options.triangle = triangle;
    for (const auto& [i, j, bad] :
         {std::tuple{40, 40, 0.0}, std::tuple{70, 20, infinity}, std::tuple{89, 0, kOther}}) {
      Dense<double> l = factor_in(triangle, n);
      (triangle == Triangle::upper ? l(j, i) : l(i, j)) = bad;
      const Dense<double> before = l;
      try {
        invert_factor(l.view(), options);
        ADD_FAILURE() << "accepted " << bad;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      }
      for (std::size_t k = 0; k < l.data.size(); ++k) {
        ASSERT_TRUE(l.data[k] == before.data[k] || std::isnan(before.data[k]));
      }
    }
    Dense<double> l = factor_in(triangle, n);
    Progress progress;
    progress.cancel = true;
    options.engine.progress = &progress;
    EXPECT_FALSE(invert_factor(l.view(), options));
  }
}

}  // namespace
}  // namespace stepwell::factor::test
