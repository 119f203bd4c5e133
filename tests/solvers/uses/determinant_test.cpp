// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include "kernels/blas/lapack.hpp"
#include "solvers/fixture.hpp"
#include "solvers/general_fixture.hpp"
#include "solvers/refused.hpp"
#include "stepwell/lu.hpp"

/// Determinants and half solves of factors at fp64, compared with LAPACK's.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

/// A scaled by D from both sides, D_i from 2^-20 to 2^20 and not powers of two.
Dense<double> badly_scaled(const Dense<double>& a) {
  Dense<double> out(a.view().rows, a.view().cols);
  const auto d = [&](std::int64_t i) {
    return 1.7 * std::ldexp(1.0, static_cast<int>(i % 41) - 20);
  };
  for (std::int64_t j = 0; j < a.view().cols; ++j) {
    for (std::int64_t i = 0; i < a.view().rows; ++i)
      out.view()(i, j) = a.view()(i, j) * d(i) * d(j);
  }
  return out;
}

/// Sums of n logarithms of size up to 30 that are each known to a few units.
double log_error(std::int64_t n) {
  return 100 * static_cast<double>(n) * kU64;
}

TEST(DeterminantTest, OfCholeskyIsLapacks) {
  for (const std::int64_t n : {1, 5, 64, 150, 301}) {
    for (const bool scaled : {false, true}) {
      SCOPED_TRACE(testing::Message() << n << " scaled " << scaled);
      Dense<double> a = gallery_matrix(Kind::geometric, n, 50);
      if (scaled) a = badly_scaled(a);
      Dense<double> l = a;
      ASSERT_EQ(kernels::potrf(l.view()), -1);
      double expected = 0;
      for (std::int64_t k = 0; k < n; ++k) expected += 2 * std::log(l.view()(k, k));
      Solver solver(a.view(), at_fp64(), Structure::spd);
      const LogDet found = solver.log_det();
      EXPECT_EQ(found.sign, 1);
      EXPECT_LE(std::abs(found.log - expected), log_error(n) * 50);
      Dense<double> b = gaussian_columns(n, 130), z = b;
      solver.cholesky_factor().half_solve(z.view());
      kernels::solve_triangle(l.view(), {}, b.view());
      for (std::int64_t c = 0; c < 130; ++c) {
        double largest = 0, difference = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          largest = std::max(largest, std::abs(b.view()(i, c)));
          difference = std::max(difference, std::abs(b.view()(i, c) - z.view()(i, c)));
        }
        ASSERT_LE(difference, 100 * static_cast<double>(n) * kU64 * largest) << c;
      }
    }
  }
}

TEST(DeterminantTest, OfLuHasTheSignToo) {
  for (const std::int64_t n : {1, 2, 7, 64, 150}) {
    SCOPED_TRACE(n);
    const Dense<double> a = gaussian_columns(n, n);
    Dense<double> lu_of_a = a;
    std::vector<int> pivots(static_cast<std::size_t>(n));
    ASSERT_EQ(kernels::getrf(lu_of_a.view(), pivots.data()), -1);
    double log = 0;
    int sign = 1;
    for (std::int64_t k = 0; k < n; ++k) {
      const double pivot = lu_of_a.view()(k, k);
      log += std::log(std::abs(pivot));
      if ((pivot < 0) != (pivots[static_cast<std::size_t>(k)] != k + 1)) sign = -sign;
    }
    FactorOptions options;
    options.map = uniform(Rung::fp64);
    options.tile = 32;
    const LogDet ours = lu(a.view(), options).log_det();
    EXPECT_EQ(ours.sign, sign);
    EXPECT_LE(std::abs(ours.log - log), log_error(n) * 50);
    Solver solver(a.view(), SolveOptions{}, Structure::general);  // LAPACK's factor
    EXPECT_EQ(solver.log_det().sign, sign);
    EXPECT_LE(std::abs(solver.log_det().log - log), log_error(n) * 50);
  }
}

TEST(DeterminantTest, ACoarseFactorAndNoFactorAreRefused) {
  const std::int64_t n = 100;
  const Dense<double> a = gallery_matrix(Kind::geometric, n, 5);
  Dense<double> b = gaussian_columns(n, 1), wrong = gaussian_columns(n + 1, 1);
  FactorOptions coarse;
  coarse.map = uniform(Rung::bf16);
  const Factor factor = cholesky(a.view(), coarse);
  expect_refused([&] { (void)factor.log_det(); }, ErrorCode::unsupported, "map fp64");
  expect_refused([&] { factor.half_solve(b.view()); }, ErrorCode::unsupported, "map fp64");
  Solver good(a.view(), at_fp64(), Structure::spd);
  expect_refused([&] { good.cholesky_factor().half_solve(wrong.view()); },
                 ErrorCode::invalid_argument, "100 rows");
  Solver general(a.view(), at_fp64(), Structure::general);
  expect_refused([&] { (void)general.cholesky_factor(); }, ErrorCode::unsupported,
                 "general matrix");
  Dense<double> indefinite = a;
  indefinite.view()(7, 7) = -1;
  Solver bad(indefinite.view(), at_fp64(), Structure::spd);
  expect_refused([&] { (void)bad.log_det(); }, ErrorCode::invalid_argument, "positive definite");
}

TEST(DeterminantTest, HalfSolvesOfAPermutedFactorGiveTheSameVariances) {
  const std::int64_t n = 150;
  const Dense<double> a = gallery_matrix(Kind::geometric, n, 50);
  const Dense<double> b = gaussian_columns(n, 3);
  FactorOptions options;
  options.map = uniform(Rung::fp64);
  options.tile = 64;
  Dense<double> plain = b, permuted = b;
  cholesky(a.view(), options).half_solve(plain.view());
  options.spread = true;
  const Factor spread = cholesky(a.view(), options);
  ASSERT_FALSE(spread.permutation().empty());
  spread.half_solve(permuted.view());
  for (std::int64_t c = 0; c < 3; ++c) {
    double expected = 0, found = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      expected += plain.view()(i, c) * plain.view()(i, c);
      found += permuted.view()(i, c) * permuted.view()(i, c);
    }
    EXPECT_LE(std::abs(found - expected), 100 * static_cast<double>(n) * kU64 * expected) << c;
  }
}

TEST(DeterminantTest, HalfSolvesHaveTheSameBitsForAnyNumberOfThreads) {
  const std::int64_t n = 200;
  const Dense<double> a = gallery_matrix(Kind::geometric, n, 50);
  FactorOptions options;
  options.map = uniform(Rung::fp64);
  options.tile = 64;
  const Factor factor = cholesky(a.view(), options);
  Dense<double> one = gaussian_columns(n, 700), four = one;
  Context single(1), several(4);
  factor.half_solve(one.view(), {&single, nullptr});
  factor.half_solve(four.view(), {&several, nullptr});
  for (std::int64_t c = 0; c < 700; ++c) {
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(one.view()(i, c), four.view()(i, c));
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
