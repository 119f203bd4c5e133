// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numeric>

#include "solvers/general_fixture.hpp"

/// Each way in which a general solve can fail has its outcome and its reason, and x is unchanged
/// where there is no solution.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

class GeneralOutcomes : public ::testing::TestWithParam<Path> {
 protected:
  std::int64_t n() const { return GetParam().n; }
  SolveOptions options() const { return with_map(GetParam().map); }
  Dense<double> good() const { return gallery_matrix(Kind::positive_arithmetic, n(), 10); }
  /// Small integers, so that elimination without cancellation is exact for a while.
  Dense<double> integers(std::uint64_t seed) const {
    Random random(seed);
    Dense<double> a(n(), n());
    for (double& e : a.data) e = static_cast<double>(random.integer(-3, 3));
    for (std::int64_t i = 0; i < n(); ++i) a(i, i) += 8;
    return a;
  }
  Certificate refused(const Dense<double>& a, const Dense<double>& b, const SolveOptions& o) const {
    Dense<double> x = gaussian_columns(n(), b.cols, 77);
    const Dense<double> before(x);
    const Certificate c = stepwell::solve_general(a.view(), b.view(), x.view(), o);
    EXPECT_FALSE(c.ok());
    EXPECT_TRUE(consistent(c, b.cols)) << c.reason;
    EXPECT_TRUE(same_bits(x.view(), before.view())) << "x was written";
    for (const ColumnCertificate& column : c.columns) EXPECT_EQ(column.outcome, c.outcome);
    return c;
  }
  void expect_singular(const Dense<double>& a) const {
    Dense<double> none(n(), 1);
    const std::int64_t theirs = lapack_general(a.view(), none.view(), none.view());
    ASSERT_GE(theirs, 0) << "the test is wrong";
    for (const bool transposed : {false, true}) {
      SolveOptions o = options();
      o.transposed = transposed;
      const Certificate c = refused(a, gaussian_columns(n(), 2), o);
      EXPECT_EQ(c.outcome, SolveOutcome::singular) << c.reason;
      EXPECT_EQ(c.pivot, theirs);
      EXPECT_NE(c.reason.find("column " + std::to_string(theirs)), std::string::npos) << c.reason;
      EXPECT_FALSE(c.rungs.empty());
    }
  }
};
/// The small solve, the ladder with LAPACK first and with LAPACK last.
INSTANTIATE_TEST_SUITE_P(Solve, GeneralOutcomes,
                         ::testing::Values(Path{40, "default"}, Path{300, "default"},
                                           Path{300, "bf16"}, Path{130, "fp64"},
                                           Path{kSanitized ? 700 : 1600, "default"}));

TEST_P(GeneralOutcomes, NonFiniteElementsOfA) {
  for (const double bad : {kNaN<double>, HUGE_VAL, -HUGE_VAL}) {
    for (const auto& [i, j] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, 0}, {n() / 2, n() / 2}, {n() - 1, 3}, {1, n() / 2}}) {
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

TEST_P(GeneralOutcomes, NonFiniteElementsOfB) {
  Dense<double> b = gaussian_columns(n(), 3);
  b(n() / 3, 1) = -HUGE_VAL;
  b(n() - 1, 2) = kNaN<double>;
  const Certificate c = refused(good(), b, options());
  EXPECT_EQ(c.outcome, SolveOutcome::non_finite);
  EXPECT_TRUE(c.in_b);
  EXPECT_EQ(c.row, n() / 3);
  EXPECT_EQ(c.col, 1);
}

TEST_P(GeneralOutcomes, ZeroColumnsAndRowsAreSingular) {
  for (const std::int64_t k : {std::int64_t{0}, n() / 3, n() - 1}) {
    SCOPED_TRACE(k);
    Dense<double> column = good(), row = good();
    for (std::int64_t i = 0; i < n(); ++i) column(i, k) = row(k, i) = 0;
    expect_singular(column);
    expect_singular(row);
  }
  expect_singular(Dense<double>(n(), n()));
}

/// Ones and minus ones on and above the diagonal, with shuffled rows: elimination is exact.
Dense<double> shuffled_triangle(std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int64_t> place(static_cast<std::size_t>(n));
  std::iota(place.begin(), place.end(), 0);
  for (std::int64_t k = n - 1; k > 0; --k) std::swap(place[k], place[random.integer(0, k)]);
  Dense<double> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = i; j < n; ++j) {
      if (i == j || random.integer(0, 9) == 0) a(place[i], j) = random.integer(0, 1) == 0 ? -1 : 1;
    }
  }
  return a;
}

