// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/dense/lu.hpp"

#include <algorithm>
#include <cmath>

#include "engine/runtime.hpp"
#include "factor/fixture.hpp"
#include "kernels/blas/lapack.hpp"

/// FP64 LU on a thread pool computes what dgetrf does, with the same bits for any number of
/// threads.
namespace stepwell::factor::test {
namespace {

struct Result {
  Dense<double> lu;
  std::vector<int> pivots;
  std::int64_t zero = -1;
};

Result run(const Dense<double>& a, int threads) {
  const engine::SingleThreadedBlas blas;
  engine::ThreadPool pool(threads);
  Result r{a, std::vector<int>(static_cast<std::size_t>(a.rows)), -1};
  r.zero = dense_lu(pool, r.lu.view(), r.pivots.data());
  return r;
}

TEST(DenseLu, HasLapacksPivotsAndSolves) {
  for (const std::int64_t n : {1, 255, 256, 257, 400, 700, 769}) {
    SCOPED_TRACE(n);
    Random random(static_cast<std::uint64_t>(n));
    const Dense<double> a = kernels::test::gaussian(n, n, random);
    const Result got = run(a, 2);
    EXPECT_EQ(got.zero, -1);
    Dense<double> lapack(a);
    std::vector<int> pivots(static_cast<std::size_t>(n));
    const engine::SingleThreadedBlas blas;
    kernels::getrf(lapack.view(), pivots.data());
    EXPECT_TRUE(got.pivots == pivots);
    // The solution is as good as LAPACK's: ||A x - b|| / (||A|| ||x||) is a few n u at most.
    const Dense<double> b = kernels::test::gaussian(n, 1, random);
    Dense<double> x(b);
    kernels::getrs(got.lu.view(), got.pivots.data(), false, x.view());
    double residual = 0, norm = 0, size = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = -b(i, 0), row = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        sum += a(i, j) * x(j, 0);
        row += std::abs(a(i, j));
      }
      residual = std::max(residual, std::abs(sum));
      norm = std::max(norm, row);
      size = std::max(size, std::abs(x(i, 0)));
    }
    EXPECT_TRUE(residual <= static_cast<double>(n + 2) * kU64 * norm * size) << residual;
  }
}

TEST(DenseLu, HasTheSameBitsForAnyNumberOfThreads) {
  Random random(3);
  const Dense<double> a = kernels::test::gaussian(750, 750, random);
  const Result one = run(a, 1);
  for (const int threads : {2, 3, 4}) {
    for (int k = 0; k < 5; ++k) {
      const Result many = run(a, threads);
      ASSERT_TRUE(kernels::test::same_bits(many.lu.view(), one.lu.view())) << threads;
      ASSERT_TRUE(many.pivots == one.pivots);
    }
  }
}

TEST(DenseLu, TellsTheFirstZeroPivot) {
  for (const std::int64_t n : {50, 720}) {
    for (const std::int64_t zero : {std::int64_t{0}, n / 3, n - 1}) {
      Random random(5);
      Dense<double> a = kernels::test::gaussian(n, n, random);
      for (std::int64_t i = 0; i < n; ++i) a(i, zero) = 0;
      EXPECT_EQ(run(a, 2).zero, zero);
    }
  }
}

}  // namespace
}  // namespace stepwell::factor::test
