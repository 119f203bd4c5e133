// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/level3.hpp"

#include <cmath>
#include <limits>

#include "factor/fixture.hpp"

/// C <- beta C + alpha A A' and B <- B L^-T are accurate to the map's rungs, element-wise, and have
/// the same bits for any number of workers.
namespace stepwell::factor::test {
namespace {

using kernels::Shape;
using kernels::test::exact_product;
using kernels::test::gaussian;
using kernels::test::Guarded;
using kernels::test::Product;
using kernels::test::same_bits;
using kernels::test::within;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Level3Options options_of(const std::string& map, Context* context = nullptr) {
  Level3Options options;
  options.map = parse_map(map);
  options.tile = 64;
  options.engine.context = context;
  return options;
}

/// The error of a product of k terms relative to the sum of their magnitudes: both operands are
/// rounded, the rung drops some products, sums of k terms are in fp32 or fp64, and the test's own
/// sum is in fp64.
double product_error(const PrecisionMap& map, std::int64_t k) {
  double worst = 0;
  for (const Rung rung : map.layers) {
    const double v = rung == Rung::fp64 || rung == Rung::int8x14 ? kU64 : kU32;
    const auto terms = static_cast<double>(std::max(1, info(rung).products) * k + 8);
    worst = std::max(worst, 2.1 * info(rung).unit_roundoff + info(rung).product_error + terms * v);
  }
  return worst + static_cast<double>(k) * kU64;
}

class EachMap : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Level3, EachMap,
                         ::testing::Values("bf16", "bf16x2", "bf16x3", "fp16", "fp32", "fp64",
                                           "bf16,bf16x2,fp32", "fp16,fp64", "fp32,fp64",
                                           "bf16,fp16", "fp64,bf16", "int8x14"),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::replace(name.begin(), name.end(), ',', '_');
                           return name;
                         });

TEST_P(EachMap, SyrkIsAsAccurateAsItsRungs) {
  Random random(1);
  for (const auto& [n, k] :
       {std::pair{1, 1}, {5, 200}, {64, 64}, {130, 65}, {300, 700}, {200, 1}}) {
    const Dense<double> a = gaussian(n, k, random);
    const Product p = exact_product(a, a);
    for (const double beta : {0.0, -0.5}) {
      const Guarded<double> c(n, n, 3);
      c.fill([&](auto i, auto j) { return beta == 0 ? kInfinity : i + 0.25 * j; }, Shape::lower);
      const auto before = [&](auto i, auto j) { return beta == 0 ? 0 : beta * (i + 0.25 * j); };
      const Level3Report report = syrk(1.5, a.view(), beta, c.view(), options_of(GetParam()));
      EXPECT_FALSE(report.cancelled);
      const double error = product_error(parse_map(GetParam()), k);
      EXPECT_TRUE(within(
          c.view(), [&](auto i, auto j) { return before(i, j) + 1.5 * p.value(i, j); },
          [&](auto i, auto j) {
            return 1.5 * error * p.magnitude(i, j) + 4 * kU64 * std::abs(before(i, j));
          },
          Shape::lower))
          << n << " x " << k;
      EXPECT_TRUE(c.untouched_outside(Shape::lower));
    }
  }
}

TEST_P(EachMap, SyrkAcceptsElementsFarOutsideTheNarrowFormats) {
  Random random(2);
  const Dense<double> a = gaussian(100, 90, random);
  const Product p = exact_product(a, a);
  for (const double scale : {0x1p-500, 0x1p-100, 0x1p-20, 0x1p20, 0x1p100, 0x1p500}) {
    Dense<double> scaled = a;
    for (double& x : scaled.data) x *= scale;
    const Guarded<double> c(100, 100);
    (void)syrk(1, scaled.view(), 0, c.view(), options_of(GetParam()));
    EXPECT_TRUE(within(
        c.view(), [&](auto i, auto j) { return p.value(i, j) * scale * scale; },
        [&](auto i, auto j) {
          return product_error(parse_map(GetParam()), 90) * p.magnitude(i, j) * scale * scale;
        },
        Shape::lower))
        << scale;
  }
}

TEST_P(EachMap, TrsmIsAsAccurateAsItsRungs) {
  const std::int64_t n = 300;
  const Factor factor = factor_of(well_conditioned(n), options_for(GetParam()));
  const Dense<double> l = lower_factor(factor);
  Random random(3);
  for (const std::int64_t m : {1, 63, 130}) {
    const Dense<double> b = gaussian(m, n, random);
    const Guarded<double> x(m, n, 5);
    // Rows of very different magnitudes: each is solved in its own scale.
    const auto size = [](auto i) { return std::ldexp(1.0, static_cast<int>(i % 5 - 2) * 200); };
    x.fill([&](auto i, auto j) { return b(i, j) * size(i); });
    (void)trsm(factor, x.view(), options_of(GetParam()));
    EXPECT_TRUE(x.untouched_outside());
    Dense<double> solution(m, n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) solution(i, j) = x(i, j) / size(i);
    }
    const Product p = exact_product(solution, l);
    // The factor 8 includes the condition number of the inverted blocks, which is below 3.
    const double error = 8 * product_error(parse_map(GetParam()), n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        const double ratio =
            std::abs(p.value(i, j) - b(i, j)) / (error * (p.magnitude(i, j) + std::abs(b(i, j))));
        ASSERT_LT(ratio, 1) << i << ", " << j;
      }
    }
  }
}

