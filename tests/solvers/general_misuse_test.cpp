// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "solvers/general_fixture.hpp"

/// The choice between the two solvers; misuse is refused with an error that says what to do;
/// unusual but valid arguments work.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

TEST(Automatic, TakesCholeskyWhereItCan) {
  for (const std::int64_t n : {30, 1000}) {
    const Dense<double> b = gaussian_columns(n, 2);
    Dense<double> x(n, 2);
    Dense<double> a = gallery_matrix(Kind::geometric, n, 100);
    Certificate c = stepwell::solve(a.view(), b.view(), x.view());
    EXPECT_TRUE(c.ok()) << c.reason;
    EXPECT_EQ(c.structure, Structure::spd);
    EXPECT_TRUE(same_bits(x.view(), solve(a, b).x.view()));

    a(0, n - 1) = std::nextafter(a(0, n - 1), 1);  // no longer symmetric
    c = stepwell::solve(a.view(), b.view(), x.view());
    EXPECT_TRUE(c.ok()) << c.reason;
    EXPECT_EQ(c.structure, Structure::general);
    EXPECT_TRUE(same_bits(x.view(), solve_general(a, b).x.view()));

    // Symmetric with a positive diagonal, but one negative eigenvalue.
    a = gallery_matrix(Kind::geometric, n, 100);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) a(i, j) = (i == j ? 1 : 0) + (i + j == n - 1 ? 2 : 0);
    }
    for (const std::optional<Refiner> refiner :
         {std::optional<Refiner>{}, std::optional(Refiner::cg), std::optional(Refiner::ir_cg)}) {
      SolveOptions options;
      options.refine.refiner = refiner;
      c = stepwell::solve(a.view(), b.view(), x.view(), options);
      EXPECT_TRUE(c.ok()) << c.reason;
      EXPECT_EQ(c.structure, Structure::general);
      ASSERT_GT(c.rungs.size(), 1u);
      EXPECT_NE(c.rungs.front().reason.find("pivot"), std::string::npos);
      EXPECT_LT(general_error(a.view(), b.view(), x.view()),
                std::sqrt(static_cast<double>(n)) * kU64);
    }
    EXPECT_EQ(stepwell::solve(a.view(), b.view(), x.view(), {}, Structure::spd).outcome,
              SolveOutcome::not_positive_definite);
    EXPECT_TRUE(stepwell::solve(a.view(), b.view(), x.view(), {}, Structure::general).ok());
  }
}

TEST(GeneralMisuse, IsRefusedAndSaysWhatToDo) {
  const std::int64_t n = 50;
  const Dense<double> a = gallery_matrix(Kind::positive_arithmetic, n, 10);
  const Dense<double> b = gaussian_columns(n, 4);
  Dense<double> x(n, 4);
  const auto message = [&](const SolveOptions& options) {
    return message_of(ErrorCode::invalid_argument, [&] {
      (void)stepwell::solve_general(a.view(), b.view(), x.view(), options);
    });
  };
  for (const Refiner refiner : {Refiner::cg, Refiner::ir_cg}) {
    SolveOptions options;
    options.refine.refiner = refiner;
    EXPECT_NE(message(options).find("use fgmres"), std::string::npos) << message(options);
    EXPECT_NE(message_of(ErrorCode::invalid_argument,
                         [&] { stepwell::Solver(a.view(), options, Structure::general); }),
              "");
    EXPECT_NE(message_of(ErrorCode::invalid_argument, [&] { (void)plan_general(10, 1, options); }),
              "");
  }
  SolveOptions symmetry;
  symmetry.check_symmetry = true;
  EXPECT_NE(message(symmetry), "");
  for (const char* const map : {"adaptive:1e-4", "bf16,bf16x2,fp32"}) {
    EXPECT_NE(message(with_map(map)), "") << map;
  }
  SolveOptions tile = with_map("bf16");
  tile.tile = 33;
  EXPECT_NE(message(tile), "");
  const auto shapes = [&](MatrixView<const double> aa, MatrixView<const double> bb,
                          MatrixView<double> xx) {
    return message_of(ErrorCode::invalid_argument,
                      [&] { (void)stepwell::solve_general(aa, bb, xx); });
  };
  EXPECT_NE(shapes(a.view().block(0, 0, n, n - 1), b.view(), x.view()), "");
  EXPECT_NE(shapes(a.view(), b.view().block(0, 0, n - 1, 4), x.view()), "");
  EXPECT_NE(shapes(a.view(), b.view(), x.view().block(0, 0, n, 3)), "");
  EXPECT_NE(shapes(a.view(), b.view(), view(const_cast<double*>(a.data.data()), n, 4)), "");
  EXPECT_NE(message_of(ErrorCode::invalid_argument, [] { (void)plan_general(-1, 1); }), "");
}

TEST(GeneralCorners, NothingToSolveIsSolved) {
  for (const char* const map : {"default", "bf16"}) {
    Certificate c = stepwell::solve_general({nullptr, 0, 0, 1}, {nullptr, 0, 3, 1},
                                            {nullptr, 0, 3, 1}, with_map(map));
    EXPECT_TRUE(c.ok());
    EXPECT_EQ(c.columns.size(), 3u);
    const Dense<double> a = gallery_matrix(Kind::positive_arithmetic, 10, 10);
    EXPECT_TRUE(solve_general(a, Dense<double>(10, 0), with_map(map)).certificate.ok());
    const MatrixView<double> none{nullptr, 0, 0, 1}, column{nullptr, 0, 1, 1};
    c = stepwell::solve(none, column, column, with_map(map));
    EXPECT_TRUE(c.ok());
  }
}

TEST(GeneralCorners, OneUnknownIsADivision) {
  Random random(4);
  for (int k = 0; k < 500; ++k) {
    Dense<double> a(1, 1), b(1, 1);
    a(0, 0) = random.gaussian();
    b(0, 0) = random.gaussian();
    const Solved s = solve_general(a, b, with_map(k % 2 == 0 ? "default" : "fp32"));
    ASSERT_TRUE(s.certificate.ok()) << a(0, 0) << ", " << b(0, 0) << ": " << s.certificate.reason;
    ASSERT_NEAR(s.x(0, 0), b(0, 0) / a(0, 0), 4 * kU64 * std::abs(s.x(0, 0)));
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
