// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <thread>

#include "fixture.hpp"

extern "C" void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv,
                        int* info);

/// STEPWELL_LAPACK=all: dposv and dgesv, and routines that are called after them.
namespace stepwell::test {
namespace {

class Factors : public testing::Test {
 protected:
  void SetUp() override {
    require_setting("STEPWELL_LAPACK", "all");
    require_setting("STEPWELL_LAPACK_MIN_N", "2");
  }
};

/// The arguments and results of a call of dgesv or dposv.
struct Solved {
  Matrix a, b, factor, x;
  std::vector<int> pivots;
  int info = -77;
};

Solved call_dgesv(Matrix a, Matrix b) {
  Solved s{a, b, a, b, std::vector<int>(static_cast<std::size_t>(a.rows), -5), -77};
  dgesv_(&a.rows, &b.cols, s.factor.get(), &s.factor.ld, s.pivots.data(), s.x.get(), &s.x.ld,
         &s.info);
  return s;
}

Solved call_dposv(char uplo, Matrix a, Matrix b) {
  Solved s{a, b, a, b, {}, -77};
  dposv_(&uplo, &a.rows, &b.cols, s.factor.get(), &s.factor.ld, s.x.get(), &s.x.ld, &s.info);
  return s;
}

TEST_F(Factors, DgesvSolvesAndLeavesNaN) {
  for (const int n : {2, 3, 17, 100, 700}) {
    for (const int columns : {1, 3}) {
      const Solved s = call_dgesv(random_matrix(n, n, n, 3), random_matrix(n, columns, n + 1, 2));
      EXPECT_EQ(s.info, 0);
      EXPECT_LE(backward_error(s.a, s.x, s.b), allowed(n)) << n;
      EXPECT_TRUE(all_nan(s.factor)) << n;
      EXPECT_TRUE(s.factor.padding_is_intact());
      EXPECT_TRUE(s.x.padding_is_intact());
      for (int i = 0; i < n; ++i) EXPECT_EQ(s.pivots[static_cast<std::size_t>(i)], i + 1);
    }
  }
}

TEST_F(Factors, DposvReadsAndMarksItsTriangle) {
  for (const int n : {2, 33, 150, 600}) {
    for (const char uplo : {'L', 'U', 'l', 'u'}) {
      const bool lower = (uplo | 0x20) == 'l';
      const Matrix whole = random_spd(n, n, 1);
      Matrix half = whole;
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          if (lower ? i < j : i > j) half(i, j) = 1e300;  // must be neither read nor written
        }
      }
      const Solved s = call_dposv(uplo, half, random_matrix(n, 2, 9, 1));
      EXPECT_EQ(s.info, 0);
      EXPECT_LE(backward_error(whole, s.x, s.b), allowed(n)) << n << uplo;
      const auto mark = std::bit_cast<std::uint64_t>(s.factor(0, 0));
      EXPECT_TRUE(std::isnan(s.factor(0, 0)));
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          if (lower ? i < j : i > j) {
            ASSERT_EQ(s.factor(i, j), 1e300);
          } else {
            ASSERT_EQ(std::bit_cast<std::uint64_t>(s.factor(i, j)), mark);
          }
        }
      }
      EXPECT_TRUE(s.factor.padding_is_intact());
    }
  }
}

TEST_F(Factors, DgetrsAnswersFromTheCachedFactor) {
  for (const int n : {5, 120, 600}) {
    const Solved s = call_dgesv(random_matrix(n, n, 3), random_matrix(n, 1, 4));
    for (const char trans : {'N', 'T', 'c'}) {
      const Matrix b = random_matrix(n, 4, 5, 2);
      Matrix x = b;
      int info = -77;
      dgetrs_(&trans, &n, &b.cols, s.factor.data.data(), &s.factor.ld, s.pivots.data(), x.get(),
              &x.ld, &info);
      EXPECT_EQ(info, 0);
      const Matrix a = trans == 'N' ? s.a : transposed(s.a);
      EXPECT_LE(backward_error(a, x, b), allowed(n)) << n << trans;
      EXPECT_TRUE(x.padding_is_intact());
    }
  }
}

