// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "solvers/fixture.hpp"

/// (s A, t b) takes the same path as (A, b), bit by bit, for powers of two s and t; and the bits
/// are the same for any number of threads.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

Dense<double> times(const Dense<double>& x, int power) {
  Dense<double> y(x);
  for (double& e : y.data) e = std::ldexp(e, power);
  return y;
}

/// The same path, and x with the same bits up to the power of two.
void expect_same(const Solved& got, const Solved& expected, int power) {
  EXPECT_EQ(got.certificate.outcome, expected.certificate.outcome);
  EXPECT_EQ(got.certificate.iterations, expected.certificate.iterations);
  EXPECT_EQ(map_text(got.certificate.method), map_text(expected.certificate.method));
  EXPECT_EQ(got.certificate.backward_error, expected.certificate.backward_error);
  EXPECT_EQ(got.certificate.shift, expected.certificate.shift);
  ASSERT_EQ(got.certificate.rungs.size(), expected.certificate.rungs.size());
  for (std::size_t k = 0; k < got.certificate.rungs.size(); ++k) {
    EXPECT_EQ(map_text(got.certificate.rungs[k].method),
              map_text(expected.certificate.rungs[k].method));
    EXPECT_EQ(got.certificate.rungs[k].iterations, expected.certificate.rungs[k].iterations);
    EXPECT_EQ(got.certificate.rungs[k].reason, expected.certificate.rungs[k].reason);
  }
  for (std::size_t c = 0; c < got.certificate.columns.size(); ++c) {
    EXPECT_EQ(got.certificate.columns[c].history, expected.certificate.columns[c].history);
  }
  EXPECT_TRUE(same_bits(got.x.view(), times(expected.x, power).view()));
}

struct Case {
  const char* map;
  std::int64_t n;
  Kind kind;
  double condition;
  Refiner refiner = Refiner::cg;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.map << ", " << gallery::to_string(c.kind) << " n " << c.n << " condition "
       << c.condition << ", " << to_string(c.refiner);
}

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"default", 3, Kind::geometric, 1e3},
      {"default", 100, Kind::geometric, 1e6},
      {"default", 300, Kind::matern, 0},
      {"bf16", 130, Kind::geometric, 1e2},
      {"bf16", 130, Kind::geometric, 1e7},
      {"fp16", 200, Kind::arithmetic, 1e4},
      {"bf16x2", 200, Kind::geometric, 1e8},
      {"bf16x3", 100, Kind::geometric, 1e12},
      {"fp32", 150, Kind::logarithmic, 1e6},
      {"adaptive:1e-4", 200, Kind::matern, 0},
      {"bf16,bf16x2,fp32", 260, Kind::dominant, 0},
  };
  for (const Refiner refiner : all_refiners) {
    all.push_back({"bf16", 90, Kind::geometric, 1e3, refiner});
  }
  if (!kSanitized) {
    all.push_back({"default", 1100, Kind::geometric, 1e2});
    all.push_back({"default", 1100, Kind::arithmetic, 1e1});
    all.push_back({"default", 1000, Kind::logarithmic, 1e9});
  }
  return all;
}

class ScaleFree : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Solve, ScaleFree, ::testing::ValuesIn(cases()));

TEST_P(ScaleFree, TakesTheSamePathToTheSameBits) {
  const Case& c = GetParam();
  const Dense<double> a = gallery_matrix(c.kind, c.n, c.condition > 0 ? c.condition : 1, 5);
  const Dense<double> b = gaussian_columns(c.n, 2);
  SolveOptions options = with_map(c.map);
  options.refine.refiner = c.refiner;
  const Solved expected = solve(a, b, options);
  EXPECT_TRUE(expected.certificate.ok()) << expected.certificate.reason;
  std::vector<std::pair<int, int>> powers = {{1, 0},       {0, 1},     {-1, -1},     {-301, 77},
                                             {-900, -901}, {899, 801}, {-141, -139}, {128, -30}};
  if (c.n > 500) powers.resize(3);
  for (const auto& [s, t] : powers) {
    SCOPED_TRACE(testing::Message() << "A 2^" << s << ", b 2^" << t);
    expect_same(solve(times(a, s), times(b, t), options), expected, t - s);
  }
}

