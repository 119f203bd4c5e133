// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "gallery/tall.hpp"
#include "solvers/least_squares/lstsq_fixture.hpp"

/// The certificate of least squares: every outcome has its reason, x is unchanged where there is no
/// solution, and each value is as documented.
namespace stepwell::solvers::test {
namespace {

class LeastSquaresOutcomes : public ::testing::TestWithParam<LeastSquaresPath> {
 protected:
  std::int64_t m() const { return GetParam().m; }
  std::int64_t n() const { return GetParam().n; }
  LeastSquaresOptions options() const { return GetParam().options(); }
  Dense<double> good(double condition = 10) const { return tall_matrix(m(), n(), condition); }
  Dense<double> sides(std::int64_t columns, double size = 0.5) const {
    return right_hand_sides(good(), columns, size);
  }
  /// Expects x to be unchanged, for all storages.
  Certificate refused(const Dense<double>& a, const Dense<double>& b,
                      const LeastSquaresOptions& o) const {
    Certificate c;
    for (const Storage storage : {Storage::columns, Storage::rows, Storage::function}) {
      Dense<double> x = gaussian_columns(n(), b.cols, 77);
      const Dense<double> before(x);
      c = lstsq(Stored(a, storage, 1).matrix(), b.view(), x.view(), o);
      EXPECT_FALSE(c.ok());
      EXPECT_TRUE(consistent_lstsq(c, n(), b.cols)) << path_of(c);
      EXPECT_TRUE(same_bits(x.view(), before.view())) << "x was written";
    }
    return c;
  }
};
INSTANTIATE_TEST_SUITE_P(Solve, LeastSquaresOutcomes,
                         ::testing::Values(LeastSquaresPath{90, 20, {}, false},
                                           LeastSquaresPath{90, 20, Rung::bf16, false},
                                           LeastSquaresPath{700, 40, Rung::fp32, false},
                                           LeastSquaresPath{65, 64, Rung::bf16x2, false},
                                           LeastSquaresPath{300, 110, {}, false},
                                           LeastSquaresPath{90, 20, {}, true},
                                           LeastSquaresPath{7, 1, {}, false},
                                           LeastSquaresPath{40, 40, Rung::fp64, false}));

TEST_P(LeastSquaresOutcomes, NonFiniteElements) {
  for (const double bad : {kNaN<double>, HUGE_VAL, -HUGE_VAL}) {
    for (const auto& [i, j] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, 0}, {m() - 1, n() - 1}, {m() / 2, n() / 3}}) {
      Dense<double> a = good();
      a(i, j) = bad;
      Certificate c = refused(a, sides(2), options());
      EXPECT_EQ(c.outcome, SolveOutcome::non_finite) << path_of(c);
      EXPECT_FALSE(c.in_b);
      EXPECT_EQ(c.row, i);
      EXPECT_EQ(c.col, j);
      Dense<double> b = sides(3);
      b(i, 1) = bad;
      c = refused(good(), b, options());
      EXPECT_EQ(c.outcome, SolveOutcome::non_finite) << path_of(c);
      EXPECT_TRUE(c.in_b);
      EXPECT_EQ(c.row, i);
      EXPECT_EQ(c.col, 1);
    }
  }
}

TEST_P(LeastSquaresOutcomes, CancelledBeforeItBegins) {
  Progress progress;
  progress.cancel = true;
  LeastSquaresOptions o = options();
  o.engine.progress = &progress;
  EXPECT_EQ(refused(good(), sides(2), o).outcome, SolveOutcome::cancelled);
}

TEST_P(LeastSquaresOutcomes, TheReportedValuesAreCorrect) {
  for (const double size : {0.0, 1e-6, 1.0, 1e6}) {
    const Dense<double> a = good(), b = right_hand_sides(a, 3, size);
    const Solved s = lstsq_of(a, b, options());
    const Certificate& c = s.certificate;
    ASSERT_TRUE(c.ok()) << path_of(c);
    EXPECT_EQ(c.tolerance, std::max(2.0, std::sqrt(static_cast<double>(n()))) * kU64);
    EXPECT_EQ(c.columns.size(), 3u);
    EXPECT_FALSE(c.rungs.empty());
    EXPECT_EQ(map_text(c.method), map_text(c.rungs.back().method));
    EXPECT_TRUE(!GetParam().qr || map_text(c.method) == "qr");
    EXPECT_TRUE(!GetParam().rung ||
                map_text(c.rungs.front().method) == to_string(*GetParam().rung));
    EXPECT_TRUE(c.rank == -1 || c.rank == n());
    EXPECT_GT(c.peak_bytes, 0);
    EXPECT_GT(c.times.wall, 0);
    const ExactLeastSquares exact(a.view());
    for (std::int64_t k = 0; k < 3; ++k) {
      const ColumnCertificate& column = c.columns[static_cast<std::size_t>(k)];
      const double residual = exact.residual_norm(&b(0, k), &s.x(0, k));
      EXPECT_NEAR(column.residual_norm, residual,
                  20 * std::sqrt(static_cast<double>(n())) * kU64 *
                      (residual + exact.norm() * exact.size(&s.x(0, k))));
      const double truth = exact.backward_error(&b(0, k), &s.x(0, k), Measured::scaled);
      EXPECT_LE(truth, 1.5 * column.backward_error + c.tolerance) << to_string(column.measure);
    }
  }
}