TEST_F(Factors, DpotrsAnswersFromTheCachedFactor) {
  for (const char uplo : {'L', 'U'}) {
    const int n = 130;
    const Solved s = call_dposv(uplo, random_spd(n, 6), random_matrix(n, 1, 7));
    const Matrix b = random_matrix(n, 3, 8);
    Matrix x = b;
    int info = -77;
    const char other = uplo == 'L' ? 'U' : 'L';  // the NaNs identify the factor
    dpotrs_(&other, &n, &b.cols, s.factor.data.data(), &s.factor.ld, x.get(), &x.ld, &info);
    EXPECT_LE(backward_error(s.a, x, b), allowed(n));
    x = b;
    dpotrs_(&uplo, &n, &b.cols, s.factor.data.data(), &s.factor.ld, x.get(), &x.ld, &info);
    EXPECT_EQ(info, 0);
    EXPECT_LE(backward_error(s.a, x, b), allowed(n));
  }
}

/// Both are estimates, typically within a factor of three of the truth: a factor of ten between
/// them.
TEST_F(Factors, DgeconIsNearTheRealOne) {
  for (const int n : {4, 90, 600}) {
    for (const char norm : {'1', 'O', 'I'}) {
      const Solved s = call_dgesv(random_matrix(n, n, 11), random_matrix(n, 1, 12));
      const double anorm = norm == 'I' ? norm_one(transposed(s.a)) : norm_one(s.a);
      double mine = -1, theirs = -1;
      int info = -77;
      std::vector<double> work(static_cast<std::size_t>(4 * n));
      std::vector<int> iwork(static_cast<std::size_t>(n)), pivots(static_cast<std::size_t>(n));
      dgecon_(&norm, &n, s.factor.data.data(), &s.factor.ld, &anorm, &mine, work.data(),
              iwork.data(), &info);
      EXPECT_EQ(info, 0);
      Matrix lu = s.a;
      dgetrf_(&n, &n, lu.get(), &lu.ld, pivots.data(), &info);
      dgecon_(&norm, &n, lu.get(), &lu.ld, &anorm, &theirs, work.data(), iwork.data(), &info);
      EXPECT_GT(theirs, 0);
      EXPECT_GT(mine, theirs / 10) << n << norm;
      EXPECT_LT(mine, theirs * 10) << n << norm;
    }
  }
}

/// R's solve() of integers computes the norm after dgesv has overwritten the matrix.
TEST_F(Factors, ANormOfTheNaNsIsReplacedByThatOfA) {
  const int n = 70;
  double work[280], with = -1, without = -1;
  int iwork[70], info = -77;
  const double nan = NAN;
  for (const char norm : {'1', 'I'}) {
    const Solved s = call_dgesv(random_matrix(n, n, 15), random_matrix(n, 1, 16));
    const double anorm = norm == 'I' ? norm_one(transposed(s.a)) : norm_one(s.a);
    dgecon_(&norm, &n, s.factor.data.data(), &n, &anorm, &with, work, iwork, &info);
    dgecon_(&norm, &n, s.factor.data.data(), &n, &nan, &without, work, iwork, &info);
    EXPECT_EQ(info, 0);
    EXPECT_NEAR(with / without, 1, n * 0x1p-52);
  }
  const char uplo = 'U';
  const Solved s = call_dposv(uplo, random_spd(n, 17), random_matrix(n, 1, 18));
  const double anorm = norm_one(s.a);
  dpocon_(&uplo, &n, s.factor.data.data(), &n, &anorm, &with, work, iwork, &info);
  dpocon_(&uplo, &n, s.factor.data.data(), &n, &nan, &without, work, iwork, &info);
  EXPECT_NEAR(with / without, 1, n * 0x1p-52);
}

TEST_F(Factors, DpoconIsNearTheRealOne) {
  const int n = 140;
  for (const char uplo : {'L', 'U'}) {
    const Solved s = call_dposv(uplo, random_spd(n, 13), random_matrix(n, 1, 14));
    const double anorm = norm_one(s.a);
    double mine = -1, theirs = -1;
    int info = -77;
    std::vector<double> work(static_cast<std::size_t>(3 * n));
    std::vector<int> iwork(static_cast<std::size_t>(n));
    dpocon_(&uplo, &n, s.factor.data.data(), &s.factor.ld, &anorm, &mine, work.data(), iwork.data(),
            &info);
    EXPECT_EQ(info, 0);
    Matrix factor = s.a, x = s.b;
    real(&dposv_, "dposv_")(&uplo, &n, &x.cols, factor.get(), &factor.ld, x.get(), &x.ld, &info);
    dpocon_(&uplo, &n, factor.get(), &factor.ld, &anorm, &theirs, work.data(), iwork.data(), &info);
    EXPECT_GT(theirs, 0);
    EXPECT_GT(mine, theirs / 10);
    EXPECT_LT(mine, theirs * 10);
  }
}