TEST_P(EachMap, WorkersGiveTheSameBits) {
  Context one(1), two(2);
  Random random(4);
  const Dense<double> a = gaussian(330, 200, random);
  const Guarded<double> alone(330, 330), together(330, 330);
  (void)syrk(1, a.view(), 0, alone.view(), options_of(GetParam(), &one));
  (void)syrk(1, a.view(), 0, together.view(), options_of(GetParam(), &two));
  EXPECT_TRUE(same_bits(together.view(), alone.view(), Shape::lower));

  const Factor factor = factor_of(well_conditioned(200), options_for(GetParam()));
  const Dense<double> b = gaussian(150, 200, random);
  Dense<double> x1 = b, x2 = b;
  (void)trsm(factor, x1.view(), options_of(GetParam(), &one));
  (void)trsm(factor, x2.view(), options_of(GetParam(), &two));
  EXPECT_TRUE(same_bits(x2.view(), x1.view()));
}

TEST(Level3, AnInfinityOrNanReachesItsRowsAndNoOthers) {
  Random random(5);
  for (const double bad : {kInfinity, -kInfinity, std::nan("")}) {
    for (const char* map : {"bf16", "bf16x2", "bf16x3", "fp16", "fp32", "fp64", "int8x14"}) {
      Dense<double> a = gaussian(150, 80, random);
      a(100, 50) = bad;
      const Guarded<double> c(150, 150);
      (void)syrk(1, a.view(), 0, c.view(), options_of(map));
      for (std::int64_t j = 0; j < 150; ++j) {
        for (std::int64_t i = j; i < 150; ++i) {
          EXPECT_EQ(std::isfinite(c(i, j)), i != 100 && j != 100) << map << ' ' << i << ' ' << j;
        }
      }
    }
  }
}

TEST(Level3, NothingTimesNothingIsBetaTimesC) {
  const Guarded<double> c(70, 70);
  c.fill([](auto i, auto j) { return i - j; }, Shape::lower);
  const Dense<double> a(70, 0);
  (void)syrk(1, a.view(), 2, c.view(), options_of("bf16"));
  EXPECT_TRUE(within(
      c.view(), [](auto i, auto j) { return 2.0 * (i - j); }, [](auto, auto) { return 0.0; },
      Shape::lower));
  EXPECT_FALSE(
      syrk(1, MatrixView<const double>{nullptr, 0, 5, 1}, 0, {nullptr, 0, 0, 1}).cancelled);
  const Factor factor = factor_of(well_conditioned(40), options_for("bf16"));
  EXPECT_FALSE(trsm(factor, {nullptr, 0, 40, 1}).cancelled);
}

TEST(Level3, MisuseIsAnErrorThatSaysWhatToDo) {
  Dense<double> a(10, 20), c(10, 10);
  const auto expect = [](const char* part, const auto& f) {
    const std::string text = message_of(ErrorCode::invalid_argument, f);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect("square", [&] { (void)syrk(1, a.view(), 0, a.view()); });
  expect("leading dimension", [&] { (void)syrk(1, {a.data.data(), 10, 20, 9}, 0, c.view()); });
  expect("no data", [&] { (void)syrk(1, {nullptr, 10, 20, 10}, 0, c.view()); });
  expect("negative", [&] { (void)syrk(1, {a.data.data(), -1, 20, 10}, 0, c.view()); });
  expect("adaptive", [&] { (void)syrk(1, a.view(), 0, c.view(), options_of("adaptive:1e-3")); });
  expect("int8x15", [&] { (void)syrk(1, a.view(), 0, c.view(), options_of("int8x15")); });
  expect("int8x14", [&] { (void)syrk(1, a.view(), 0, c.view(), options_of("bf16,int8x14")); });
  Level3Options odd;
  odd.tile = 33;
  expect("multiple of 32", [&] { (void)syrk(1, a.view(), 0, c.view(), odd); });
  const Factor factor = factor_of(well_conditioned(30), options_for("bf16"));
  expect("30", [&] { (void)trsm(factor, c.view()); });
  expect("did not succeed", [&] {
    Dense<double> zero(30, 30);
    (void)trsm(cholesky(zero.view()), zero.view());
  });
}

TEST(Level3, CanBeCancelledAndCountsItsTasks) {
  Random random(6);
  const Dense<double> a = gaussian(400, 300, random);
  const Factor factor = factor_of(well_conditioned(300), options_for("bf16"));
  for (const char* map : {"bf16", "fp32", "fp64", "int8x14"}) {
    Progress progress;
    Level3Options options = options_of(map);
    options.engine.progress = &progress;
    Dense<double> c(400, 400), b(100, 300);
    EXPECT_FALSE(syrk(1, a.view(), 0, c.view(), options).cancelled);
    EXPECT_EQ(progress.done, progress.total) << map;
    EXPECT_FALSE(trsm(factor, b.view(), options).cancelled);
    EXPECT_EQ(progress.done, progress.total);
    progress.cancel = true;
    EXPECT_TRUE(syrk(1, a.view(), 0, c.view(), options).cancelled);
    EXPECT_TRUE(trsm(factor, b.view(), options).cancelled);
  }
}

}  // namespace
}  // namespace stepwell::factor::test
