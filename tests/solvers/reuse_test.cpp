// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "solvers/general_fixture.hpp"

/// The solver that determines the structure of A; the triangle that is read; the norm of the
/// inverse.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

/// A with NaN in the strict lower or upper triangle.
Dense<double> without(const Dense<double>& a, Triangle triangle) {
  Dense<double> half(a);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (triangle == Triangle::lower ? i > j : i < j) half(i, j) = std::nan("");
    }
  }
  return half;
}

SolveOptions upper(const char* map = "default") {
  SolveOptions options = with_map(map);
  options.triangle = Triangle::upper;
  return options;
}

TEST(Triangle, TheUpperOneGivesTheSameBits) {
  for (const auto& [n, map] : std::vector<std::pair<std::int64_t, const char*>>{
           {1, "default"}, {33, "default"}, {130, "bf16"}, {300, "fp64"}, {1100, "default"}}) {
    SCOPED_TRACE(testing::Message() << map << " n " << n);
    const Dense<double> a = gallery_matrix(Kind::geometric, n, 50);
    const Dense<double> b = gaussian_columns(n, 2);
    const Solved expected = solve(a, b, with_map(map));
    const Solved got = solve(without(a, Triangle::lower), b, upper(map));
    ASSERT_TRUE(got.certificate.ok()) << got.certificate.reason;
    EXPECT_TRUE(same_bits(got.x.view(), expected.x.view()));
    EXPECT_EQ(got.certificate.peak_bytes, expected.certificate.peak_bytes + 8 * n * n);
    EXPECT_EQ(plan_spd(n, 2, upper(map)).bytes, plan_spd(n, 2, with_map(map)).bytes + 8 * n * n);
    const Dense<double> half = without(a, Triangle::lower);
    stepwell::Solver solver(half.view(), upper(map), Structure::spd);
    Dense<double> x(n, 2);
    ASSERT_TRUE(solver.factor().ok());
    ASSERT_TRUE(solver.solve(b.view(), x.view()).ok());
    EXPECT_LT(backward_error(a.view(), b.view(), x.view()), tolerance_of(n));
  }
}

/// If one bit of A changes between the factorization and a solve, the residual reads another matrix
/// than the one that was analyzed: the outcome is 'changed', and the certificate names the block.
TEST(Changed, AMatrixThatIsNotWhatWasFactoredIsNoticed) {
  for (const Structure structure : {Structure::spd, Structure::general}) {
    for (const std::int64_t n : {40, 300, 1100}) {
      SCOPED_TRACE(testing::Message() << n << (structure == Structure::spd ? " spd" : " general"));
      Dense<double> a = gallery_matrix(Kind::geometric, n, 50);
      const Dense<double> b = gaussian_columns(n, 2);
      Dense<double> x(n, 2);
      stepwell::Solver solver(a.view(), {}, structure);
      ASSERT_TRUE(solver.solve(b.view(), x.view()).ok());
      const double before = a(n - 1, n / 2);
      a(n - 1, n / 2) = std::nextafter(before, HUGE_VAL);
      const Certificate c = solver.solve(b.view(), x.view());
      EXPECT_EQ(c.outcome, SolveOutcome::changed) << to_string(c.outcome);
      EXPECT_EQ(c.col, n / 2 / 64 * 64);
      EXPECT_FALSE(c.in_b);
      for (const ColumnCertificate& column : c.columns) {
        EXPECT_EQ(column.outcome, SolveOutcome::changed);
      }
      a(n - 1, n / 2) = before;
      EXPECT_TRUE(solver.solve(b.view(), x.view()).ok());
    }
  }
}

