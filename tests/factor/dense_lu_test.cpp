// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/dense/lu.hpp"

#include <algorithm>
#include <cmath>

#include "core/numeric/worst.hpp"
#include "engine/runtime.hpp"
#include "factor/dense/residue_lu.hpp"
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

using Lu = std::int64_t(engine::ThreadPool& pool, MatrixView<double> a, int* pivots);

Result run(const Dense<double>& a, int threads, Lu& lu = dense_lu) {
  const engine::SingleThreadedBlas blas;
  engine::ThreadPool pool(threads);
  Result r{a, std::vector<int>(static_cast<std::size_t>(a.rows)), -1};
  r.zero = lu(pool, r.lu.view(), r.pivots.data());
  return r;
}

/// ||A x - b|| / || |A| |x| || in the largest norms, with x from the factors.
double backward_error(const Dense<double>& a, const Result& f, const Dense<double>& b) {
  Dense<double> x(b);
  kernels::getrs(f.lu.view(), f.pivots.data(), false, x.view());
  double residual = 0, size = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = -b(i, 0), magnitudes = 0;
    for (std::int64_t j = 0; j < a.cols; ++j) {
      sum += a(i, j) * x(j, 0);
      magnitudes += std::abs(a(i, j) * x(j, 0));
    }
    residual = core::worst(residual, std::abs(sum));
    size = std::max(size, magnitudes);
  }
  return residual / size;
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
    const Dense<double> b = kernels::test::gaussian(n, 1, random);
    const double error = backward_error(a, got, b);
    EXPECT_TRUE(error <= static_cast<double>(n + 2) * kU64) << error;
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

TEST(DenseLu, AnOverflowIsNoZeroPivotAndMakesTheSolutionNaN) {
  // Elements of the last column double in every step.
  const std::int64_t n = 1100;
  Dense<double> a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    a(j, n - 1) = a(j, j) = 1;
    for (std::int64_t i = j + 1; i < n && j < n - 1; ++i) a(i, j) = -1;
  }
  const Result got = run(a, 2);
  EXPECT_EQ(got.zero, -1);
  for (std::int64_t j = 0; j < n; ++j) {
    ASSERT_GE(got.pivots[static_cast<std::size_t>(j)], j + 1);
    ASSERT_LE(got.pivots[static_cast<std::size_t>(j)], n);
  }
  Dense<double> x(n, 1);
  x(n - 1, 0) = 1;
  kernels::getrs(got.lu.view(), got.pivots.data(), false, x.view());
  EXPECT_TRUE(std::isnan(x(0, 0)));
}

TEST(DenseLu, AnOverflowIsTheSameForAnyNumberOfThreads) {
  // It is found in a panel while other threads update the columns to the right of it.
  const std::int64_t n = 1000, bad = 300;
  Random random(11);
  Dense<double> a = kernels::test::gaussian(n, n, random);
  for (std::int64_t i = 0; i < n; ++i) a(i, bad) *= 0x1p1023;
  const Result one = run(a, 1);
  EXPECT_EQ(one.zero, -1);
  for (int k = 0; k < 12; ++k) {
    const Result many = run(a, 2 + k % 3);
    EXPECT_EQ(many.zero, -1);
    ASSERT_TRUE(many.pivots == one.pivots);
    for (std::int64_t j = bad; j < n; ++j) {
      ASSERT_EQ(std::isnan(many.lu(j, j)), std::isnan(one.lu(j, j))) << j;
    }
    ASSERT_TRUE(std::isnan(many.lu(n - 1, n - 1)));
  }
}

TEST(DenseLu, FactorsMatricesWithMoreRowsThanColumns) {
  for (const std::int64_t n : {5, 64, 65, 200}) {
    SCOPED_TRACE(n);
    Random random(static_cast<std::uint64_t>(n));
    const Dense<double> a = kernels::test::gaussian(2 * n + 3, n, random);
    engine::ThreadPool pool(2);
    Dense<double> ours(a), lapack(a);
    std::vector<int> pivots(static_cast<std::size_t>(n)), theirs(pivots);
    EXPECT_EQ(dense_lu(pool, ours.view(), pivots.data()), -1);
    const engine::SingleThreadedBlas blas;
    kernels::getrf(lapack.view(), theirs.data());
    ASSERT_TRUE(pivots == theirs);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < a.rows; ++i) {
        const double error = std::abs(ours(i, j) - lapack(i, j));
        const double bound =
            static_cast<double>(n * n) * kU64 * std::max(1.0, std::abs(lapack(i, j)));
        ASSERT_TRUE(error <= bound) << i << ' ' << j;
      }
    }
  }
}

