// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "solvers/fixture.hpp"
#include "solvers/refused.hpp"
#include "stepwell/factor.hpp"

/// Inverses from a factor at fp64: the residual of each column is that of a solve with LAPACK's
/// factor, and the diagonal and traces agree with the inverse.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

/// The largest ||A x - e_j|| / (||A||_F ||x||) of columns x of 'inverse', in units of u.
double worst_residual(const Dense<double>& a, const Dense<double>& inverse) {
  const std::int64_t n = a.rows;
  long double norm = 0;
  for (const double x : a.data) norm += static_cast<long double>(x) * x;
  double worst = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    long double gap = 0, size = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      long double sum = i == j ? -1 : 0;
      for (std::int64_t k = 0; k < n; ++k) {
        sum += static_cast<long double>(a(i, k)) * inverse(k, j);
      }
      gap += sum * sum;
      size += static_cast<long double>(inverse(i, j)) * inverse(i, j);
    }
    const auto ratio = static_cast<double>(std::sqrt(gap / (norm * size)) / kU64);
    if (!(ratio <= worst)) worst = ratio;  // a NaN stays
  }
  return worst;
}

/// The sizes have one strip, two of them, and a last tile that is not full.
TEST(InverseTest, ColumnsHaveTheResidualsOfSolves) {
  for (const auto& [n, tile] : {std::pair{1, 64}, {5, 64}, {64, 64}, {150, 64}, {301, 32}}) {
    for (const double condition : {10.0, 1e8}) {
      for (const bool spread : {false, true}) {
        SCOPED_TRACE(testing::Message() << n << ", condition " << condition << ' ' << spread);
        const Dense<double> a = gallery_matrix(Kind::geometric, n, condition);
        const Factor factor = cholesky(a.view(), factor_at_fp64(tile, spread));
        Dense<double> inverse(n, n);
        ASSERT_TRUE(factor.inverse(inverse.view()));
        const double ratio = worst_residual(a, inverse);
        EXPECT_TRUE(ratio <= static_cast<double>(n + 2)) << ratio;
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t i = 0; i < j; ++i) ASSERT_EQ(inverse(i, j), inverse(j, i));
        }
      }
    }
  }
}

TEST(InverseTest, SeveralStripsAndAnyNumberOfThreadsGiveTheSame) {
  const std::int64_t n = 1300;  // strips of 1,024 columns
  const Dense<double> a = gallery_matrix(Kind::geometric, n, 1e4);
  const Factor factor = cholesky(a.view(), factor_at_fp64(128));
  Context single(1), several(3);
  Dense<double> one(n, n), three(n, n);
  ASSERT_TRUE(factor.inverse(one.view(), {&single, nullptr}));
  ASSERT_TRUE(factor.inverse(three.view(), {&several, nullptr}));
  EXPECT_TRUE(one.data == three.data);
  // Some columns, with the residual of a solve.
  double worst = 0;
  for (const std::int64_t j : {std::int64_t{0}, std::int64_t{1023}, std::int64_t{1024}, n - 1}) {
    double size = 0;
    for (std::int64_t i = 0; i < n; ++i) size = std::hypot(size, one(i, j));
    for (std::int64_t i = 0; i < n; ++i) {
      long double sum = i == j ? -1 : 0;
      for (std::int64_t k = 0; k < n; ++k) sum += static_cast<long double>(a(i, k)) * one(k, j);
      const auto gap = std::abs(static_cast<double>(sum)) / size;  // ||A|| = 1
      if (!(gap <= worst)) worst = gap;
    }
  }
  EXPECT_TRUE(worst <= static_cast<double>(n + 2) * kU64) << worst;
}

/// Relative errors of sums of n squares of columns of L^-1, each with an error of the condition.
TEST(InverseTest, DiagonalAndTracesAgreeWithTheInverse) {
  for (const bool spread : {false, true}) {
    const std::int64_t n = 230;
    const double condition = 1e3;
    const Dense<double> a = gallery_matrix(Kind::geometric, n, condition);
    const Factor factor = cholesky(a.view(), factor_at_fp64(64, spread));
    Dense<double> inverse(n, n);
    ASSERT_TRUE(factor.inverse(inverse.view()));
    const std::vector<double> diagonal = factor.inverse_diagonal();
    ASSERT_EQ(diagonal.size(), static_cast<std::size_t>(n));
    const double bound = 10 * static_cast<double>(n) * kU64 * condition;
    for (std::int64_t i = 0; i < n; ++i) {
      const double found = diagonal[static_cast<std::size_t>(i)];
      EXPECT_TRUE(std::abs(found - inverse(i, i)) <= bound * inverse(i, i)) << i;
    }
    // With S = A the trace is n. Only the lower triangle of S is read.
    Dense<double> s = a;
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) s(i, j) = std::nan("");
    }
    const double trace = factor.trace_inverse_product(s.view());
    EXPECT_TRUE(std::abs(trace - static_cast<double>(n)) <= bound * static_cast<double>(n))
        << trace;
  }
}

