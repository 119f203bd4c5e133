// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <thread>

#include "solvers/fixture.hpp"

/// Every failure has its outcome and its reason, and x is unchanged where there is no solution.
namespace stepwell::solvers::test {
namespace {

using factor::test::indefinite;
using gallery::Kind;

class Outcomes : public ::testing::TestWithParam<Path> {
 protected:
  std::int64_t n() const { return GetParam().n; }
  SolveOptions options() const { return with_map(GetParam().map); }
  Dense<double> good(double condition = 10) const {
    return gallery_matrix(Kind::geometric, n(), condition);
  }
  /// Solves with two columns and expects x to be unchanged.
  Certificate refused(const Dense<double>& a, const Dense<double>& b, const SolveOptions& o) const {
    Dense<double> x = gaussian_columns(n(), b.cols, 77);
    const Dense<double> before(x);
    const Certificate c = solve_spd(a.view(), b.view(), x.view(), o);
    EXPECT_FALSE(c.ok());
    EXPECT_TRUE(consistent(c, b.cols)) << c.reason;
    EXPECT_TRUE(same_bits(x.view(), before.view())) << "x was written";
    for (const ColumnCertificate& column : c.columns) EXPECT_EQ(column.outcome, c.outcome);
    return c;
  }
};
/// The small solve, the general path and its ladder.
INSTANTIATE_TEST_SUITE_P(Solve, Outcomes,
                         ::testing::Values(Path{40, "default"}, Path{300, "default"},
                                           Path{300, "bf16"}, Path{130, "fp64"},
                                           Path{1000, "default"}));

TEST_P(Outcomes, NonFiniteElementsOfA) {
  for (const double bad : {kNaN<double>, HUGE_VAL, -HUGE_VAL}) {
    for (const auto& [i, j] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, 0}, {n() / 2, n() / 2}, {n() - 1, 3}, {n() / 2, 1}}) {
      Dense<double> a = good();
      a(i, j) = bad;
      const Certificate c = refused(a, gaussian_columns(n(), 2), options());
      EXPECT_EQ(c.outcome, SolveOutcome::non_finite);
      EXPECT_FALSE(c.in_b);
      EXPECT_EQ(c.row, i);
      EXPECT_EQ(c.col, j);
    }
  }
}

TEST_P(Outcomes, TheUpperTriangleIsNotRead) {
  Dense<double> a = good();
  const Dense<double> b = gaussian_columns(n(), 2);
  const Solved expected = solve(a, b, options());
  for (std::int64_t j = 0; j < n(); ++j) std::fill_n(&a.data[j * n()], j, kNaN<double>);
  const Solved s = solve(a, b, options());
  EXPECT_TRUE(s.certificate.ok()) << s.certificate.reason;
  EXPECT_TRUE(same_bits(s.x.view(), expected.x.view()));
}

TEST_P(Outcomes, NonFiniteElementsOfB) {
  for (const double bad : {kNaN<double>, HUGE_VAL, -HUGE_VAL}) {
    Dense<double> b = gaussian_columns(n(), 3);
    b(n() / 3, 1) = bad;
    b(n() - 1, 2) = kNaN<double>;
    const Certificate c = refused(good(), b, options());
    EXPECT_EQ(c.outcome, SolveOutcome::non_finite);
    EXPECT_TRUE(c.in_b);
    EXPECT_EQ(c.row, n() / 3);
    EXPECT_EQ(c.col, 1);
  }
}

TEST_P(Outcomes, DiagonalElementsThatAreNotPositive) {
  for (const double value : {0.0, -0.0, -1e-300, -3.0}) {
    for (const std::int64_t at : {std::int64_t{0}, n() / 2, n() - 1}) {
      Dense<double> a = gallery_matrix(Kind::dominant, n(), 1);
      a(at, at) = value;
      const Certificate c = refused(a, gaussian_columns(n(), 2), options());
      EXPECT_EQ(c.outcome, SolveOutcome::not_positive_definite) << value;
      EXPECT_EQ(c.pivot, at) << value;
      EXPECT_LE(c.pivot_value, 0) << value;
      EXPECT_NE(c.reason.find("diagonal element that is not positive"), std::string::npos)
          << c.reason;
    }
  }
}

