// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "solvers/fixture.hpp"
#include "solvers/refused.hpp"
#include "stepwell/factor.hpp"

/// A factor that was computed elsewhere is used as one of our own.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

/// L in one triangle, and NaN in the other one.
Dense<double> in_triangle(const Dense<double>& l, Triangle triangle) {
  const std::int64_t n = l.rows;
  Dense<double> out(n, n);
  for (double& x : out.data) x = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      (triangle == Triangle::lower ? out(i, j) : out(j, i)) = l(i, j);
    }
  }
  return out;
}

TEST(AdoptTest, AFactorFromElsewhereHasTheSameElements) {
  for (const std::int64_t n : {0, 1, 63, 300, 600}) {
    const Dense<double> a = gallery_matrix(Kind::geometric, n, 1e6);
    FactorOptions options;
    options.map = uniform(Rung::fp64);
    Dense<double> l(n, n), again(n, n), b = gaussian_columns(n, 3);
    cholesky(a.view(), options).copy_to(l.view());
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      SCOPED_TRACE(testing::Message() << n);
      Factor factor = factor_from(in_triangle(l, triangle).view(), triangle);
      ASSERT_EQ(factor.order(), n);
      factor.copy_to(again.view());
      EXPECT_TRUE(again.data == l.data);
      Dense<double> x = b;
      factor.half_solve(x.view());
      factor.multiply(x.view());
      for (std::size_t e = 0; e < b.data.size(); ++e) {
        ASSERT_TRUE(std::abs(x.data[e] - b.data[e]) <= 1e4 * n * kU64);
      }
      factor.update(b.view());  // and it can be changed
    }
  }
}

TEST(AdoptTest, WhatIsNoFactorIsRefused) {
  Dense<double> l(300, 300);
  for (std::int64_t i = 0; i < 300; ++i) l(i, i) = 1;
  const auto refused = [&](const char* text) {
    expect_refused([&] { (void)factor_from(l.view()); }, ErrorCode::invalid_argument, text);
  };
  l(290, 7) = std::numeric_limits<double>::infinity();
  refused("element (290, 7) is not finite");
  l(290, 7) = 0;
  l(270, 270) = 0;
  refused("element (270, 270) is zero");
  expect_refused([&] { (void)factor_from(l.view().block(0, 0, 20, 30)); },
                 ErrorCode::invalid_argument, "it must be square");
}

}  // namespace
}  // namespace stepwell::solvers::test