TEST_P(GeneralOutcomes, AnEquationThatIsThereTwiceIsSingular) {
  int exactly = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    SCOPED_TRACE(seed);
    const auto from = static_cast<std::int64_t>(seed) * 7 % n(), to = n() - 1 - from / 2;
    Dense<double> exact = shuffled_triangle(n(), seed), a = integers(seed);
    for (std::int64_t j = 0; j < n(); ++j) {
      exact(to, j) = exact(from, j);
      a(to, j) = 2 * a(from, j);
    }
    expect_singular(exact);
    // Whether LAPACK detects the singularity here depends on rounding; if it does, we must, too.
    Dense<double> none(n(), 1);
    if (lapack_general(a.view(), none.view(), none.view()) < 0) continue;
    ++exactly;
    expect_singular(a);
  }
  EXPECT_GE(exactly, 1);
}

TEST_P(GeneralOutcomes, ATooTightToleranceIsNotMet) {
  SolveOptions tight = options();
  tight.tolerance = 1e-30;
  const Dense<double> a = good(), b = gaussian_columns(n(), 2);
  const Solved s = solve_general(a, b, tight);
  EXPECT_EQ(s.certificate.outcome, SolveOutcome::not_converged);
  EXPECT_FALSE(s.certificate.reason.empty());
  // x is nevertheless as accurate as possible.
  EXPECT_LT(general_error(a.view(), b.view(), s.x.view()), 4 * kU64);
}

TEST_P(GeneralOutcomes, CancelledBeforeItBegins) {
  Progress progress;
  progress.cancel = true;
  SolveOptions o = options();
  o.engine.progress = &progress;
  EXPECT_EQ(refused(good(), gaussian_columns(n(), 2), o).outcome, SolveOutcome::cancelled);
}

TEST_P(GeneralOutcomes, OverflowOfTheSolution) {
  Dense<double> a = good(), b = gaussian_columns(n(), 2);
  for (double& e : a.data) e *= 0x1p-900;
  for (std::int64_t i = 0; i < n(); ++i) b(i, 1) *= 0x1p400;
  const Solved s = solve_general(a, b, options());
  EXPECT_EQ(s.certificate.outcome, SolveOutcome::overflow) << s.certificate.reason;
  EXPECT_EQ(s.certificate.columns[0].outcome, SolveOutcome::converged);
  EXPECT_EQ(s.certificate.columns[1].outcome, SolveOutcome::overflow);
}

TEST_P(GeneralOutcomes, AColumnOfZerosHasAZeroSolution) {
  Dense<double> b = gaussian_columns(n(), 3);
  for (std::int64_t i = 0; i < n(); ++i) b(i, 1) = 0;
  const Solved s = solve_general(good(), b, options());
  EXPECT_TRUE(s.certificate.ok()) << s.certificate.reason;
  EXPECT_EQ(s.certificate.columns[1].backward_error, 0);
  for (std::int64_t i = 0; i < n(); ++i) ASSERT_EQ(s.x(i, 1), 0);
}

TEST(GeneralClimbing, IsLeftOutWhenNotAllowed) {
  const Dense<double> a = gallery_matrix(Kind::general_geometric, 300, 1e8),
                      b = gaussian_columns(300, 2);
  SolveOptions options = with_map("bf16");
  options.climb = false;
  const Solved s = solve_general(a, b, options);
  EXPECT_EQ(s.certificate.outcome, SolveOutcome::not_converged);
  EXPECT_EQ(map_text(s.certificate.method), "bf16");
  options.climb = true;
  const Solved climbed = solve_general(a, b, options);
  EXPECT_TRUE(climbed.certificate.ok()) << climbed.certificate.reason;
  EXPECT_GT(climbed.certificate.rungs.size(), 1u);
  // Without LAPACK's confirmation no matrix is called singular.
  Dense<double> singular(a);
  for (std::int64_t i = 0; i < 300; ++i) singular(i, 17) = 0;
  options.climb = false;
  EXPECT_EQ(solve_general(singular, b, options).certificate.outcome, SolveOutcome::not_converged);
}

TEST(GeneralClimbing, LeavesAFactorThatGrew) {
  const std::int64_t n = 100;
  const Dense<double> a = gallery_matrix(Kind::gfpp_rows, n, 1), b = gaussian_columns(n, 1);
  const Solved s = solve_general(a, b, with_map("bf16"));
  ASSERT_TRUE(s.certificate.ok()) << s.certificate.reason;
  ASSERT_GT(s.certificate.rungs.size(), 1u);
  const LadderStep& first = s.certificate.rungs.front();
  EXPECT_FALSE(first.factored);
  EXPECT_NE(first.reason.find("growth"), std::string::npos) << first.reason;
}

}  // namespace
}  // namespace stepwell::solvers::test