TEST_P(Outcomes, IndefiniteMatricesHaveLapacksPivot) {
  for (const std::int64_t pivot : {std::int64_t{1}, n() / 3, n() - 1}) {
    for (const double schur : {-0.5, -0.05}) {
      const Dense<double> a = indefinite(n(), pivot, schur);
      ASSERT_EQ(lapack_pivot(a.view()), pivot);
      const Certificate c = refused(a, gaussian_columns(n(), 2), options());
      EXPECT_EQ(c.outcome, SolveOutcome::not_positive_definite) << c.reason;
      EXPECT_EQ(c.pivot, pivot);
      EXPECT_LT(c.pivot_value, 0);
      EXPECT_GE(c.pivot_value, 2 * schur) << "of a diagonal between 1/2 and 2";
      EXPECT_EQ(c.reason.find("diagonal element that is not positive"), std::string::npos)
          << c.reason;
      EXPECT_FALSE(c.rungs.empty());
    }
  }
}

TEST_P(Outcomes, AsymmetryIsFoundWhenAskedFor) {
  Dense<double> a = good();
  const Dense<double> b = gaussian_columns(n(), 2);
  SolveOptions checked = options();
  checked.check_symmetry = true;
  EXPECT_TRUE(solve(a, b, checked).certificate.ok());
  a(1, n() - 2) += 1e-3;  // above the diagonal
  EXPECT_TRUE(solve(a, b, options()).certificate.ok()) << "not asked for";
  const Certificate c = refused(a, b, checked);
  EXPECT_EQ(c.outcome, SolveOutcome::asymmetric);
  EXPECT_EQ(c.row, n() - 2);
  EXPECT_EQ(c.col, 1);
}

TEST_P(Outcomes, ATooTightToleranceIsNotMet) {
  for (const double tolerance : {1e-30, 1e-20}) {
    SolveOptions tight = options();
    tight.tolerance = tolerance;
    const Dense<double> a = good(), b = gaussian_columns(n(), 2);
    const Solved s = solve(a, b, tight);
    EXPECT_EQ(s.certificate.outcome, SolveOutcome::not_converged);
    EXPECT_EQ(s.certificate.tolerance, tolerance);
    EXPECT_FALSE(s.certificate.reason.empty());
    // x is nevertheless as accurate as possible.
    EXPECT_LT(backward_error(a.view(), b.view(), s.x.view()), 4 * kU64 + 1e-17);
  }
}

TEST_P(Outcomes, ALooseToleranceIsMet) {
  SolveOptions loose = options();
  loose.tolerance = 1e-3;
  const Dense<double> a = good(), b = gaussian_columns(n(), 2);
  const Solved s = solve(a, b, loose);
  EXPECT_TRUE(s.certificate.ok());
  EXPECT_LE(backward_error(a.view(), b.view(), s.x.view()), 1e-3);
}

TEST_P(Outcomes, CancelledBeforeItBegins) {
  Progress progress;
  progress.cancel = true;
  SolveOptions o = options();
  o.engine.progress = &progress;
  const Certificate c = refused(good(), gaussian_columns(n(), 2), o);
  EXPECT_EQ(c.outcome, SolveOutcome::cancelled);
}

TEST_P(Outcomes, OverflowOfTheSolution) {
  Dense<double> a = good(), b = gaussian_columns(n(), 2);
  for (double& e : a.data) e *= 0x1p-900;
  for (std::int64_t i = 0; i < n(); ++i) b(i, 1) *= 0x1p400;
  const Solved s = solve(a, b, options());
  EXPECT_EQ(s.certificate.outcome, SolveOutcome::overflow) << s.certificate.reason;
  EXPECT_EQ(s.certificate.columns[0].outcome, SolveOutcome::converged);
  EXPECT_EQ(s.certificate.columns[1].outcome, SolveOutcome::overflow);
}

