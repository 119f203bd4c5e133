// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "fixture.hpp"

/// dsposv and dsgesv do not change A. 'Mixed' runs with STEPWELL_LAPACK=mixed, 'Off' with off.
namespace stepwell::test {
namespace {

struct Answer {
  Matrix a, x;
  int info = -77, iter = -777;
};

Answer call_dsgesv(const Matrix& a, const Matrix& b, decltype(&dsgesv_) f = &dsgesv_) {
  Answer s{a, Matrix(a.rows, b.cols, 2)};
  Matrix b_copy = b;
  const auto n = static_cast<std::size_t>(a.rows), columns = static_cast<std::size_t>(b.cols);
  std::vector<int> pivots(n);
  std::vector<double> work(n * columns);
  std::vector<float> swork(n * (n + columns));
  f(&a.rows, &b.cols, s.a.get(), &a.ld, pivots.data(), b_copy.get(), &b.ld, s.x.get(), &s.x.ld,
    work.data(), swork.data(), &s.iter, &s.info);
  EXPECT_TRUE(same_bits(b, b_copy));
  return s;
}

Answer call_dsposv(char uplo, const Matrix& a, const Matrix& b, decltype(&dsposv_) f = &dsposv_) {
  Answer s{a, Matrix(a.rows, b.cols, 2)};
  Matrix b_copy = b;
  const auto n = static_cast<std::size_t>(a.rows), columns = static_cast<std::size_t>(b.cols);
  std::vector<double> work(n * columns);
  std::vector<float> swork(n * (n + columns));
  f(&uplo, &a.rows, &b.cols, s.a.get(), &a.ld, b_copy.get(), &b.ld, s.x.get(), &s.x.ld, work.data(),
    swork.data(), &s.iter, &s.info);
  EXPECT_TRUE(same_bits(b, b_copy));
  return s;
}

class Mixed : public testing::Test {
 protected:
  void SetUp() override {
    require_setting("STEPWELL_LAPACK", "mixed");
    require_setting("STEPWELL_LAPACK_MIN_N", "2");
  }
};

TEST_F(Mixed, SolvesAndLeavesAAsItIs) {
  for (const int n : {10, 100, 700}) {
    const Matrix general = random_matrix(n, n, 1, 3), spd = random_spd(n, 2, 1);
    const Matrix b = random_matrix(n, 3, 3, 1);
    const Answer g = call_dsgesv(general, b);
    EXPECT_EQ(g.info, 0);
    EXPECT_GE(g.iter, 0);
    EXPECT_TRUE(same_bits(g.a, general));
    EXPECT_LE(backward_error(general, g.x, b), allowed(n));
    EXPECT_TRUE(g.x.padding_is_intact());
    for (const char uplo : {'L', 'U'}) {
      Matrix half = spd;
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          if (uplo == 'L' ? i < j : i > j) half(i, j) = 1e300;
        }
      }
      const Answer p = call_dsposv(uplo, half, b);
      EXPECT_EQ(p.info, 0);
      EXPECT_GE(p.iter, 0);
      EXPECT_TRUE(same_bits(p.a, half));
      EXPECT_LE(backward_error(spd, p.x, b), allowed(n)) << n << uplo;
    }
  }
}

/// LAPACK 3.11's own dsgesv returns NaN with info = 0 for such a matrix.
TEST_F(Mixed, AFiniteMatrixScaledByTinyNumbersIsSolved) {
  const int n = 50;
  for (const double scale : {1e-44, 1e-42, 1e-39, 1e37, 1e200, 1e-300}) {
    Matrix general = random_spd(n, 4), b = random_matrix(n, 1, 5);
    for (double& v : general.data) v *= scale;
    for (const Answer& s : {call_dsgesv(general, b), call_dsposv('L', general, b)}) {
      EXPECT_EQ(s.info, 0) << scale;
      EXPECT_LE(backward_error(general, s.x, b), allowed(n)) << scale;
    }
  }
}

TEST_F(Mixed, WhatIsNotOursIsLapacks) {
  const int n = 30;
  const Matrix b = random_matrix(n, 1, 6);
  Matrix singular = random_matrix(n, n, 7), indefinite = random_spd(n, 8);
  for (int i = 0; i < n; ++i) singular(i, 9) = 0;
  indefinite(12, 12) = -3;
  const Answer g = call_dsgesv(singular, b);
  const Answer real_g = call_dsgesv(singular, b, real(&dsgesv_, "dsgesv_"));
  EXPECT_EQ(g.info, 10);
  EXPECT_EQ(g.info, real_g.info);
  EXPECT_EQ(g.iter, real_g.iter);
  EXPECT_TRUE(same_bits(g.a, real_g.a));
  const Answer p = call_dsposv('U', indefinite, b);
  const Answer real_p = call_dsposv('U', indefinite, b, real(&dsposv_, "dsposv_"));
  EXPECT_EQ(p.info, 13);
  EXPECT_EQ(p.info, real_p.info);
  EXPECT_EQ(p.iter, real_p.iter);
}

TEST_F(Mixed, DpotrfIsLapacks) {
  const int n = 90;
  Matrix mine = random_spd(n, 9), theirs = mine;
  const char uplo = 'L';
  int info = -77;
  dpotrf_(&uplo, &n, mine.get(), &n, &info);
  real(&dpotrf_, "dpotrf_")(&uplo, &n, theirs.get(), &n, &info);
  EXPECT_TRUE(same_bits(mine, theirs));
}

TEST_F(Mixed, DgesvKeepsItsFactor) {
  const int n = 90, columns = 2;
  const Matrix a = random_matrix(n, n, 9), b = random_matrix(n, columns, 10);
  Matrix mine = a, x = b, theirs = a, y = b;
  std::vector<int> pivots(n), real_pivots(n);
  int info = -77;
  dgesv_(&n, &columns, mine.get(), &n, pivots.data(), x.get(), &n, &info);
  real(&dgesv_, "dgesv_")(&n, &columns, theirs.get(), &n, real_pivots.data(), y.get(), &n, &info);
  EXPECT_TRUE(same_bits(mine, theirs));
  EXPECT_TRUE(same_bits(x, y));
  EXPECT_EQ(pivots, real_pivots);
}

TEST(Off, EverythingIsForwarded) {
  require_setting("STEPWELL_LAPACK", "off");
  const int n = 200;
  const Matrix a = random_spd(n, 11), b = random_matrix(n, 2, 12);
  const Answer mine = call_dsgesv(a, b), theirs = call_dsgesv(a, b, real(&dsgesv_, "dsgesv_"));
  EXPECT_TRUE(same_bits(mine.x, theirs.x));
  EXPECT_EQ(mine.iter, theirs.iter);
  const Answer p = call_dsposv('L', a, b), q = call_dsposv('L', a, b, real(&dsposv_, "dsposv_"));
  EXPECT_TRUE(same_bits(p.x, q.x));
  EXPECT_EQ(p.iter, q.iter);
}

}  // namespace
}  // namespace stepwell::test
