// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "fixture.hpp"

/// By default dpotrf and dposv store LAPACK's factor in A, by exact sums; all other routines use it
/// as it is.
namespace stepwell::test {
namespace {

constexpr double kOther = 1e300;  ///< must be neither read nor written

class Exact : public testing::Test {
 protected:
  void SetUp() override {
    require_setting("STEPWELL_LAPACK", "");
    require_setting("STEPWELL_LAPACK_MIN_N", "2");
  }
};

bool is_lower(char uplo) {
  return (uplo | 0x20) == 'l';
}

Matrix half_of(const Matrix& a, char uplo) {
  Matrix half = a;
  for (int j = 0; j < a.cols; ++j) {
    for (int i = 0; i < a.rows; ++i) {
      if (is_lower(uplo) ? i < j : i > j) half(i, j) = kOther;
    }
  }
  return half;
}

/// max |A - L L'|_ij / sqrt(a_ii a_jj), in units of u, and whether the other triangle is untouched.
double residual(const Matrix& a, const Matrix& factor, char uplo) {
  const bool lower = is_lower(uplo);
  double worst = 0;
  for (int j = 0; j < a.cols; ++j) {
    for (int i = j; i < a.rows; ++i) {
      EXPECT_TRUE(i == j || (lower ? factor(j, i) : factor(i, j)) == kOther);
      long double sum = a(i, j);
      for (int k = 0; k <= j; ++k) {
        const double x = lower ? factor(i, k) : factor(k, i),
                     y = lower ? factor(j, k) : factor(k, j);
        sum -= static_cast<long double>(x) * y;
      }
      const double error =
          std::abs(static_cast<double>(sum)) / std::sqrt(a(i, i) * a(j, j)) * 0x1p53;
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

TEST_F(Exact, DpotrfHasASmallerResidualThanLapacks) {
  for (const int n : {2, 33, 150, 600}) {
    for (const char uplo : {'L', 'U', 'l', 'u'}) {
      SCOPED_TRACE(testing::Message() << n << uplo);
      const Matrix whole = random_spd(n, n, 1);
      Matrix mine = half_of(whole, uplo), theirs = mine;
      int info = -77;
      real(&dpotrf_, "dpotrf_")(&uplo, &n, theirs.get(), &theirs.ld, &info);
      dpotrf_(&uplo, &n, mine.get(), &mine.ld, &info);
      EXPECT_EQ(info, 0);
      EXPECT_TRUE(mine.padding_is_intact());
      const double ours = residual(whole, mine, uplo);
      EXPECT_TRUE(ours <= 4 || ours <= 1.5 * residual(whole, theirs, uplo)) << ours;
    }
  }
}

TEST_F(Exact, DposvLeavesAFactorThatDpotrsAndDpoconUse) {
  for (const int n : {2, 33, 600}) {
    for (const char uplo : {'L', 'U'}) {
      SCOPED_TRACE(testing::Message() << n << uplo);
      const Matrix whole = random_spd(n, n, 1), b = random_matrix(n, 2, 9, 1);
      Matrix factor = half_of(whole, uplo), x = b;
      int info = -77;
      dposv_(&uplo, &n, &b.cols, factor.get(), &factor.ld, x.get(), &x.ld, &info);
      EXPECT_EQ(info, 0);
      EXPECT_TRUE(x.padding_is_intact());
      EXPECT_LE(backward_error(whole, x, b), allowed(n));
      EXPECT_LE(residual(whole, factor, uplo), n + 4.0);
      x = b;
      dpotrs_(&uplo, &n, &b.cols, factor.get(), &factor.ld, x.get(), &x.ld, &info);
      EXPECT_EQ(info, 0);
      EXPECT_LE(backward_error(whole, x, b), allowed(n));
      const double anorm = norm_one(whole);
      double rcond = -1;
      std::vector<double> work(static_cast<std::size_t>(3 * n));
      std::vector<int> iwork(static_cast<std::size_t>(n));
      dpocon_(&uplo, &n, factor.get(), &factor.ld, &anorm, &rcond, work.data(), iwork.data(),
              &info);
      EXPECT_EQ(info, 0);
      EXPECT_TRUE(rcond > 0 && rcond <= 1) << rcond;
    }
  }
}

/// The failing pivot, what is left in A, and NaN.
TEST_F(Exact, FailuresAreLapacks) {
  const int n = 150, columns = 1;
  Matrix indefinite = random_spd(n, 8), infinite = indefinite, empty = indefinite;
  indefinite(77, 77) = -3;
  infinite(120, 40) = infinite(40, 120) = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < n; ++i) empty(i, 5) = empty(5, i) = 0;
  for (const Matrix& a : {indefinite, infinite, empty}) {
    for (const char uplo : {'L', 'U'}) {
      Matrix mine = half_of(a, uplo), theirs = mine;
      int info = -77, expected = -77;
      dpotrf_(&uplo, &n, mine.get(), &n, &info);
      real(&dpotrf_, "dpotrf_")(&uplo, &n, theirs.get(), &n, &expected);
      EXPECT_EQ(info, expected);
      EXPECT_TRUE(same_bits(mine, theirs));
      mine = theirs = half_of(a, uplo);
      Matrix x = random_matrix(n, 1, 3), y = x;
      dposv_(&uplo, &n, &columns, mine.get(), &n, x.get(), &n, &info);
      real(&dposv_, "dposv_")(&uplo, &n, &columns, theirs.get(), &n, y.get(), &n, &expected);
      EXPECT_EQ(info, expected);
      EXPECT_TRUE(same_bits(mine, theirs) && same_bits(x, y));
    }
  }
}

TEST_F(Exact, TheOtherNamesAreTheSame) {
  const int n = 120;
  const Matrix whole = random_spd(n, 3);
  for (const char uplo : {'L', 'U'}) {
    Matrix expected = half_of(whole, uplo);
    int info = -77;
    dpotrf_(&uplo, &n, expected.get(), &n, &info);
    Matrix wide = half_of(whole, uplo), columns = wide;
    Matrix rows = transposed(wide);
    std::int64_t info_64 = -77;
    const std::int64_t n_64 = n;
    dpotrf_64_(&uplo, &n_64, wide.get(), &n_64, &info_64);
    EXPECT_EQ(info_64, 0);
    EXPECT_TRUE(same_bits(wide, expected));
    EXPECT_EQ(LAPACKE_dpotrf(102, uplo, n, columns.get(), n), 0);
    EXPECT_TRUE(same_bits(columns, expected));
    EXPECT_EQ(LAPACKE_dpotrf(101, uplo, n, rows.get(), n), 0);
    EXPECT_TRUE(same_bits(transposed(rows), expected));
  }
  Matrix nan = whole;
  nan(50, 20) = std::nan("");
  EXPECT_EQ(LAPACKE_dpotrf(102, 'L', n, nan.get(), n), -4);
  EXPECT_EQ(LAPACKE_dpotrf(103, 'L', n, nan.get(), n), -1);
  EXPECT_EQ(LAPACKE_dpotrf(101, 'L', n, nan.get(), n - 1), -5);
}

}  // namespace
}  // namespace stepwell::test