TEST(InverseTest, ScalesOfAnySizeAreUndone) {
  const std::int64_t n = 90;
  Dense<double> a = gallery_matrix(Kind::geometric, n, 50);
  const Factor plain = cholesky(a.view(), factor_at_fp64());
  Dense<double> expected(n, n), found(n, n);
  ASSERT_TRUE(plain.inverse(expected.view()));
  const auto power = [](std::int64_t i) { return static_cast<int>(i * 37 % 401) - 200; };
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = std::ldexp(a(i, j), power(i) + power(j));
  }
  const Factor scaled = cholesky(a.view(), factor_at_fp64());
  ASSERT_TRUE(scaled.inverse(found.view()));
  // Powers of two may be divided otherwise between L and its scales, which moves roundings.
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double back = std::ldexp(found(i, j), power(i) + power(j));
      const double size = std::sqrt(expected(i, i) * expected(j, j));
      EXPECT_TRUE(std::abs(back - expected(i, j)) <= 100.0 * n * kU64 * size) << i << ' ' << j;
    }
  }
}

TEST(InverseTest, CanBeCancelled) {
  const std::int64_t n = 200;
  const Dense<double> a = gallery_matrix(Kind::geometric, n, 10);
  const Factor factor = cholesky(a.view(), factor_at_fp64());
  Dense<double> out(n, n);
  Progress progress;
  progress.cancel = true;
  EXPECT_FALSE(factor.inverse(out.view(), {nullptr, &progress}));
  EXPECT_TRUE(factor.inverse_diagonal({nullptr, &progress}).empty());
  EXPECT_TRUE(std::isnan(factor.trace_inverse_product(a.view(), {nullptr, &progress})));
  progress.cancel = false;
  EXPECT_TRUE(factor.inverse(out.view(), {nullptr, &progress}));
  EXPECT_EQ(progress.done, progress.total);
}

TEST(InverseTest, CoarseFactorsAndOtherShapesAreRefused) {
  const std::int64_t n = 100;
  const Dense<double> a = gallery_matrix(Kind::geometric, n, 5);
  Dense<double> out(n, n), narrow(n, n - 1);
  FactorOptions coarse;
  coarse.map = uniform(Rung::bf16);
  const Factor bf16 = cholesky(a.view(), coarse), good = cholesky(a.view(), factor_at_fp64());
  expect_refused([&] { (void)bf16.inverse(out.view()); }, ErrorCode::unsupported, "map fp64");
  expect_refused([&] { (void)bf16.inverse_diagonal(); }, ErrorCode::unsupported, "map fp64");
  expect_refused([&] { (void)good.inverse(narrow.view()); }, ErrorCode::invalid_argument,
                 "100 x 99; it must be 100 x 100");
  expect_refused(
      [&] {
        (void)good.inverse({out.data.data(), n, n, 7});
      },
      ErrorCode::invalid_argument, "leading dimension 7; the leading dimension must be at least");
  expect_refused(
      [&] {
        (void)good.inverse({nullptr, n, n, n});
      },
      ErrorCode::invalid_argument, "no data");
  expect_refused([&] { (void)good.trace_inverse_product(narrow.view()); },
                 ErrorCode::invalid_argument, "S is 100 x 99");
  Dense<double> indefinite = a;
  indefinite(7, 7) = -1;
  const Factor none = cholesky(indefinite.view(), factor_at_fp64());
  expect_refused([&] { (void)none.inverse(out.view()); }, ErrorCode::invalid_argument, "no factor");
  const Factor empty = cholesky({nullptr, 0, 0, 1}, factor_at_fp64());
  EXPECT_TRUE(empty.inverse({nullptr, 0, 0, 1}));
  EXPECT_TRUE(empty.inverse_diagonal().empty());
}

}  // namespace
}  // namespace stepwell::solvers::test
