// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>

#include "solvers/general_fixture.hpp"

/// A general factor that is reused, with A and with A'; threads, powers of two and other columns do
/// not change the bits.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

struct GeneralCase {
  const char* map;
  std::int64_t n;
  Kind kind;
  double condition = 10;
  std::optional<Refiner> refiner = std::nullopt;
  bool butterfly = false;

  SolveOptions options() const {
    SolveOptions o = with_map(map);
    o.refine.refiner = refiner;
    if (butterfly) o.lu.pivoting = Pivoting::butterfly;
    return o;
  }
};
void PrintTo(const GeneralCase& c, std::ostream* out) {
  *out << c.map << ", " << gallery::to_string(c.kind) << " n " << c.n << " condition "
       << c.condition << ", " << (c.refiner ? to_string(*c.refiner) : "default") << ", butterfly "
       << c.butterfly;
}

std::vector<GeneralCase> general_cases() {
  std::vector<GeneralCase> all = {{"default", 3, Kind::randn},
                                  {"default", 100, Kind::general_geometric, 1e6},
                                  {"bf16", 130, Kind::positive_arithmetic, 1e2},
                                  {"bf16", 130, Kind::general_geometric, 1e7},
                                  {"fp16", 200, Kind::general_arithmetic, 1e4},
                                  {"bf16x2", 200, Kind::randn},
                                  {"bf16x3", 100, Kind::general_geometric, 1e12},
                                  {"fp32", 150, Kind::general_logarithmic, 1e6},
                                  {"fp64", 150, Kind::chebspec},
                                  {"graded:bf16x3*1,bf16x2", 260, Kind::rands},
                                  {"bf16x2", 150, Kind::randn, 1, {}, true},
                                  {"fp64", 100, Kind::zielke, 1, {}, true}};
  for (const Refiner r : kGeneralRefiners) all.push_back({"bf16", 90, Kind::hplmxp, 1, r});
  if (!kSanitized) {
    all.push_back({"default", 1600, Kind::positive_arithmetic, 1e2});
    all.push_back({"default", 1600, Kind::general_logarithmic, 1e9});
  }
  return all;
}

class GeneralCases : public ::testing::TestWithParam<GeneralCase> {};
INSTANTIATE_TEST_SUITE_P(Solve, GeneralCases, ::testing::ValuesIn(general_cases()));

TEST_P(GeneralCases, AreFreeOfScale) {
  const GeneralCase& c = GetParam();
  const Dense<double> a = gallery_matrix(c.kind, c.n, c.condition, 5), b = gaussian_columns(c.n, 2);
  for (const bool transposed : {false, true}) {
    SolveOptions options = c.options();
    options.transposed = transposed;
    const Solved expected = solve_general(a, b, options);
    EXPECT_TRUE(expected.certificate.ok()) << expected.certificate.reason;
    std::vector<std::pair<int, int>> powers = {{1, 0},     {-1, -1},     {-301, 77}, {-900, -901},
                                               {899, 801}, {-141, -139}, {128, -30}};
    if (c.n > 500) powers.resize(2);
    for (const auto& [s, t] : powers) {
      SCOPED_TRACE(testing::Message() << "A 2^" << s << ", b 2^" << t << ", " << transposed);
      expect_same_path(solve_general(times(a, s), times(b, t), options), expected, t - s);
    }
  }
}

