// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/least_squares/exact_least_squares.hpp"

#include <cmath>

#include "solvers/least_squares/lstsq_fixture.hpp"

extern "C" void dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a,
                        const int* lda, double* s, double* u, const int* ldu, double* vt,
                        const int* ldvt, double* work, const int* lwork, int* info, std::size_t,
                        std::size_t);

/// The oracle is tested, too: against problems with a known answer, and its backward error against
/// the formula of the paper, evaluated literally.
namespace stepwell::solvers::test {
namespace {

struct Formula {
  double value;
  double rounding;  ///< FP64's singular values have errors of a few u of the largest
};

/// min(phi, smallest singular value of [A, phi (I - r r^+)]) / ||A||_F with phi = ||r|| / ||x||.
Formula by_the_paper(const Dense<double>& a, const double* b, const double* x) {
  const std::int64_t m = a.rows, n = a.cols;
  std::vector<double> r(b, b + m);
  double norm = 0, of_r = 0, of_x = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) {
      r[i] -= a(i, j) * x[j];
      norm = std::hypot(norm, a(i, j));
    }
    of_x = std::hypot(of_x, x[j]);
  }
  for (const double e : r) of_r = std::hypot(of_r, e);
  const double phi = of_r / of_x;
  Dense<double> k(m, n + m);
  std::copy(a.data.begin(), a.data.end(), k.data.begin());
  for (std::int64_t j = 0; j < m; ++j) {
    for (std::int64_t i = 0; i < m; ++i) {
      k(i, n + j) = phi * ((i == j ? 1 : 0) - r[i] * r[j] / (of_r * of_r));
    }
  }
  const int rows = static_cast<int>(m), cols = static_cast<int>(n + m), size = 10 * cols;
  std::vector<double> s(m), work(size);
  int info = 0;
  dgesvd_("N", "N", &rows, &cols, k.data.data(), &rows, s.data(), nullptr, &rows, nullptr, &cols,
          work.data(), &size, &info, 1, 1);
  EXPECT_EQ(info, 0);
  return {std::min(phi, s.back()) / norm, 20 * kU64 * s.front() / norm};
}

/// ||r|| / ||x|| may exceed FP64's range.
TEST(ExactLeastSquares, ATinyXHasTheErrorOfNone) {
  const Dense<double> a = tall_matrix(12, 4, 30), b = right_hand_sides(a, 1, 1);
  const ExactLeastSquares exact(a.view());
  const std::vector<double> none(4), tiny(4, 0x1p-1060);
  const double error = exact.backward_error(b.view().column(0), none.data(), Measured::scaled);
  EXPECT_GT(error, 1e-3);
  EXPECT_NEAR(exact.backward_error(b.view().column(0), tiny.data(), Measured::scaled), error,
              1e-5 * error);
}

TEST(ExactLeastSquares, HasThePapersBackwardError) {
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {5, 1}, {12, 4}, {30, 11}, {9, 8}, {7, 7}}) {
    for (const double residual : {1e-6, 1e-2, 1.0, 1e3}) {
      for (const double change : {1e-8, 1e-5, 1e-2, 1.0}) {
        const Dense<double> a = tall_matrix(m, n, 30);
        const Dense<double> b = right_hand_sides(a, 1, residual);
        const ExactLeastSquares exact(a.view());
        Dense<double> x = exact.solve(b.view());
        Random random(3);
        for (double& e : x.data) e += change * random.gaussian();
        const Formula expected = by_the_paper(a, b.data.data(), x.data.data());
        EXPECT_NEAR(exact.backward_error(b.data.data(), x.data.data(), Measured::plain),
                    expected.value, 1e-5 * expected.value + expected.rounding)
            << m << " x " << n << ", " << residual << ", " << change;
      }
    }
  }
}

TEST(ExactLeastSquares, HasTheConditionAndTheSolutionThatWereAskedFor) {
  for (const double condition : {1.0, 1e3, 1e6}) {
    const Dense<double> a = tall_matrix(40, 10, condition);
    Dense<double> exactly(40, 1), x(10, 1);
    for (std::int64_t j = 0; j < 10; ++j) x(j, 0) = static_cast<double>(j - 3);
    const ExactLeastSquares exact(a.view());
    EXPECT_LT(exact.condition(), 2.1 * condition) << "scaling helps within a factor";
    // b = A x, rounded: the solution is x up to the condition number.
    for (std::int64_t i = 0; i < 40; ++i) {
      for (std::int64_t j = 0; j < 10; ++j) exactly(i, 0) += a(i, j) * x(j, 0);
    }
    const Dense<double> y = exact.solve(exactly.view());
    EXPECT_LT(exact.difference(y.data.data(), x.data.data()), 100 * condition * kU64);
    EXPECT_LT(exact.backward_error(exactly.data.data(), y.data.data(), Measured::scaled), kU64);
  }
}

TEST(ExactLeastSquares, DoesNotMindTheScaleOfColumns) {
  const Dense<double> a = tall_matrix(30, 8, 1e4), b = right_hand_sides(a, 1, 0.5);
  Dense<double> scaled(a);
  for (std::int64_t j = 0; j < 8; ++j) {
    for (std::int64_t i = 0; i < 30; ++i)
      scaled(i, j) = std::ldexp(a(i, j), j % 2 == 0 ? 330 : -330);
  }
  const ExactLeastSquares plain(a.view()), other(scaled.view());
  EXPECT_DOUBLE_EQ(plain.condition(), other.condition());
  const Dense<double> x = plain.solve(b.view()), y = other.solve(b.view());
  for (std::int64_t j = 0; j < 8; ++j) {
    EXPECT_EQ(std::ldexp(x(j, 0), j % 2 == 0 ? -330 : 330), y(j, 0));
  }
  EXPECT_EQ(plain.backward_error(b.data.data(), x.data.data(), Measured::scaled),
            other.backward_error(b.data.data(), y.data.data(), Measured::scaled));
}

TEST(ExactLeastSquares, AddsATail) {
  // The minimum of (1 - x)^2 + 3 x^2 is at 1/4.
  Dense<double> a(1, 1), b(1, 1);
  a(0, 0) = b(0, 0) = 1;
  const ExactLeastSquares ridge(a.view(), {std::sqrt(3.0)});
  EXPECT_NEAR(ridge.solve(b.view())(0, 0), 0.25, kU64);
  const double x = 0.25;
  EXPECT_NEAR(ridge.residual_norm(b.data.data(), &x), std::sqrt(0.75), 2 * kU64);
}

}  // namespace
}  // namespace stepwell::solvers::test
