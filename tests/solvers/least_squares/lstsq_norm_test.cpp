// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>

#include "solvers/least_squares/lstsq_fixture.hpp"
#include "stepwell/error.hpp"

/// Where the minimiser is not unique, 'minimum_norm' gives the one of least norm.
namespace stepwell::solvers::test {
namespace {

LeastSquaresOptions least_norm() {
  LeastSquaresOptions options;
  options.minimum_norm = true;
  return options;
}

/// Small integers: sums of their products are exact.
Dense<double> integers(std::int64_t m, std::int64_t n, unsigned seed) {
  Dense<double> a(m, n);
  unsigned state = 2 * seed + 1;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) {
      state = state * 1664525U + 1013904223U;
      a(i, j) = static_cast<int>(state >> 16 & 31U) - 15;
    }
  }
  return a;
}

/// x = A'y and b = A x, exactly: x is the solution of least norm.
struct Wide {
  Dense<double> a, x, b;
  Wide(std::int64_t m, std::int64_t n) : a(integers(m, n, 1)), x(n, 2), b(m, 2) {}
  void finish() {
    const Dense<double> y = integers(a.view().rows, 2, 2);
    const std::int64_t m = a.view().rows, n = a.view().cols;
    for (std::int64_t k = 0; k < 2; ++k) {
      for (std::int64_t j = 0; j < n; ++j) {
        x(j, k) = 0;
        for (std::int64_t i = 0; i < m; ++i) x(j, k) += a(i, j) * y(i, k);
      }
      for (std::int64_t i = 0; i < m; ++i) {
        b(i, k) = 0;
        for (std::int64_t j = 0; j < n; ++j) b(i, k) += a(i, j) * x(j, k);
      }
    }
  }
  /// The largest error of a solution, relative to the largest element.
  double error(const Dense<double>& of) const {
    double most = 0, size = 0;
    for (std::int64_t k = 0; k < 2; ++k) {
      for (std::int64_t j = 0; j < x.view().rows; ++j) {
        most = std::max(most, std::abs(of(j, k) - x(j, k)));
        size = std::max(size, std::abs(x(j, k)));
      }
    }
    return most / size;
  }
  /// Random matrices of this shape have a condition number below 10.
  double limit() const { return 10 * static_cast<double>(x.view().rows) * kU64; }
};

TEST(LeastNorm, OfAWideMatrixIsInTheRangeOfItsRows) {
  for (const std::int64_t n : {41, 80, 300}) {
    Wide w(30, n);
    w.finish();
    const Solved s = lstsq_of(w.a, w.b, least_norm());
    ASSERT_EQ(s.certificate.outcome, SolveOutcome::converged) << s.certificate.reason;
    EXPECT_TRUE(s.certificate.minimum_norm);
    EXPECT_EQ(s.certificate.rank, 30);
    EXPECT_LT(w.error(s.x), (n == 41 ? 10 : 1) * w.limit());
  }
}

TEST(LeastNorm, OfAWideMatrixWithDependentRows) {
  Wide w(30, 80);
  for (std::int64_t j = 0; j < 80; ++j) w.a(7, j) = w.a(3, j);
  w.finish();
  Solved s = lstsq_of(w.a, w.b, least_norm());
  EXPECT_EQ(s.certificate.outcome, SolveOutcome::rank_deficient);
  EXPECT_EQ(s.certificate.rank, 29);
  EXPECT_LT(w.error(s.x), w.limit());
  // Equations that contradict each other: their mean is solved, and the residual is what is left.
  for (std::int64_t k = 0; k < 2; ++k) {
    w.b(7, k) += 1024;
    w.b(3, k) -= 1024;
  }
  s = lstsq_of(w.a, w.b, least_norm());
  EXPECT_EQ(s.certificate.outcome, SolveOutcome::rank_deficient) << s.certificate.reason;
  EXPECT_LT(w.error(s.x), w.limit());
  EXPECT_EQ(s.certificate.columns[0].measure, Measure::projection);
  EXPECT_NEAR(s.certificate.columns[0].residual_norm, 1024 * std::sqrt(2.0), 1e-9);
}

TEST(LeastNorm, OfAWideMatrixDoesNotDependOnScaleOrStorage) {
  Wide w(20, 50);
  w.finish();
  const Solved s = lstsq_of(w.a, w.b, least_norm());
  for (const Storage storage : {Storage::columns, Storage::rows}) {
    const Stored stored(w.a, storage, 3);
    Dense<double> x(50, 2);
    const Certificate c = lstsq(stored.matrix(), w.b.view(), x.view(), least_norm());
    EXPECT_TRUE(c.ok());
    for (std::int64_t j = 0; j < 50; ++j) EXPECT_EQ(x(j, 1), s.x(j, 1));
  }
  for (const int power : {-900, 900}) {
    Dense<double> a = w.a;
    for (std::int64_t j = 0; j < 50; ++j) {
      for (std::int64_t i = 0; i < 20; ++i) a(i, j) = std::ldexp(w.a(i, j), power);
    }
    const Solved t = lstsq_of(a, w.b, least_norm());
    ASSERT_TRUE(t.certificate.ok()) << t.certificate.reason;
    for (std::int64_t j = 0; j < 50; ++j) EXPECT_EQ(std::ldexp(t.x(j, 0), power), s.x(j, 0));
  }
}