TEST_P(GeneralCases, SolveWithTheTransposeToo) {
  const GeneralCase& c = GetParam();
  const Dense<double> a = gallery_matrix(c.kind, c.n, c.condition, 5), b = gaussian_columns(c.n, 3);
  SolveOptions options = c.options();
  options.transposed = options.condition = true;
  const Solved s = solve_general(a, b, options);
  ASSERT_TRUE(s.certificate.ok()) << s.certificate.reason;
  EXPECT_LT(general_error(a.view(), b.view(), s.x.view(), true), tolerance_of(c.n));
  options.transposed = false;
  const Solved explicitly = solve_general(transpose(a), b, options);
  ASSERT_TRUE(explicitly.certificate.ok()) << explicitly.certificate.reason;
  EXPECT_NEAR(s.certificate.norm, explicitly.certificate.norm, 1e-12 * s.certificate.norm);
  // Two solutions of one system differ by at most the sum of their forward errors.
  for (std::size_t k = 0; k < 3; ++k) {
    const auto column = static_cast<std::int64_t>(k);
    double difference = 0, size = 0;
    for (std::int64_t i = 0; i < c.n; ++i) {
      difference = std::max(difference, std::abs(s.x(i, column) - explicitly.x(i, column)));
      size = std::max(size, std::abs(s.x(i, column)));
    }
    const double bound =
        s.certificate.columns[k].forward_error + explicitly.certificate.columns[k].forward_error;
    EXPECT_GT(bound, 0);
    EXPECT_LE(difference, 2 * bound * size);
  }
  EXPECT_GE(s.certificate.condition, explicitly.certificate.condition / 10);
  EXPECT_LE(s.certificate.condition, explicitly.certificate.condition * 10);
}

class GeneralThreads : public ::testing::TestWithParam<GeneralCase> {};
INSTANTIATE_TEST_SUITE_P(
    Solve, GeneralThreads,
    ::testing::Values(GeneralCase{"default", kSanitized ? 1100 : 2100, Kind::positive_arithmetic,
                                  1e2},
                      GeneralCase{"default", 1540, Kind::general_logarithmic, 1e6},
                      GeneralCase{"default", 300, Kind::randn},
                      GeneralCase{"bf16x3", 1040, Kind::frank},
                      GeneralCase{"default", 1100, Kind::randn},
                      GeneralCase{"bf16x2", 1100, Kind::randn, 1, Refiner::ir_gmres},
                      GeneralCase{"bf16x3", 1100, Kind::rands, 1, {}, true}));

TEST_P(GeneralThreads, DoNotChangeTheBits) {
  const GeneralCase& c = GetParam();
  const Dense<double> a = gallery_matrix(c.kind, c.n, c.condition, 6), b = gaussian_columns(c.n, 3);
  SolveOptions options = c.options();
  options.condition = options.prove = true;
  for (const bool transposed : {false, true}) {
    options.transposed = transposed;
    std::optional<Solved> expected;
    for (int threads = 1; threads <= (kSanitized ? 2 : 4); ++threads) {
      SCOPED_TRACE(threads);
      Context context(threads);
      options.engine.context = &context;
      const Solved s = solve_general(a, b, options);
      EXPECT_TRUE(s.certificate.ok()) << s.certificate.reason;
      if (!expected) expected = s;
      expect_same_path(s, *expected, 0);
    }
  }
}

TEST(GeneralSolverTest, FactorsOnceAndSolvesBothWays) {
  for (const auto& [n, map] : std::vector<std::pair<std::int64_t, const char*>>{
           {1, "default"}, {60, "default"}, {300, "bf16"}, {300, "fp64"}, {1600, "default"}}) {
    SCOPED_TRACE(testing::Message() << map << " n " << n);
    const Dense<double> a = gallery_matrix(Kind::general_dominant, n, 1);
    stepwell::Solver solver(a.view(), with_map(map), Structure::general);
    EXPECT_EQ(solver.order(), n);
    ASSERT_TRUE(solver.factor().ok()) << solver.factor().reason;
    EXPECT_FALSE(map_text(solver.factor().method).empty());
    stepwell::Solver moved = std::move(solver);
    for (std::uint64_t k = 0; k < 4; ++k) {
      const bool transposed = k % 2 == 1;
      const Dense<double> b = gaussian_columns(n, 1 + static_cast<std::int64_t>(k), k);
      Dense<double> x(n, b.cols);
      const Certificate c =
          transposed ? moved.solve_transposed(b.view(), x.view()) : moved.solve(b.view(), x.view());
      ASSERT_TRUE(c.ok()) << c.reason;
      EXPECT_TRUE(consistent(c, b.cols));
      EXPECT_EQ(map_text(c.method), map_text(moved.factor().method));
      EXPECT_EQ(c.times.factor, 0) << "it was there";
      EXPECT_LT(general_error(a.view(), b.view(), x.view(), transposed), tolerance_of(n));
    }
  }
}