/// Columns of sizes 10^-spread .. 10^spread.
Dense<double> columns_of_sizes(std::int64_t n, double spread, Random& random) {
  Dense<double> a = kernels::test::gaussian(n, n, random);
  for (std::int64_t j = 0; j < n; ++j) {
    const double size = std::pow(10.0, spread * std::clamp(random.gaussian(), -1.0, 1.0));
    for (std::int64_t i = 0; i < n; ++i) a(i, j) *= size;
  }
  return a;
}

TEST(ResidueLu, IsAsGoodAsLapacksWithTheSameBitsForAnyNumberOfThreads) {
  for (const auto& [n, spread] : {std::pair{300, 0}, {513, 0}, {600, 100}, {1090, 3}}) {
    SCOPED_TRACE(n);
    Random random(static_cast<std::uint64_t>(n));
    const Dense<double> a = columns_of_sizes(n, spread, random);
    const Result one = run(a, 1, residue_lu);
    EXPECT_EQ(one.zero, -1);
    // Pivots may differ from LAPACK's where two candidates are alike; the multipliers may not.
    for (std::int64_t j = 0; j < n; ++j) {
      ASSERT_TRUE(one.pivots[static_cast<std::size_t>(j)] > j);
      for (std::int64_t i = j + 1; i < n; ++i) ASSERT_TRUE(std::abs(one.lu(i, j)) <= 1);
    }
    const Dense<double> b = kernels::test::gaussian(n, 1, random);
    const double error = backward_error(a, one, b);
    EXPECT_TRUE(error <= static_cast<double>(n + 2) * kU64) << error;
    for (const int threads : {2, 5}) {
      const Result many = run(a, threads, residue_lu);
      ASSERT_TRUE(kernels::test::same_bits(many.lu.view(), one.lu.view())) << threads;
      ASSERT_TRUE(many.pivots == one.pivots);
    }
  }
}

TEST(ResidueLu, TellsTheFirstZeroPivot) {
  const std::int64_t n = 640;
  for (const std::int64_t zero : {100, 511, 512, 639}) {
    Random random(6);
    Dense<double> a = kernels::test::gaussian(n, n, random);
    for (std::int64_t i = 0; i < n; ++i) a(i, zero) = 0;
    EXPECT_EQ(run(a, 2, residue_lu).zero, zero);
  }
}

TEST(ResidueLu, SolvesWithItsTriangles) {
  const std::int64_t n = 700;
  Random random(7);
  const Dense<double> a = kernels::test::gaussian(n, n, random);
  const Result f = run(a, 2, residue_lu);
  const Dense<double> b = kernels::test::gaussian(n, 20, random);
  const engine::SingleThreadedBlas blas;
  engine::ThreadPool pool(2);
  for (const kernels::Triangle triangle : {kernels::Triangle{false, false, true},
                                           {false, true, true},
                                           {true, false, false},
                                           {true, true, false}}) {
    Dense<double> x(b), y(b);
    residue_lu_solve(pool, f.lu.view(), triangle, x.view());
    kernels::solve_triangle(f.lu.view(), triangle, y.view());
    // Both have the error of a substitution in FP64. Gaussian triangles without pivoting would be
    // hopeless; those of an LU factorization have conditions of a few n.
    double difference = 0, largest = 0;
    for (std::size_t e = 0; e < x.data.size(); ++e) {
      difference = core::worst(difference, std::abs(x.data[e] - y.data[e]));
      largest = std::max(largest, std::abs(y.data[e]));
    }
    EXPECT_TRUE(difference <= 100.0 * n * n * kU64 * largest) << difference / largest;
  }
}

}  // namespace
}  // namespace stepwell::factor::test