TEST_P(LeastSquaresOutcomes, ATooTightToleranceIsNotMet) {
  LeastSquaresOptions tight = options();
  tight.tolerance = 1e-25;
  const Dense<double> a = good(), b = sides(2);
  const Solved s = lstsq_of(a, b, tight);
  EXPECT_EQ(s.certificate.outcome, SolveOutcome::not_converged) << path_of(s.certificate);
  EXPECT_EQ(s.certificate.tolerance, 1e-25);
  const ExactLeastSquares exact(a.view());
  for (std::int64_t k = 0; k < 2; ++k) {  // x is nevertheless about as accurate as possible
    EXPECT_LT(exact.backward_error(&b(0, k), &s.x(0, k), Measured::scaled),
              4 * std::sqrt(static_cast<double>(n() + 4)) * kU64);
  }
}

TEST_P(LeastSquaresOutcomes, ALooseToleranceIsMet) {
  LeastSquaresOptions loose = options();
  loose.tolerance = 1e-4;
  const Dense<double> a = good(), b = sides(2);
  const Solved s = lstsq_of(a, b, loose);
  EXPECT_TRUE(s.certificate.ok()) << path_of(s.certificate);
  const ExactLeastSquares exact(a.view());
  EXPECT_LE(exact.backward_error(&b(0, 1), &s.x(0, 1), Measured::scaled), 1.5e-4);
}

TEST_P(LeastSquaresOutcomes, AColumnOfZerosHasAZeroSolution) {
  Dense<double> b = sides(3);
  for (std::int64_t i = 0; i < m(); ++i) b(i, 1) = 0;
  const Solved s = lstsq_of(good(), b, options());
  EXPECT_TRUE(s.certificate.ok()) << path_of(s.certificate);
  EXPECT_EQ(s.certificate.columns[1].backward_error, 0);
  EXPECT_EQ(s.certificate.columns[1].residual_norm, 0);
  for (std::int64_t j = 0; j < n(); ++j) ASSERT_EQ(s.x(j, 1), 0);
}

TEST_P(LeastSquaresOutcomes, DependentColumnsAreNamed) {
  if (n() < 5) return;
  for (int kind = 0; kind < 3; ++kind) {
    Dense<double> a = good();
    for (std::int64_t i = 0; i < m(); ++i) {
      if (kind == 0) a(i, 3) = 0;
      if (kind == 1) a(i, 3) = a(i, 1);
      if (kind == 2) a(i, 3) = 2 * a(i, 1) - a(i, 4);
    }
    const Dense<double> b = sides(2);
    const Solved s = lstsq_of(a, b, options());
    const Certificate& c = s.certificate;
    ASSERT_EQ(c.outcome, SolveOutcome::rank_deficient) << path_of(c);
    EXPECT_EQ(c.rank, n() - 1);
    ASSERT_EQ(c.dependent.size(), 1u);
    const std::int64_t j = c.dependent[0];
    EXPECT_TRUE(j == 3 || (kind > 0 && j == 1) || (kind == 2 && j == 4)) << j;
    EXPECT_EQ(s.x(j, 0), 0);
    EXPECT_TRUE(kind == 0 || map_text(c.rungs.back().method) == "qr") << path_of(c);
    // x minimises as well as the solution without that column.
    Dense<double> rest(m(), n() - 1), y(n() - 1, 2);
    for (std::int64_t k = 0; k < n() - 1; ++k) {
      const std::int64_t from = k < j ? k : k + 1;
      std::copy_n(&a(0, from), m(), &rest(0, k));
      for (std::int64_t l = 0; l < 2; ++l) y(k, l) = s.x(from, l);
    }
    const ExactLeastSquares exact(rest.view());
    for (std::int64_t l = 0; l < 2; ++l) {
      EXPECT_LT(exact.backward_error(&b(0, l), &y(0, l), Measured::scaled),
                4 * std::sqrt(static_cast<double>(n())) * kU64);
    }
  }
}