TEST_F(Factors, OneThatIsForgottenGivesNaN) {
  const int n = 50;
  const Solved first = call_dgesv(random_matrix(n, n, 21), random_matrix(n, 1, 22));
  const Solved second = call_dgesv(random_matrix(n, n, 23), random_matrix(n, 1, 24));
  EXPECT_NE(std::bit_cast<std::uint64_t>(first.factor(0, 0)),
            std::bit_cast<std::uint64_t>(second.factor(0, 0)));
  const char trans = 'N';
  Matrix x = first.b;
  int info = -77;
  dgetrs_(&trans, &n, &x.cols, first.factor.data.data(), &n, first.pivots.data(), x.get(), &x.ld,
          &info);
  for (int i = 0; i < n; ++i) EXPECT_TRUE(std::isnan(x(i, 0)));
  // dpotrs with an LU factor makes no sense in LAPACK either.
  const char uplo = 'L';
  x = second.b;
  dpotrs_(&uplo, &n, &x.cols, second.factor.data.data(), &n, x.get(), &x.ld, &info);
  EXPECT_TRUE(std::isnan(x(n - 1, 0)));
}

/// Stepwell refuses them; LAPACK computes what it can from the cached matrix.
TEST_F(Factors, NonFiniteRightHandSidesAreLeftToLapack) {
  const int n = 40;
  const Solved s = call_dgesv(random_matrix(n, n, 31), random_matrix(n, 1, 32));
  Matrix b = random_matrix(n, 2, 33);
  b(3, 1) = INFINITY;
  Matrix mine = b, theirs = b, lu = s.a;
  std::vector<int> pivots(static_cast<std::size_t>(n));
  int info = -77;
  const char trans = 'N';
  dgetrs_(&trans, &n, &b.cols, s.factor.data.data(), &n, s.pivots.data(), mine.get(), &n, &info);
  EXPECT_EQ(info, 0);
  dgetrf_(&n, &n, lu.get(), &n, pivots.data(), &info);
  real(&dgetrs_, "dgetrs_")(&trans, &n, &b.cols, lu.get(), &n, pivots.data(), theirs.get(), &n,
                            &info);
  for (int i = 0; i < n; ++i) EXPECT_EQ(mine(i, 0), theirs(i, 0));
  EXPECT_FALSE(std::isfinite(mine(3, 1)));
}

TEST_F(Factors, SingularMatricesAreLapacks) {
  const int n = 60;
  Matrix a = random_matrix(n, n, 41);
  for (int i = 0; i < n; ++i) a(i, 20) = 0;
  const Matrix b = random_matrix(n, 1, 42);
  const Solved mine = call_dgesv(a, b);
  Matrix lu = a, x = b;
  std::vector<int> pivots(static_cast<std::size_t>(n));
  int info = -77;
  real(&dgesv_, "dgesv_")(&n, &b.cols, lu.get(), &n, pivots.data(), x.get(), &n, &info);
  EXPECT_GT(info, 0);
  EXPECT_EQ(mine.info, info);
  EXPECT_TRUE(same_bits(mine.factor, lu));
  EXPECT_TRUE(same_bits(mine.x, x));
  EXPECT_EQ(mine.pivots, pivots);
}

TEST_F(Factors, IndefiniteMatricesAreLapacks) {
  const int n = 60;
  Matrix a = random_spd(n, 51);
  a(30, 30) = -1;
  const Matrix b = random_matrix(n, 1, 52);
  for (const char uplo : {'L', 'U'}) {
    const Solved mine = call_dposv(uplo, a, b);
    EXPECT_EQ(mine.info, 31);
    EXPECT_TRUE(same_bits(mine.x, b));
  }
  // dgesv tries Cholesky first, and must not stop there.
  const Solved general = call_dgesv(a, b);
  EXPECT_EQ(general.info, 0);
  EXPECT_LE(backward_error(a, general.x, b), allowed(n));
}

TEST_F(Factors, ManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<double> errors(4, 1);
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([t, &errors] {
      double worst = 0;
      for (unsigned round = 0; round < 10; ++round) {
        const int n = 50 + static_cast<int>(60 * ((t + round) % 4));
        const Solved s =
            call_dgesv(random_matrix(n, n, 100 * t + round), random_matrix(n, 2, 7 * t + round));
        const double error = s.info == 0 ? backward_error(s.a, s.x, s.b) / allowed(n) : 1e9;
        if (!(error <= worst)) worst = error;
      }
      errors[t] = worst;
    });
  }
  for (std::thread& t : threads) t.join();
  for (const double error : errors) EXPECT_LE(error, 1);
}

}  // namespace
}  // namespace stepwell::test