// For the first of these scales LAPACK's dsposv returns NaN and success.
TEST(Scale, OfADominantMatrixDoesNotMatter) {
  const std::int64_t n = 300;
  const Dense<double> base = gallery_matrix(Kind::dominant, n, 1);
  for (const auto& [of_a, of_b] : std::vector<std::pair<double, double>>{
           {1e-42, 1}, {1e-20, 1e22}, {1e39, 1}, {1e-50, 1}, {1e-300, 1}, {1e300, 1}}) {
    for (const char* const map : {"default", "bf16", "fp16", "bf16x2", "bf16x3", "fp32", "fp64"}) {
      SCOPED_TRACE(testing::Message() << "A " << of_a << ", b " << of_b << ", " << map);
      Dense<double> a(base), b(n, 1);
      for (double& e : a.data) e *= of_a;
      std::fill(b.data.begin(), b.data.end(), of_b);
      const Solved s = solve(a, b, with_map(map));
      EXPECT_TRUE(s.certificate.ok()) << s.certificate.reason;
      EXPECT_LT(backward_error(a.view(), b.view(), s.x.view()),
                std::sqrt(static_cast<double>(n)) * kU64);
    }
  }
}

class Threads : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Solve, Threads,
    ::testing::Values(Case{"default", kSanitized ? 1030 : 2100, Kind::geometric, 1e2},
                      Case{"default", 1100, Kind::arithmetic, 1e1},
                      Case{"default", kSanitized ? 1030 : 1500, Kind::logarithmic, 1e6},
                      Case{"bf16", 1200, Kind::geometric, 1e2},
                      Case{"bf16x2", 1030, Kind::geometric, 1e4, Refiner::gmres},
                      Case{"bf16,bf16x2,fp32", 1500, Kind::dominant, 1},
                      Case{"adaptive:1e-4", 1100, Kind::matern, 1}));

/// Scaling by powers of two keeps exact square roots exact.
TEST(Scale, PowersOfFourAreSolvedExactly) {
  for (const std::int64_t n : {1, 5, 40, 700}) {
    for (const double d : {1.0, 2.0, 4.0, 0x1p-600}) {
      Dense<double> a(n, n);
      for (std::int64_t i = 0; i < n; ++i) a(i, i) = i % 3 == 0 ? d : 16 * d;
      const Dense<double> b = gaussian_columns(n, 1);
      const Solved s = solve(a, b, {});
      ASSERT_TRUE(s.certificate.ok()) << s.certificate.reason;
      for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(s.x(i, 0), b(i, 0) / a(i, i));
    }
  }
}

TEST_P(Threads, DoNotChangeTheBits) {
  const Case& c = GetParam();
  const Dense<double> a = gallery_matrix(c.kind, c.n, c.condition, 6);
  const Dense<double> b = gaussian_columns(c.n, 3);
  SolveOptions options = with_map(c.map);
  options.refine.refiner = c.refiner;
  options.condition = options.prove = true;
  std::optional<Solved> expected;
  for (int threads = 1; threads <= (kSanitized ? 2 : 4); ++threads) {
    SCOPED_TRACE(threads);
    Context context(threads);
    options.engine.context = &context;
    const Solved s = solve(a, b, options);
    EXPECT_TRUE(s.certificate.ok()) << s.certificate.reason;
    if (!expected) expected = s;
    expect_same(s, *expected, 0);
    EXPECT_EQ(s.certificate.condition, expected->certificate.condition);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(s.certificate.columns[k].proven_backward_error,
                expected->certificate.columns[k].proven_backward_error);
    }
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
