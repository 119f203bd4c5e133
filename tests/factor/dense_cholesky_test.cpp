// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/dense/cholesky.hpp"

#include <limits>

#include "engine/runtime.hpp"
#include "factor/fixture.hpp"

/// FP64 Cholesky on a thread pool: A = L L' as accurately as LAPACK's, with the same bits for any
/// number of threads.
namespace stepwell::factor::test {
namespace {

/// I + G G'/n with a Gaussian n x 20 matrix G.
Dense<double> definite(std::int64_t n) {
  Random random(static_cast<std::uint64_t>(n));
  const Dense<double> g = kernels::test::gaussian(n, 20, random);
  Dense<double> a = kernels::test::exact_product(g, g).value;
  for (double& x : a.data) x /= static_cast<double>(n);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) += 1;
  return a;
}

kernels::Pivot run(Dense<double>& a, int threads) {
  const engine::SingleThreadedBlas blas;
  engine::ThreadPool pool(threads);
  return dense_cholesky(pool, a.view());
}

// |A - L L'| <= (n + 4) u |L||L'| element-wise (Higham 2002, Theorem 10.3), doubled for reciprocals
// of the roots and for the sums of this test.
TEST(DenseCholesky, TheFactorTimesItsTransposeIsTheMatrix) {
  for (const std::int64_t n : {1, 64, 256, 257, 320, 500, 641}) {
    SCOPED_TRACE(n);
    const Dense<double> a = definite(n);
    Dense<double> l(a);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) l(i, j) = std::numeric_limits<double>::quiet_NaN();
    }
    ASSERT_TRUE(run(l, 2).ok());
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) {
        ASSERT_TRUE(std::isnan(l(i, j)));  // not touched
        l(i, j) = 0;
      }
    }
    const kernels::test::Product p = kernels::test::exact_product(l, l);
    const double error = static_cast<double>(2 * (n + 4)) * kU64;
    ASSERT_TRUE(kernels::test::within(
        a.view(), [&](auto i, auto j) { return p.value(i, j); },
        [&](auto i, auto j) { return error * p.magnitude(i, j); }, kernels::Shape::lower));
  }
}

TEST(DenseCholesky, HasTheSameBitsForAnyNumberOfThreads) {
  const Dense<double> a = definite(700);
  Dense<double> one(a);
  ASSERT_TRUE(run(one, 1).ok());
  for (const int threads : {2, 3, 4}) {
    for (int k = 0; k < 5; ++k) {
      Dense<double> many(a);
      ASSERT_TRUE(run(many, threads).ok());
      ASSERT_TRUE(kernels::test::same_bits(many.view(), one.view())) << threads;
    }
  }
}

TEST(DenseCholesky, StopsAtTheFirstBadPivot) {
  for (const std::int64_t n : {100, 600}) {
    for (const std::int64_t at : {std::int64_t{0}, n / 3, n / 2 + 30, n - 1}) {
      for (const double value : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
        Dense<double> a = definite(n);
        a(at, at) = value;
        EXPECT_EQ(run(a, 2).index, at) << n << ", " << value;
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::factor::test
