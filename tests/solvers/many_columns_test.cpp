// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "factor/blas3/block_gemm.hpp"
#include "sanitized.hpp"
#include "solvers/general_fixture.hpp"
#include "solvers/systems/lapack_factor.hpp"

/// Many right-hand sides: an FP64 factor, no refinement, a certificate for each of them.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;
using stepwell::test::kSanitized;

constexpr std::int64_t kOrder = 300;

TEST(ManyColumns, AreSolvedDirectlyAndCertified) {
  const Dense<double> a = gallery_matrix(Kind::geometric, kOrder, 1e4);
  for (const std::int64_t columns : {64, 100, kSanitized ? 200 : 2100}) {
    const Dense<double> b = gaussian_columns(kOrder, columns);
    Dense<double> x(kOrder, columns);
    const Certificate c = solve_spd(a.view(), b.view(), x.view(), at_fp64());
    ASSERT_TRUE(c.ok()) << c.reason;
    EXPECT_EQ(c.method.refiner, Refiner::direct);
    EXPECT_EQ(c.columns.back().measure, Measure::projected);
    const std::int64_t from = columns - 64;  // the last ones
    const double truth = backward_error(a.view(), b.view().block(0, from, kOrder, 64),
                                        x.view().block(0, from, kOrder, 64));
    EXPECT_LE(truth, c.backward_error) << "it is an upper bound";
    EXPECT_LE(c.backward_error, c.tolerance);
    const Plan plan = plan_spd(kOrder, columns, at_fp64());
    EXPECT_EQ(plan.method.refiner, Refiner::direct);
    EXPECT_LE(c.peak_bytes, plan.bytes);
    Dense<double> in_place = b;
    const Certificate again = solve_spd(a.view(), in_place.view(), in_place.view(), at_fp64());
    ASSERT_TRUE(again.ok());
    for (std::int64_t k = 0; k < columns; ++k) {
      for (std::int64_t i = 0; i < kOrder; ++i) ASSERT_EQ(x.view()(i, k), in_place.view()(i, k));
    }
  }
}

TEST(ManyColumns, ThePlanChoosesByTheirNumber) {
  const std::int64_t n = 8000;
  EXPECT_NE(plan_spd(n, 1).method.refiner, Refiner::direct);
  EXPECT_EQ(plan_spd(n, 2000).method.refiner, Refiner::direct);
  EXPECT_EQ(plan_spd(n, 2000).method.map, uniform(Rung::fp64));
  SolveOptions proven;
  proven.prove = true;
  EXPECT_NE(plan_spd(n, 2000, proven).method.refiner, Refiner::direct) << "has residuals";
}

TEST(ManyColumns, HaveTheSameBitsForAnyNumberOfThreads) {
  const Dense<double> a = gallery_matrix(Kind::geometric, 1100, 1e4);
  const Dense<double> b = gaussian_columns(1100, 130);
  Dense<double> one(1100, 130), four(1100, 130);
  Context single(1), several(4);
  SolveOptions options = at_fp64();
  options.engine.context = &single;
  const Certificate first = solve_spd(a.view(), b.view(), one.view(), options);
  options.engine.context = &several;
  const Certificate second = solve_spd(a.view(), b.view(), four.view(), options);
  ASSERT_TRUE(first.ok() && second.ok());
  for (std::int64_t k = 0; k < 130; ++k) {
    ASSERT_EQ(first.columns[static_cast<std::size_t>(k)].backward_error,
              second.columns[static_cast<std::size_t>(k)].backward_error);
    for (std::int64_t i = 0; i < 1100; ++i) ASSERT_EQ(one.view()(i, k), four.view()(i, k));
  }
}

TEST(ManyColumns, OfExtremeSizeTakeTheSamePathToTheSameBits) {
  const Dense<double> a = gallery_matrix(Kind::geometric, kOrder, 100);
  const Dense<double> b = gaussian_columns(kOrder, 80);
  Dense<double> scaled = b, x(kOrder, 80), y(kOrder, 80);
  for (std::int64_t i = 0; i < kOrder; ++i) {
    scaled.view()(i, 3) *= 0x1p600;
    scaled.view()(i, 70) *= 0x1p-600;
  }
  ASSERT_TRUE(solve_spd(a.view(), b.view(), x.view(), at_fp64()).ok());
  const Certificate c = solve_spd(a.view(), scaled.view(), y.view(), at_fp64());
  ASSERT_TRUE(c.ok()) << c.reason;
  for (const ColumnCertificate& column : c.columns) {
    EXPECT_EQ(column.measure, Measure::projected);
    EXPECT_LE(column.backward_error, tolerance_of(kOrder));
  }
  for (std::int64_t i = 0; i < kOrder; ++i) {
    EXPECT_EQ(y.view()(i, 3), x.view()(i, 3) * 0x1p600);
    EXPECT_EQ(y.view()(i, 70), x.view()(i, 70) * 0x1p-600);
    EXPECT_EQ(y.view()(i, 4), x.view()(i, 4));
  }
}