TEST(GeneralSolverTest, FollowsItsOptions) {
  const Dense<double> a = gallery_matrix(Kind::randn, 80, 1), b = gaussian_columns(80, 1);
  SolveOptions options = with_map("bf16x2");
  options.transposed = true;
  stepwell::Solver solver(a.view(), options, Structure::general);
  Dense<double> x(80, 1), y(80, 1);
  EXPECT_TRUE(solver.solve(b.view(), x.view()).ok());
  EXPECT_LT(general_error(a.view(), b.view(), x.view(), true), tolerance_of(80));
  EXPECT_TRUE(solver.solve_transposed(b.view(), y.view()).ok());
  EXPECT_TRUE(same_bits(x.view(), y.view()));
}

TEST(GeneralSolverTest, KeepsTheBetterFactorAfterAClimb) {
  const Dense<double> a = gallery_matrix(Kind::general_geometric, 300, 1e9);
  const Dense<double> b = gaussian_columns(300, 1);
  stepwell::Solver solver(a.view(), with_map("bf16"), Structure::general);
  ASSERT_TRUE(solver.factor().ok()) << solver.factor().reason;
  Dense<double> x(300, 1);
  const Certificate first = solver.solve(b.view(), x.view());
  ASSERT_TRUE(first.ok()) << first.reason;
  EXPECT_NE(map_text(first.method), "bf16");
  const Certificate second = solver.solve_transposed(b.view(), x.view());
  ASSERT_TRUE(second.ok()) << second.reason;
  EXPECT_EQ(map_text(second.method), map_text(first.method));
  EXPECT_EQ(second.rungs.size(), 1u);
  EXPECT_EQ(second.times.factor, 0);
}

TEST(GeneralSolverTest, SaysWhyThereIsNoFactor) {
  for (const char* const map : {"default", "bf16"}) {
    Dense<double> a = gallery_matrix(Kind::positive_arithmetic, 200, 10);
    for (std::int64_t i = 0; i < 200; ++i) a(i, 70) = 0;
    stepwell::Solver solver(a.view(), with_map(map), Structure::general);
    EXPECT_EQ(solver.factor().outcome, SolveOutcome::singular);
    EXPECT_EQ(solver.factor().pivot, 70);
    const Dense<double> b = gaussian_columns(200, 2);
    Dense<double> x(b);
    const Certificate c = solver.solve(b.view(), x.view());
    EXPECT_EQ(c.outcome, SolveOutcome::singular) << c.reason;
    EXPECT_EQ(c.pivot, 70);
    EXPECT_TRUE(same_bits(x.view(), b.view())) << "x was written";
  }
}

TEST(GeneralColumns, OfManyAreAsGoodAsOne) {
  for (const auto& [n, map] : std::vector<std::pair<std::int64_t, const char*>>{
           {50, "default"}, {120, "bf16x2"}, {1600, "default"}}) {
    const Dense<double> a = gallery_matrix(Kind::positive_logarithmic, n, 100);
    const Dense<double> b = gaussian_columns(n, 150);
    const Solved s = solve_general(a, b, with_map(map));
    ASSERT_TRUE(s.certificate.ok()) << s.certificate.reason;
    EXPECT_EQ(s.certificate.columns.size(), 150u);
    EXPECT_LT(general_error(a.view(), b.view(), s.x.view()), tolerance_of(n));
    Dense<double> in_place(b);
    const Certificate c =
        stepwell::solve_general(a.view(), in_place.view(), in_place.view(), with_map(map));
    EXPECT_TRUE(c.ok()) << c.reason;
    EXPECT_TRUE(same_bits(in_place.view(), s.x.view()));
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
