// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "io/matrix_file.hpp"
#include "solvers/fixture.hpp"

/// A factor that is reused; and matrices from applications, solved from every rung.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

TEST(SpdSolverTest, FactorsOnceAndSolvesMany) {
  for (const auto& [n, map] : std::vector<std::pair<std::int64_t, const char*>>{
           {1, "default"}, {60, "default"}, {300, "bf16"}, {300, "fp64"}, {1000, "default"}}) {
    SCOPED_TRACE(testing::Message() << map << " n " << n);
    const Dense<double> a = gallery_matrix(Kind::geometric, n, 50);
    stepwell::Solver solver(a.view(), with_map(map), Structure::spd);
    EXPECT_EQ(solver.order(), n);
    ASSERT_TRUE(solver.factor().ok()) << solver.factor().reason;
    EXPECT_FALSE(map_text(solver.factor().method).empty());
    stepwell::Solver moved = std::move(solver);
    for (std::uint64_t k = 0; k < 3; ++k) {
      const Dense<double> b = gaussian_columns(n, 1 + static_cast<std::int64_t>(k), k);
      Dense<double> x(n, b.cols);
      const Certificate c = moved.solve(b.view(), x.view());
      ASSERT_TRUE(c.ok()) << c.reason;
      EXPECT_TRUE(consistent(c, b.cols));
      EXPECT_EQ(map_text(c.method), map_text(moved.factor().method));
      EXPECT_EQ(c.factor.map, c.method.map);
      EXPECT_EQ(c.times.factor, 0) << "it was there";
      EXPECT_GT(c.peak_bytes, 0);
      EXPECT_LT(backward_error(a.view(), b.view(), x.view()), tolerance_of(n));
    }
  }
}

TEST(SpdSolverTest, KeepsTheBetterFactorAfterAClimb) {
  const Dense<double> a = gallery_matrix(Kind::geometric, 300, 1e9);
  stepwell::Solver solver(a.view(), with_map("bf16"), Structure::spd);
  const Dense<double> b = gaussian_columns(300, 2);
  Dense<double> x(300, 2), again(300, 2);
  const Certificate first = solver.solve(b.view(), x.view());
  ASSERT_TRUE(first.ok()) << first.reason;
  ASSERT_GT(first.rungs.size(), 1u) << "too easy for this test";
  const Certificate second = solver.solve(b.view(), again.view());
  ASSERT_TRUE(second.ok()) << second.reason;
  EXPECT_EQ(second.rungs.size(), 1u);
  EXPECT_EQ(map_text(second.method), map_text(first.method));
  EXPECT_LT(backward_error(a.view(), b.view(), again.view()), tolerance_of(300));
}

TEST(SpdSolverTest, SaysWhyThereIsNoFactor) {
  for (const char* const map : {"default", "bf16"}) {
    const Dense<double> a = factor::test::indefinite(200, 70, -0.5);
    stepwell::Solver solver(a.view(), with_map(map), Structure::spd);
    EXPECT_EQ(solver.factor().outcome, SolveOutcome::not_positive_definite);
    EXPECT_EQ(solver.factor().pivot, 70);
    EXPECT_FALSE(solver.factor().reason.empty());
    const Dense<double> b = gaussian_columns(200, 2);
    Dense<double> x(b);
    const Certificate c = solver.solve(b.view(), x.view());
    EXPECT_EQ(c.outcome, SolveOutcome::not_positive_definite);
    EXPECT_EQ(c.pivot, 70);
    EXPECT_TRUE(same_bits(x.view(), b.view())) << "x was written";
  }
  Dense<double> a = gallery_matrix(Kind::dominant, 50, 1);
  a(20, 10) = HUGE_VAL;
  stepwell::Solver solver(a.view(), {}, Structure::spd);
  EXPECT_EQ(solver.factor().outcome, SolveOutcome::non_finite);
  EXPECT_EQ(solver.factor().row, 20);
  EXPECT_EQ(solver.factor().col, 10);
}

TEST(SpdSolverTest, RefusesWhatDoesNotFit) {
  const Dense<double> a = gallery_matrix(Kind::dominant, 50, 1);
  stepwell::Solver solver(a.view(), {}, Structure::spd);
  Dense<double> b(49, 1), x(49, 1);
  EXPECT_NE(
      message_of(ErrorCode::invalid_argument, [&] { (void)solver.solve(b.view(), x.view()); }), "");
  EXPECT_NE(message_of(ErrorCode::invalid_argument,
                       [&] { stepwell::Solver(a.view().block(0, 0, 50, 49)); }),
            "");
}

/// Table 6.1 of Higham & Pranesh.
class SuiteSparse : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Solve, SuiteSparse,
                         ::testing::Values("Trefethen_300", "mesh2e1", "mesh2em5", "plat362",
                                           "mhdb416", "bcsstk06", "bcsstk07", "bcsstm06",
                                           "bcsstm07", "nos5", "bcsstk20", "bcsstm20", "494_bus",
                                           "Trefethen_500"));

TEST_P(SuiteSparse, IsSolvedFromEveryRung) {
  const char* const folder = std::getenv("STEPWELL_SUITESPARSE");
  if (folder == nullptr) GTEST_SKIP() << "STEPWELL_SUITESPARSE does not name a directory";
  const std::string path = std::string(folder) + "/" + GetParam() + ".mtx";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << GetParam();
  const io::DenseMatrix file = io::read_matrix(path);
  Dense<double> a(file.rows, file.cols);
  std::copy(file.data.begin(), file.data.end(), a.data.begin());
  const Dense<double> b = gaussian_columns(a.rows, 2);
  for (const char* const map :
       {"default", "bf16", "fp16", "bf16x2", "bf16x3", "fp32", "fp64", "adaptive:1e-4"}) {
    for (const Refiner refiner : {Refiner::cg, Refiner::ir_gmres}) {
      SolveOptions options = with_map(map);
      options.refine.refiner = refiner;
      const Solved s = solve(a, b, options);
      EXPECT_TRUE(s.certificate.ok()) << map << ": " << s.certificate.reason;
      EXPECT_LT(backward_error(a.view(), b.view(), s.x.view()), tolerance_of(a.rows)) << map;
    }
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
