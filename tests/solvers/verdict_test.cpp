// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "kernels/quad.hpp"
#include "solvers/certify/verdict.hpp"
#include "solvers/general_fixture.hpp"

/// 'converged' holds for the true backward error, not only for the one computed from a rounded
/// residual.
namespace stepwell::solvers::test {
namespace {

using stepwell::test::Quad;

/// One column whose error is not a number is not forgotten when a good one follows.
TEST(Verdict, OfSeveralColumnsKeepsANaN) {
  const Measured bad{std::nan(""), 0}, good{1e-16, 0}, poor{1e-15, 1e-15};
  EXPECT_EQ(worst(good, poor).error, poor.error);
  EXPECT_EQ(worst(poor, good).error, poor.error);
  EXPECT_TRUE(std::isnan(worst(worst(good, bad), good).error));
  EXPECT_TRUE(std::isnan(worst(bad, poor).error));
}

TEST(Verdict, HoldsForEveryValueThatTheErrorMayHave) {
  const double tolerance = 1e-15;
  EXPECT_EQ(judge({4e-16, 5e-16}, tolerance), Verdict::met);
  EXPECT_EQ(judge({6e-16, 5e-16}, tolerance), Verdict::open);
  EXPECT_EQ(judge({1.4e-15, 5e-16}, tolerance), Verdict::open);
  EXPECT_EQ(judge({1.6e-15, 5e-16}, tolerance), Verdict::missed);
  EXPECT_EQ(judge({NAN, 0}, tolerance), Verdict::missed);
  EXPECT_EQ(judge({0, NAN}, tolerance), Verdict::missed);
  EXPECT_EQ(judge({0, HUGE_VAL}, tolerance), Verdict::open);
  EXPECT_EQ(judge({0, 0}, NAN), Verdict::missed);
  EXPECT_EQ(outcome_of(true, {6e-16, 5e-16}, tolerance), SolveOutcome::not_converged);
  EXPECT_EQ(outcome_of(false, {0, 0}, tolerance), SolveOutcome::overflow);
}

/// The backward error in the infinity norm, in quad precision.
double true_error(const Dense<double>& a, const double* b, const double* x) {
  Quad r = 0, norm = 0, of_x = 0, of_b = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    Quad rest = b[i], sum = 0;
    for (std::int64_t j = 0; j < a.cols; ++j) {
      rest -= static_cast<Quad>(a(i, j)) * x[j];
      sum += std::abs(a(i, j));
    }
    r = std::max(r, rest < 0 ? -rest : rest);
    norm = std::max(norm, sum);
    of_x = std::max(of_x, static_cast<Quad>(std::abs(x[i])));
    of_b = std::max(of_b, static_cast<Quad>(std::abs(b[i])));
  }
  return static_cast<double>(r / (norm * of_x + of_b));
}

struct Equal {
  std::int64_t n;
  double off_diagonal, diagonal;
};

/// Equal elements off the diagonal and b = 1: all partial sums are rounded in one direction. A
/// plain FP64 residual shows one unit where the true error is a hundred units.
class EqualElements : public ::testing::TestWithParam<Equal> {};
INSTANTIATE_TEST_SUITE_P(Sizes, EqualElements,
                         ::testing::Values(Equal{100, 0.9, 1000}, Equal{200, 0.7, 100},
                                           Equal{500, 0.9, 1000}, Equal{890, 0.6, 1000},
                                           Equal{890, 0.1, 100}, Equal{1000, 0.3, 3},
                                           Equal{1500, 0.1, 3}));

TEST_P(EqualElements, AreSolvedToTheToleranceOrNotCalledConverged) {
  const auto& [n, off_diagonal, diagonal] = GetParam();
  Dense<double> a(n, n), b(n, 1);
  for (std::int64_t j = 0; j < n; ++j) {
    b(j, 0) = 1;
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = i == j ? diagonal : off_diagonal;
  }
  for (const Structure structure : {Structure::spd, Structure::general}) {
    for (const double tolerance : {0.0, 0x1p-53, 4 * 0x1p-53}) {
      SolveOptions options;
      options.tolerance = tolerance;
      Dense<double> x(n, 1);
      const Certificate c = stepwell::solve(a.view(), b.view(), x.view(), options, structure);
      const double error = true_error(a, b.view().data, x.view().data);
      if (c.ok()) {
        EXPECT_LE(error, c.tolerance) << "reported " << c.backward_error;
      } else {
        EXPECT_EQ(c.outcome, SolveOutcome::not_converged);
        EXPECT_GT(tolerance, 0) << c.reason;  // the default tolerance can be reached
      }
    }
  }
}

TEST_P(EqualElements, HaveAProofThatDecidesTheOutcome) {
  const auto& [n, off_diagonal, diagonal] = GetParam();
  Dense<double> a(n, n), b(n, 2);
  for (std::int64_t j = 0; j < n; ++j) {
    b(j, 0) = 1;
    b(j, 1) = 0.7;
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = i == j ? diagonal : off_diagonal;
  }
  SolveOptions options;
  options.prove = true;
  Dense<double> x(n, 2);
  const Certificate c = solve_spd(a.view(), b.view(), x.view(), options);
  ASSERT_TRUE(c.ok()) << c.reason;
  for (std::int64_t k = 0; k < 2; ++k) {
    const double proven = c.columns[static_cast<std::size_t>(k)].proven_backward_error;
    EXPECT_LE(proven, c.tolerance);
    EXPECT_GE(proven, true_error(a, b.view().column(k), x.view().column(k)));
  }
}

/// The factor overflows, and there is nothing to refine.
TEST(Columns, ForWhichNothingWasComputedAreNotConverged) {
  const std::int64_t n = 70;
  Dense<double> a = gaussian_columns(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) a(i, j) *= std::pow(10, (i * 7 + j * 3) % 11 - 5);
    for (std::int64_t i = 0; i < n / 2 && j < n / 2; ++i) a(i, j) = 0;
  }
  SolveOptions options = with_map("fp16");
  options.climb = false;
  options.lu.pivoting = Pivoting::butterfly;
  Dense<double> x(n, 2);
  const Dense<double> b = gaussian_columns(n, 2);
  const Certificate c = solve_general(a.view(), b.view(), x.view(), options);
  for (std::int64_t k = 0; k < 2; ++k) {
    const ColumnCertificate& column = c.columns[static_cast<std::size_t>(k)];
    const bool met = true_error(a, b.view().column(k), x.view().column(k)) <= c.tolerance;
    EXPECT_EQ(column.outcome == SolveOutcome::converged, met) << to_string(column.outcome);
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