TEST(ManyColumns, ThatProjectionsLeaveOpenAreRefined) {
  const Dense<double> a = gallery_matrix(Kind::geometric, kOrder, 100);
  const Dense<double> b = gaussian_columns(kOrder, 80);
  Dense<double> x(kOrder, 80);
  SolveOptions strict = at_fp64();
  strict.tolerance = 0x1p-52;  // the bounds are above it, the errors are not
  const Certificate c = solve_spd(a.view(), b.view(), x.view(), strict);
  ASSERT_TRUE(c.ok()) << c.reason;
  for (const ColumnCertificate& column : c.columns) {
    EXPECT_EQ(column.measure, Measure::normwise);
    EXPECT_LE(column.backward_error, 0x1p-52);
  }
}

TEST(ManyColumns, WithoutASolutionSayWhy) {
  Dense<double> a = gallery_matrix(Kind::geometric, kOrder, 100);
  Dense<double> b = gaussian_columns(kOrder, 100), x(kOrder, 100);
  b.view()(17, 40) = std::numeric_limits<double>::quiet_NaN();
  Certificate c = solve_spd(a.view(), b.view(), x.view(), at_fp64());
  EXPECT_EQ(c.outcome, SolveOutcome::non_finite);
  EXPECT_EQ(c.col, 40);
  b.view()(17, 40) = 1;
  a.view()(200, 200) = 1e-3;
  c = solve_spd(a.view(), b.view(), x.view(), at_fp64());
  EXPECT_EQ(c.outcome, SolveOutcome::not_positive_definite);
  EXPECT_GE(c.pivot, 0);
  for (const ColumnCertificate& column : c.columns) {
    EXPECT_EQ(column.outcome, SolveOutcome::not_positive_definite);
  }
}

TEST(ManyColumns, AreSolvedByAReusableSolverToo) {
  const Dense<double> a = gallery_matrix(Kind::geometric, kOrder, 1e3);
  Solver solver(a.view(), at_fp64(), Structure::spd);
  ASSERT_TRUE(solver.factor().ok());
  const Dense<double> b = gaussian_columns(kOrder, 90);
  Dense<double> x(kOrder, 90), one(kOrder, 1);
  const Certificate many = solver.solve(b.view(), x.view());
  ASSERT_TRUE(many.ok());
  EXPECT_EQ(many.times.factor, 0);
  EXPECT_EQ(many.columns[0].measure, Measure::projected);
  const Certificate few = solver.solve(b.view().block(0, 0, kOrder, 1), one.view());
  ASSERT_TRUE(few.ok());
  EXPECT_EQ(few.times.factor, 0);
  EXPECT_EQ(few.columns[0].measure, Measure::normwise);
}

TEST(ManyColumns, OfAGeneralSystemAreCertifiedByTheirResiduals) {
  const Dense<double> a = gallery_matrix(Kind::randn, kOrder, 1);
  for (const std::int64_t columns : {64, kSanitized ? 100 : 600}) {
    for (const bool transposed : {false, true}) {
      const Dense<double> b = gaussian_columns(kOrder, columns);
      SolveOptions options = at_fp64();
      options.transposed = transposed;
      const Solved s = solve_general(a, b, options);
      const Certificate& c = s.certificate;
      ASSERT_TRUE(c.ok()) << c.reason;
      EXPECT_EQ(c.method.refiner, Refiner::ir);
      const Plan plan = plan_general(kOrder, columns, options);
      EXPECT_EQ(plan.method.refiner, Refiner::ir);
      EXPECT_LE(c.peak_bytes, plan.bytes);
      const std::vector<double> truth = general_errors(a.view(), b.view(), s.x.view(), transposed);
      for (std::size_t k = 0; k < truth.size(); ++k) {
        EXPECT_EQ(c.columns[k].measure, Measure::normwise);
        EXPECT_EQ(c.columns[k].iterations, 1) << "it is not refined";
        EXPECT_LE(truth[k], c.tolerance);
        EXPECT_LE(std::abs(truth[k] - c.columns[k].backward_error), tolerance_of(kOrder));
      }
    }
  }
}

