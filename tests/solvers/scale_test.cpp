// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "solvers/fixture.hpp"

/// (s A, t b) takes the same path as (A, b), bit by bit, for powers of two s and t; and the bits
/// are the same for any number of threads.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

struct SpdCase {
  const char* map;
  std::int64_t n;
  Kind kind;
  double condition;
  Refiner refiner = Refiner::cg;
};
void PrintTo(const SpdCase& c, std::ostream* out) {
  *out << c.map << ", " << gallery::to_string(c.kind) << " n " << c.n << " condition "
       << c.condition << ", " << to_string(c.refiner);
}

std::vector<SpdCase> spd_cases() {
  std::vector<SpdCase> all = {
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

class ScaleFree : public ::testing::TestWithParam<SpdCase> {};
INSTANTIATE_TEST_SUITE_P(Solve, ScaleFree, ::testing::ValuesIn(spd_cases()));

TEST_P(ScaleFree, TakesTheSamePathToTheSameBits) {
  const SpdCase& c = GetParam();
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
    expect_same_path(solve(times(a, s), times(b, t), options), expected, t - s);
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

class Threads : public ::testing::TestWithParam<SpdCase> {};
INSTANTIATE_TEST_SUITE_P(
    Solve, Threads,
    ::testing::Values(SpdCase{"default", kSanitized ? 1030 : 2100, Kind::geometric, 1e2},
                      SpdCase{"default", 1100, Kind::arithmetic, 1e1},
                      SpdCase{"default", kSanitized ? 1030 : 1500, Kind::logarithmic, 1e6},
                      SpdCase{"bf16", 1200, Kind::geometric, 1e2},
                      SpdCase{"bf16x2", 1030, Kind::geometric, 1e4, Refiner::gmres},
                      SpdCase{"bf16,bf16x2,fp32", 1500, Kind::dominant, 1},
                      SpdCase{"adaptive:1e-4", 1100, Kind::matern, 1}));

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
  const SpdCase& c = GetParam();
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
    expect_same_path(s, *expected, 0);
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
