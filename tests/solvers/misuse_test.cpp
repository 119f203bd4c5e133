// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "solvers/fixture.hpp"

/// Misuse is refused with an error that says what is wrong; unusual but valid arguments work.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

class Misuse : public ::testing::Test {
 protected:
  std::string message(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> x,
                      const SolveOptions& options = {}) {
    return message_of(ErrorCode::invalid_argument, [&] { (void)solve_spd(a, b, x, options); });
  }
  std::int64_t n_ = 50;
  Dense<double> a_ = gallery_matrix(Kind::dominant, n_, 1);
  Dense<double> b_ = gaussian_columns(n_, 4);
  Dense<double> x_{n_, 4};
};

TEST_F(Misuse, OfShapesIsRefused) {
  EXPECT_NE(message(a_.view().block(0, 0, n_, n_ - 1), b_.view(), x_.view()), "");
  EXPECT_NE(message(a_.view(), b_.view().block(0, 0, n_ - 1, 4), x_.view()), "");
  EXPECT_NE(message(a_.view(), b_.view(), x_.view().block(0, 0, n_, 3)), "");
  EXPECT_NE(message(a_.view(), b_.view(), x_.view().block(0, 0, n_ - 1, 4)), "");
}

TEST_F(Misuse, OfViewsIsRefused) {
  const MatrixView<const double> a = a_.view(), b = b_.view();
  const MatrixView<double> x = x_.view();
  EXPECT_NE(message({a.data, n_, n_, n_ - 1}, b, x), "");
  EXPECT_NE(message(a, {b.data, n_, 4, n_ - 1}, x), "");
  EXPECT_NE(message(a, b, {x.data, n_, 4, 0}), "");
  EXPECT_NE(message({nullptr, n_, n_, n_}, b, x), "");
  EXPECT_NE(message(a, {nullptr, n_, 4, n_}, x), "");
  EXPECT_NE(message(a, b, {nullptr, n_, 4, n_}), "");
  EXPECT_NE(message({a.data, -1, -1, 1}, {b.data, -1, 4, 1}, {x.data, -1, 4, 1}), "");
  EXPECT_NE(message(a, {b.data, n_, -1, n_}, {x.data, n_, -1, n_}), "");
}

TEST_F(Misuse, OfOptionsIsRefused) {
  for (const double tolerance :
       {-1e-16, 1.0, 2.0, HUGE_VAL, -HUGE_VAL, std::numeric_limits<double>::quiet_NaN()}) {
    SolveOptions options;
    options.tolerance = tolerance;
    EXPECT_NE(message(a_.view(), b_.view(), x_.view(), options), "") << tolerance;
  }
  SolveOptions iterations;
  iterations.refine.iterations = -1;
  EXPECT_NE(message(a_.view(), b_.view(), x_.view(), iterations), "");
  for (const Format format : {Format::bf16, Format::fp16}) {
    SolveOptions working;
    working.refine.working = format;
    EXPECT_NE(message(a_.view(), b_.view(), x_.view(), working), "");
  }
  SolveOptions tile = with_map("bf16");
  tile.tile = 33;
  EXPECT_NE(message(a_.view(), b_.view(), x_.view(), tile), "");
  EXPECT_NE(message_of(ErrorCode::invalid_argument, [] { (void)plan_spd(-1, 1); }), "");
  EXPECT_NE(message_of(ErrorCode::invalid_argument, [] { (void)plan_spd(10, -1); }), "");
}

TEST_F(Misuse, OfOverlapIsRefused) {
  // A followed by b in one array.
  std::vector<double> memory(static_cast<std::size_t>(n_ * n_ + 8 * n_));
  std::copy(a_.data.begin(), a_.data.end(), memory.begin());
  const auto a = view<const double>(memory.data(), n_, n_);
  double* const after = memory.data() + n_ * n_;
  std::copy(b_.data.begin(), b_.data.end(), after + n_);
  const auto b = view<const double>(after + n_, n_, 4);
  EXPECT_NE(message(a, b, view(memory.data(), n_, 4)), "") << "in A";
  EXPECT_NE(message(a, b, view(after - 1, n_, 4)), "") << "A's last element";
  EXPECT_NE(message(a, b, view(after + 1, n_, 4)), "") << "shifted against b";
  EXPECT_NE(message(a, b, view(after + 2 * n_, n_, 4)), "") << "b's second column";
  EXPECT_NE(message(a, view<const double>(after + n_, n_, 2, 2 * n_), view(after + n_, n_, 2)), "")
      << "another leading dimension";
  EXPECT_TRUE(std::equal(a_.data.begin(), a_.data.end(), memory.begin())) << "A is as it was";
  EXPECT_TRUE(std::equal(b_.data.begin(), b_.data.end(), after + n_)) << "b is as it was";
}