TEST_P(Outcomes, AColumnOfZerosHasAZeroSolution) {
  Dense<double> b = gaussian_columns(n(), 3);
  for (std::int64_t i = 0; i < n(); ++i) b(i, 1) = 0;
  const Solved s = solve(good(), b, options());
  EXPECT_TRUE(s.certificate.ok()) << s.certificate.reason;
  EXPECT_EQ(s.certificate.columns[1].backward_error, 0);
  for (std::int64_t i = 0; i < n(); ++i) ASSERT_EQ(s.x(i, 1), 0);
}

// The cancelling thread may be too late; then the test tries again.
TEST(Cancelling, FromAnotherThreadEndsASolve) {
  const std::int64_t n = kSanitized ? 1000 : 2000;
  const Dense<double> a = gallery_matrix(Kind::geometric, n, 1e8), b = gaussian_columns(n, 2);
  SolveOutcome outcome = SolveOutcome::converged;
  for (int attempt = 0; attempt < 50 && outcome == SolveOutcome::converged; ++attempt) {
    Progress progress;
    SolveOptions options = with_map("bf16x2");  // a small direct solve has no tasks to count
    options.engine.progress = &progress;
    std::thread canceller([&] {
      while (progress.done < 3) std::this_thread::yield();
      progress.cancel = true;
    });
    const Solved s = solve(a, b, options);
    outcome = s.certificate.outcome;
    progress.done = 3;  // in case no task was counted
    canceller.join();
  }
  EXPECT_EQ(outcome, SolveOutcome::cancelled);
}

TEST(Climbing, IsLeftOutWhenNotAllowed) {
  const Dense<double> a = gallery_matrix(Kind::geometric, 300, 1e12), b = gaussian_columns(300, 2);
  SolveOptions options = with_map("bf16");
  options.climb = false;
  const Solved s = solve(a, b, options);
  EXPECT_NE(s.certificate.outcome, SolveOutcome::converged);
  EXPECT_NE(s.certificate.outcome, SolveOutcome::not_positive_definite) << s.certificate.reason;
  EXPECT_EQ(map_text(s.certificate.method), "bf16");
  options.climb = true;
  const Solved climbed = solve(a, b, options);
  EXPECT_TRUE(climbed.certificate.ok()) << climbed.certificate.reason;
  EXPECT_GT(climbed.certificate.rungs.size(), 1u);
  const Dense<double> easy = gallery_matrix(Kind::geometric, 300, 10);
  options.climb = false;
  EXPECT_TRUE(solve(easy, b, options).certificate.ok());
}

TEST(Iterations, AreAtMostWhatIsAllowed) {
  const Dense<double> a = gallery_matrix(Kind::geometric, 300, 1e3), b = gaussian_columns(300, 2);
  for (const Refiner refiner : {Refiner::ir, Refiner::cg, Refiner::gmres, Refiner::fgmres}) {
    SolveOptions options = with_map("bf16x2");
    options.refine.refiner = refiner;
    options.refine.iterations = 1;
    options.climb = false;
    const Solved s = solve(a, b, options);
    EXPECT_LE(s.certificate.iterations, 1) << to_string(refiner);
    EXPECT_EQ(s.certificate.outcome, SolveOutcome::not_converged) << to_string(refiner);
    EXPECT_NE(s.certificate.reason.find("iteration limit"), std::string::npos)
        << s.certificate.reason;
    EXPECT_LT(backward_error(a.view(), b.view(), s.x.view()), 1e-2) << "the best there is";
    options.climb = true;
    EXPECT_TRUE(solve(a, b, options).certificate.ok()) << to_string(refiner);
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