TEST_P(LeastSquaresOutcomes, RidgeMakesDependentColumnsIndependent) {
  Dense<double> a = good();
  for (std::int64_t i = 0; i < m(); ++i) a(i, n() - 1) = a(i, 0);
  LeastSquaresOptions o = options();
  o.lambda = 1e-3;
  const Dense<double> b = sides(2);
  const Solved s = lstsq_of(a, b, o);
  ASSERT_TRUE(s.certificate.ok()) << path_of(s.certificate);
  const ExactLeastSquares exact(a.view(), tail_of(o, n()));
  const Dense<double> expected = exact.solve(b.view());
  for (std::int64_t k = 0; k < 2; ++k) {
    EXPECT_LE(exact.difference(&s.x(0, k), &expected(0, k)),
              forward_bound(exact, &b(0, k), &s.x(0, k), 4 * s.certificate.tolerance));
  }
}

TEST_P(LeastSquaresOutcomes, ScalesByPowersOfTwoTakeTheSamePath) {
  const Dense<double> a = good(), b = sides(2);
  const Solved plain = lstsq_of(a, b, options());
  const ExactLeastSquares exact(a.view());
  for (const auto& [of_a, of_b] :
       std::vector<std::pair<int, int>>{{300, 0}, {-300, 200}, {3, -5}, {-700, 250}, {600, 900}}) {
    Dense<double> sa(a), sb(b);
    for (double& e : sa.data) e = std::ldexp(e, of_a);
    for (double& e : sb.data) e = std::ldexp(e, of_b);
    Solved s = lstsq_of(sa, sb, options());
    ASSERT_TRUE(s.certificate.ok()) << path_of(s.certificate);
    EXPECT_EQ(s.certificate.iterations, plain.certificate.iterations);
    EXPECT_EQ(s.certificate.rungs.size(), plain.certificate.rungs.size());
    for (double& e : s.x.data) e = std::ldexp(e, of_a - of_b);
    for (std::int64_t k = 0; k < 2; ++k) {
      EXPECT_LE(exact.difference(&s.x(0, k), &plain.x(0, k)),
                forward_bound(exact, &b(0, k), &plain.x(0, k), 4 * plain.certificate.tolerance));
    }
  }
}

TEST(LeastSquaresClimbing, GoesUpToQrAndSaysWhy) {
  const Dense<double> a = tall_matrix(300, 60, 1e10), b = right_hand_sides(a, 2, 0.1);
  LeastSquaresOptions options = at_rung(Rung::bf16);
  const Solved s = lstsq_of(a, b, options);
  ASSERT_TRUE(s.certificate.ok()) << path_of(s.certificate);
  ASSERT_GT(s.certificate.rungs.size(), 1u);
  EXPECT_EQ(map_text(s.certificate.rungs.front().method), "bf16");
  EXPECT_FALSE(s.certificate.rungs.front().reason.empty());
  EXPECT_EQ(map_text(s.certificate.method), "qr");

  options.climb = false;
  const Solved stayed = lstsq_of(a, b, options);
  EXPECT_EQ(stayed.certificate.outcome, SolveOutcome::not_converged) << path_of(stayed.certificate);
  EXPECT_EQ(stayed.certificate.rungs.size(), 1u);
}

TEST(LeastSquaresIterations, AreAtMostWhatIsAllowed) {
  const Dense<double> a = tall_matrix(400, 60, 100), b = right_hand_sides(a, 2, 0.1);
  LeastSquaresOptions options = at_rung(Rung::bf16);
  options.refine.iterations = 1;
  options.climb = false;
  const Solved s = lstsq_of(a, b, options);
  EXPECT_LE(s.certificate.iterations, 1);
  EXPECT_EQ(s.certificate.outcome, SolveOutcome::not_converged) << path_of(s.certificate);
  options.climb = true;
  EXPECT_TRUE(lstsq_of(a, b, options).certificate.ok());
}

/// Where r is large, rounding errors in A'r are amplified by the squared condition number; a
/// certificate does not show this, and dgels is not affected by it.
TEST(LeastSquaresDigits, AreThoseOfDgelsWhereTheConditionIsSquared) {
  const std::int64_t m = 20000, n = 100;
  engine::ThreadPool pool(2);
  for (const double condition : {1e4, 1e6}) {
    const gallery::TallRecipe recipe{condition, false, 1};
    Dense<double> a(m, n), b(m, 1), known(n, 1);
    gallery::fill_tall(a.view(), recipe, pool);
    gallery::fill_problem(std::as_const(a).view(), recipe, 1, known.view(), b.view(), pool);
    const auto error_of = [&](const Dense<double>& x) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += std::pow(x(j, 0) - known(j, 0), 2);
      return std::sqrt(sum / static_cast<double>(n));
    };
    const Solved s = lstsq_of(a, b);
    SCOPED_TRACE(path_of(s.certificate));
    ASSERT_TRUE(s.certificate.ok());
    EXPECT_LE(error_of(s.x), 4 * error_of(lapack_lstsq(a, b))) << "condition " << condition;
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