TEST(Triangle, NamesPlacesAsTheCallerHasThem) {
  for (const std::int64_t n : {50, 300}) {
    Dense<double> a = gallery_matrix(Kind::dominant, n, 1);
    const Dense<double> b = gaussian_columns(n, 1);
    SolveOptions options = upper("bf16");
    options.check_symmetry = true;
    EXPECT_TRUE(solve(a, b, options).certificate.ok());
    a(7, 20) += 1;
    const Certificate asymmetric = solve(a, b, options).certificate;
    EXPECT_EQ(asymmetric.outcome, SolveOutcome::asymmetric);
    EXPECT_EQ(std::minmax(asymmetric.row, asymmetric.col), std::minmax<std::int64_t>(7, 20));
    a(7, 20) = HUGE_VAL;
    const Certificate infinite = solve(a, b, upper("bf16")).certificate;
    EXPECT_EQ(infinite.outcome, SolveOutcome::non_finite);
    EXPECT_EQ(infinite.row, 7);
    EXPECT_EQ(infinite.col, 20);
  }
  const Dense<double> a = gallery_matrix(Kind::randn, 20, 1);
  EXPECT_NE(message_of(ErrorCode::invalid_argument,
                       [&] { stepwell::Solver(a.view(), upper(), Structure::general); }),
            "");
}

TEST(SolverTest, FindsOutWhatTheMatrixIs) {
  const std::int64_t n = 200;
  const Dense<double> spd = gallery_matrix(Kind::geometric, n, 50);
  const Dense<double> general = gallery_matrix(Kind::randn, n, 1);
  const Dense<double> indefinite = factor::test::indefinite(n, 70, -0.5);
  const Dense<double> b = gaussian_columns(n, 2);
  for (const auto& [a, expected] : {std::pair{&spd, Structure::spd},
                                    {&general, Structure::general},
                                    {&indefinite, Structure::general}}) {
    for (const bool factor_first : {false, true}) {
      stepwell::Solver solver(a->view(), with_map("bf16x3"));
      EXPECT_EQ(solver.structure(), Structure::automatic) << "nothing has been looked at";
      if (factor_first) {
        ASSERT_TRUE(solver.factor().ok()) << solver.factor().reason;
      }
      Dense<double> x(n, 2);
      const Certificate c = solver.solve(b.view(), x.view());
      ASSERT_TRUE(c.ok()) << c.reason;
      EXPECT_EQ(solver.structure(), expected);
      EXPECT_EQ(c.structure, expected);
      EXPECT_LT(general_error(a->view(), b.view(), x.view()), tolerance_of(n));
      ASSERT_TRUE(solver.solve_transposed(b.view(), x.view()).ok());
      EXPECT_LT(general_error(transposed(*a).view(), b.view(), x.view()), tolerance_of(n));
    }
  }
}

TEST(SolverTest, EstimatesTheNormOfTheInverse) {
  // For a bidiagonal matrix with ones and -1/2 above the diagonal the inverse is known: row 0 is 1,
  // 1/2, 1/4 ..., all row sums are below 2; the column sums are, too, except for the last one, 2.
  const std::int64_t n = 300;
  Dense<double> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = i == 0 ? 0.25 : 1;
  for (std::int64_t i = 0; i + 1 < n; ++i) a(i, i + 1) = -0.5;
  // With a(0, 0) = 1/4, row 0 of the inverse is 4 (1, 1/2, 1/4, ...): its sum is 8. Column j is
  // 4 / 2^j and 1, 1/2, ...
  for (const char* const map : {"bf16", "fp64"}) {
    stepwell::Solver solver(a.view(), with_map(map), Structure::general);
    const double rows = solver.inverse_norm(), columns = solver.inverse_norm(true);
    EXPECT_TRUE(rows > 8.0 / 3 && rows < 8 * 1.1) << rows;
    EXPECT_TRUE(columns > 4.0 / 3 && columns < 4 * 1.1) << columns;
  }
  Dense<double> singular(n, n);
  stepwell::Solver none(singular.view(), {}, Structure::general);
  EXPECT_TRUE(std::isnan(none.inverse_norm()));
  const Dense<double> spd = gallery_matrix(Kind::geometric, n, 1e4);
  SolveOptions asked = with_map("bf16");
  asked.condition = true;
  stepwell::Solver solver(spd.view(), asked, Structure::spd);
  Dense<double> x(n, 1);
  const Certificate c = solver.solve(gaussian_columns(n, 1).view(), x.view());
  EXPECT_EQ(c.condition, c.norm * solver.inverse_norm());
}

}  // namespace
}  // namespace stepwell::solvers::test
