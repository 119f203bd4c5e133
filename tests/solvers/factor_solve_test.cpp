// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include "solvers/fixture.hpp"
#include "stepwell/lu.hpp"

/// Solves with a factor that the caller holds: refined with A, certified, and never wrong if the
/// factor is not that of A.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

FactorOptions at(const char* map) {
  FactorOptions options;
  options.map = parse_map(map);
  return options;
}

TEST(FactorSolveTest, ReachesFullAccuracyFromEveryRung) {
  for (const char* const map : {"bf16", "bf16x2", "fp16", "fp32", "fp64", "graded:bf16x2*1,bf16"}) {
    SCOPED_TRACE(map);
    const std::int64_t n = 300;
    const Dense<double> a = gallery_matrix(Kind::geometric, n, 20);
    FactorOptions options = at(map);
    options.tile = 64;
    options.spread = options.map.graded();  // with a permutation
    const Factor factor = cholesky(a.view(), options);
    ASSERT_TRUE(factor.ok());
    const Dense<double> b = gaussian_columns(n, 3);
    Dense<double> x(n, 3);
    const Certificate c = factor.solve(a.view(), b.view(), x.view());
    ASSERT_TRUE(c.ok()) << c.reason;
    EXPECT_EQ(c.method.map, factor.report().map);
    EXPECT_EQ(c.rungs.size(), 1u) << "it has no other factor";
    EXPECT_LT(backward_error(a.view(), b.view(), x.view()), tolerance_of(n));
  }
}

TEST(FactorSolveTest, SolvesGeneralSystemsAndTheirTransposes) {
  for (const char* const map : {"bf16", "bf16x2", "fp32", "fp64"}) {
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(testing::Message() << map << " transposed " << transposed);
      const std::int64_t n = 200;
      const Dense<double> a = gallery_matrix(Kind::geometric, n, 20);
      const LuFactor factor = lu(a.view(), at(map));
      ASSERT_TRUE(factor.ok());
      const Dense<double> b = gaussian_columns(n, 2);
      Dense<double> x(n, 2);
      SolveOptions options;
      options.transposed = transposed;
      const Certificate c = factor.solve(a.view(), b.view(), x.view(), options);
      ASSERT_TRUE(c.ok()) << c.reason;
      EXPECT_EQ(c.method.factorization, Factorization::lu);
      EXPECT_LT(backward_error(a.view(), b.view(), x.view()), tolerance_of(n)) << "A is symmetric";
    }
  }
}

TEST(FactorSolveTest, TheFactorOfAnotherMatrixGivesNoFalseCertificate) {
  const std::int64_t n = 200;
  const Dense<double> a = gallery_matrix(Kind::geometric, n, 1e6);
  const Factor other = cholesky(factor::test::well_conditioned(n).view(), at("fp64"));
  ASSERT_TRUE(other.ok());
  const Dense<double> b = gaussian_columns(n, 1);
  Dense<double> x(n, 1);
  const Certificate c = other.solve(a.view(), b.view(), x.view());
  const double error = backward_error(a.view(), b.view(), x.view());
  EXPECT_TRUE(c.ok() ? error < tolerance_of(n) : c.outcome == SolveOutcome::not_converged)
      << to_string(c.outcome) << " " << error;
}

TEST(FactorSolveTest, MisuseIsAnError) {
  const Dense<double> a = gallery_matrix(Kind::geometric, 50, 10);
  const Factor factor = cholesky(a.view(), at("fp32"));
  ASSERT_TRUE(factor.ok());
  Dense<double> x(50, 1), small(40, 40), y(40, 1);
  const auto solve = [](const auto& with, MatrixView<const double> m, MatrixView<double> v) {
    return message_of(ErrorCode::invalid_argument, [&] { (void)with.solve(m, v, v); });
  };
  EXPECT_NE(solve(factor, small.view(), y.view()).find("of order 50"), std::string::npos);
  EXPECT_NE(solve(Factor(), a.view(), x.view()).find("of order 0"), std::string::npos);
  const Factor failed = cholesky(factor::test::indefinite(50, 7, -1).view(), at("fp64"));
  EXPECT_NE(solve(failed, a.view(), x.view()).find("not positive definite"), std::string::npos);
  SolveOptions options;
  options.refine.refiner = Refiner::direct;
  EXPECT_NE(message_of(ErrorCode::invalid_argument,
                       [&] { (void)factor.solve(a.view(), x.view(), x.view(), options); })
                .find("can't be requested"),
            std::string::npos);
}

}  // namespace
}  // namespace stepwell::solvers::test