TEST(Corners, XMayBeB) {
  for (const auto& [n, map] : std::vector<std::pair<std::int64_t, const char*>>{
           {1, "default"}, {50, "default"}, {50, "bf16"}, {1000, "default"}}) {
    for (const std::int64_t columns : {1, 3, 70}) {
      if (n == 1000 && columns == 70) continue;
      const Dense<double> a = gallery_matrix(Kind::geometric, n, 100);
      const Dense<double> b = gaussian_columns(n, columns);
      const Solved expected = solve(a, b, with_map(map));
      Dense<double> x(b);
      const Certificate c = solve_spd(a.view(), x.view(), x.view(), with_map(map));
      EXPECT_TRUE(c.ok()) << c.reason;
      EXPECT_TRUE(same_bits(x.view(), expected.x.view())) << n << ", " << columns;
    }
  }
}

TEST(Corners, NothingToSolveIsSolved) {
  for (const char* const map : {"default", "bf16"}) {
    const Dense<double> a = gallery_matrix(Kind::dominant, 10, 1);
    EXPECT_TRUE(solve(a, Dense<double>(10, 0), with_map(map)).certificate.ok());
    Certificate c =
        solve_spd({nullptr, 0, 0, 1}, {nullptr, 0, 3, 1}, {nullptr, 0, 3, 1}, with_map(map));
    EXPECT_TRUE(c.ok());
    EXPECT_EQ(c.columns.size(), 3u);
    c = solve_spd({nullptr, 0, 0, 1}, {nullptr, 0, 0, 1}, {nullptr, 0, 0, 1}, with_map(map));
    EXPECT_TRUE(c.ok());
    EXPECT_EQ(plan_spd(0, 0, with_map(map)).iterations >= 0, true);
  }
}

TEST(Corners, ColumnsWithoutRowsTakeMemoryToo) {
  constexpr std::int64_t many = std::int64_t{1} << 59;
  double nothing = 0;
  try {
    (void)solve_spd(view<const double>(&nothing, 0, 0), view<const double>(&nothing, 0, many),
                    view(&nothing, 0, many));
    FAIL() << "certificates for 2^59 columns";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::out_of_memory) << e.what();
  }
}

TEST(Corners, APlanForWhatCantBeIsRefused) {
  try {
    (void)plan_spd(1'000'000'000, 1);
    FAIL() << "a plan for n = 1e9";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::too_large) << e.what();
  }
}

TEST(Corners, OneUnknownIsADivision) {
  Random random(4);
  for (int k = 0; k < 2000; ++k) {
    Dense<double> a(1, 1), b(1, 1);
    a(0, 0) = std::exp(random.gaussian());
    b(0, 0) = random.gaussian();
    const Solved s = solve(a, b, with_map(k % 2 == 0 ? "default" : "fp32"));
    ASSERT_TRUE(s.certificate.ok()) << a(0, 0) << ", " << b(0, 0) << ": " << s.certificate.reason;
    ASSERT_NEAR(s.x(0, 0), b(0, 0) / a(0, 0), 4 * kU64 * std::abs(s.x(0, 0)));
  }
}

TEST(Corners, TheSmallestSystemsConverge) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const auto n = static_cast<std::int64_t>(2 + seed % 11);
    const Dense<double> a = gallery_matrix(Kind::geometric, n, std::pow(10, seed % 9), seed);
    const Dense<double> b = gaussian_columns(n, 1, seed);
    const Solved s = solve(a, b, with_map(seed % 3 == 0 ? "fp32" : "default"));
    ASSERT_TRUE(s.certificate.ok()) << "seed " << seed << ": " << s.certificate.reason;
    ASSERT_LT(backward_error(a.view(), b.view(), s.x.view()),
              std::sqrt(static_cast<double>(n)) * kU64)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