/// x is a minimiser, and orthogonal to the vectors that A maps to zero.
TEST(LeastNorm, OfDependentColumnsIsOrthogonalToTheirNullSpace) {
  for (const int power : {0, 40, -40}) {
    const std::int64_t m = 60, n = 12;
    Dense<double> a = integers(m, n, 3);
    for (std::int64_t i = 0; i < m; ++i) {
      a(i, 4) = a(i, 1);
      a(i, 7) = 2 * a(i, 2) - a(i, 3);
      for (const std::int64_t j : {1, 3}) a(i, j) = std::ldexp(a(i, j), power);
    }
    const Dense<double> b = integers(m, 2, 4);
    const Solved basic = lstsq_of(a, b), s = lstsq_of(a, b, least_norm());
    ASSERT_EQ(s.certificate.outcome, SolveOutcome::rank_deficient) << path_of(s.certificate);
    EXPECT_EQ(s.certificate.rank, n - 2);
    EXPECT_TRUE(s.certificate.minimum_norm);
    EXPECT_FALSE(basic.certificate.minimum_norm);
    const double scale = std::ldexp(1.0, power);
    for (std::int64_t k = 0; k < 2; ++k) {
      double size = 0;
      for (std::int64_t j = 0; j < n; ++j) size = std::max(size, std::abs(s.x(j, k)));
      const double limit = 100 * static_cast<double>(n) * kU64 * size;
      // (e4 - e1 / scale), and (e7 - 2 e2 + e3 / scale), times what makes their elements at most 2
      const double by = std::min(1.0, scale);
      EXPECT_LT(std::abs(by * s.x(4, k) - by / scale * s.x(1, k)), limit);
      EXPECT_LT(std::abs(by * s.x(7, k) - 2 * by * s.x(2, k) + by / scale * s.x(3, k)), limit);
      EXPECT_NEAR(s.certificate.columns[static_cast<std::size_t>(k)].residual_norm,
                  basic.certificate.columns[static_cast<std::size_t>(k)].residual_norm,
                  1e-12 * 60 * 15);
    }
  }
}

TEST(LeastNorm, OfIndependentColumnsIsTheOnlySolution) {
  const Dense<double> a = tall_matrix(200, 20, 100), b = right_hand_sides(a, 1, 0.1);
  const Solved s = lstsq_of(a, b), t = lstsq_of(a, b, least_norm());
  for (std::int64_t j = 0; j < 20; ++j) EXPECT_EQ(s.x(j, 0), t.x(j, 0));
}

TEST(LeastNorm, OfNoEquationsIsZero) {
  Dense<double> x(5, 2);
  x(3, 1) = 7;
  const Certificate c = lstsq(view<const double>(nullptr, 0, 5), view<const double>(nullptr, 0, 2),
                              x.view(), least_norm());
  EXPECT_TRUE(c.ok()) << c.reason;
  EXPECT_EQ(c.rank, 0);
  EXPECT_EQ(x(3, 1), 0);
  EXPECT_EQ(plan_lstsq(0, 5, 2, least_norm()).bytes, 0);
  EXPECT_GT(plan_lstsq(100, 500, 2, least_norm()).seconds, 0);
  const Certificate none = lstsq(Dense<double>(3, 5).view(), view<const double>(nullptr, 3, 0),
                                 view<double>(nullptr, 5, 0), least_norm());
  EXPECT_TRUE(none.ok()) << none.reason;
  EXPECT_EQ(none.rank, -1) << "nothing was computed";
}

TEST(LeastNorm, MisuseOfWideMatrices) {
  Wide w(4, 9);
  w.finish();
  Dense<double> x(9, 2);
  EXPECT_THROW((void)lstsq(w.a.view(), w.b.view(), x.view()), Error);
  LeastSquaresOptions ridge = least_norm();
  ridge.lambda = 1;
  ridge.weights.assign(9, 1);
  ridge.weights[4] = 0;  // an intercept: with fewer rows than columns nothing determines it
  EXPECT_THROW((void)lstsq(w.a.view(), w.b.view(), x.view(), ridge), Error);
  EXPECT_THROW((void)plan_lstsq(4, 9, 2, ridge), Error);
  const Stored by_function(w.a, Storage::function);
  EXPECT_THROW((void)lstsq(by_function.matrix(), w.b.view(), x.view(), least_norm()), Error);
  w.a(2, 5) = std::nan("");
  const Certificate c = lstsq(w.a.view(), w.b.view(), x.view(), least_norm());
  EXPECT_EQ(c.outcome, SolveOutcome::non_finite);
  EXPECT_EQ(c.row, 2);
  EXPECT_EQ(c.col, 5);
}

}  // namespace
}  // namespace stepwell::solvers::test