TEST(ManyColumns, OfAGeneralSystemThatMissTheToleranceAreRefined) {
  const Dense<double> a = gallery_matrix(Kind::randn, kOrder, 1);
  const Dense<double> b = gaussian_columns(kOrder, 80);
  SolveOptions strict = at_fp64();
  strict.tolerance = 0x1p-52;
  const Solved s = solve_general(a, b, strict);
  ASSERT_TRUE(s.certificate.ok()) << s.certificate.reason;
  EXPECT_GT(s.certificate.iterations, 1);
  for (const ColumnCertificate& column : s.certificate.columns) {
    EXPECT_LE(column.backward_error, 0x1p-52);
  }
}

TEST(ManyColumns, OfAGeneralSystemHaveTheSameBitsForAnyNumberOfThreads) {
  const Dense<double> a = gallery_matrix(Kind::randn, kOrder, 1);
  const Dense<double> b = gaussian_columns(kOrder, 130);
  Context single(1), several(4);
  SolveOptions options = at_fp64();
  options.engine.context = &single;
  const Solved one = solve_general(a, b, options);
  options.engine.context = &several;
  const Solved four = solve_general(a, b, options);
  ASSERT_TRUE(one.certificate.ok() && four.certificate.ok());
  for (std::int64_t k = 0; k < 130; ++k) {
    for (std::int64_t i = 0; i < kOrder; ++i) ASSERT_EQ(one.x(i, k), four.x(i, k));
  }
}

/// A solve with exact sums has the residual of one by the BLAS.
TEST(ManyColumns, AreSolvedWithExactSumsAsByTheBlas) {
  constexpr std::int64_t kN = 700, kColumns = 40;
  engine::ThreadPool pool(2);
  const Dense<double> a = gallery_matrix(Kind::randn, kN, 1);
  const LapackFactor factor(pool, a.view(), 4);
  ASSERT_EQ(factor.report().outcome, FactorOutcome::ok);
  const Dense<double> b = gaussian_columns(kN, kColumns);
  for (const bool transposed : {false, true}) {
    Dense<double> x = b, y = b;
    factor.solve_exactly(pool, transposed, x.view());
    factor.solve(transposed, y.view());
    const std::vector<double> exact = general_errors(a.view(), b.view(), x.view(), transposed);
    const std::vector<double> blas = general_errors(a.view(), b.view(), y.view(), transposed);
    for (std::size_t k = 0; k < exact.size(); ++k) {
      EXPECT_TRUE(exact[k] <= 2 * blas[k] + 4 * 0x1p-53) << exact[k] / blas[k];
    }
  }
}

/// On a matrix engine for bytes these take exact sums for the factor, the solve and the residual.
TEST(ManyColumns, OfALargeGeneralSystemAreCertified) {
  constexpr std::int64_t kN = 4100, kColumns = 1030;
  if (kSanitized || !factor::has_residue_engine()) GTEST_SKIP() << "there is no engine for bytes";
  const Dense<double> a = gallery_matrix(Kind::randn, kN, 1);
  Dense<double> b = gaussian_columns(kN, kColumns);
  for (std::int64_t i = 0; i < kN; ++i) b(i, 7) *= 0x1p700;
  const Solved s = solve_general(a, b, at_fp64());
  const Certificate& c = s.certificate;
  ASSERT_TRUE(c.ok()) << c.reason;
  EXPECT_LE(c.peak_bytes, plan_general(kN, kColumns, at_fp64()).bytes);
  for (const ColumnCertificate& column : c.columns) EXPECT_EQ(column.iterations, 1);
  for (const std::int64_t k : {std::int64_t{0}, std::int64_t{7}, kColumns - 1}) {
    const double truth = general_errors(a.view(), b.view().block(0, k, kN, 1),
                                        s.x.view().block(0, k, kN, 1), false)[0];
    EXPECT_TRUE(truth <= c.tolerance) << truth / c.tolerance;
    EXPECT_TRUE(std::abs(truth - c.columns[static_cast<std::size_t>(k)].backward_error) <=
                c.tolerance / 4);
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
