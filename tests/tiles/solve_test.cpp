// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "tiles/fixture.hpp"

/// The factor of a diagonal tile and solves with it, against FP64 products of the stored values.
namespace stepwell::tiles::test {
namespace {

Dense<double> well_conditioned(std::int64_t n, Random& random) {
  const double deviation = 0.5 / std::sqrt(static_cast<double>(n));
  Dense<double> a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      a(i, j) = (i == j ? 2 : 0) + deviation * random.gaussian();
    }
  }
  return a;
}

/// || got - A B' ||_F / || |A| |B|' ||_F, in the lower triangle if 'shape' is lower.
double product_residual(const Dense<double>& got, const Dense<double>& a, const Dense<double>& b,
                        Shape shape) {
  const auto product = kernels::test::exact_product(a, b);
  double error = 0, norm = 0;
  for (std::int64_t j = 0; j < got.cols; ++j) {
    for (std::int64_t i = shape == Shape::lower ? j : 0; i < got.rows; ++i) {
      error += std::pow(got(i, j) - product.value(i, j), 2);
      norm += std::pow(product.magnitude(i, j), 2);
    }
  }
  return std::sqrt(error / norm);
}

/// As in the tests of the factorization: 8 u for the roundings (condition number below 3), and v
/// for each of n additions.
double solve_error(Rung a, Rung b, std::int64_t n) {
  const Rung rung = coarser(a, b);
  const double v = rung == Rung::fp64 ? kU64 : kU32;
  return 8 * (info(rung).unit_roundoff + info(rung).product_error) + static_cast<double>(n + 8) * v;
}

/// A factored diagonal tile with everything that solves need.
struct Diagonal {
  Stored l;
  core::Buffer<std::byte> inverse_memory;
  Inverse inverse;
  Held before_rounding;
  Pivot pivot;
};

/// With every form of the inverse, or only with the one that solves at the tile's rung use.
enum class Forms { all, own };
Diagonal factor(const Dense<double>& a, Rung rung, Rounding rounding, Forms forms = Forms::all) {
  const std::int64_t n = a.rows;
  Diagonal d;
  const TileShape shape{rung, n, n};
  d.l.memory = core::Buffer<std::byte>(shape.bytes());
  d.l.tile = {shape, d.l.memory.data()};
  d.inverse = {Rung::fp64, n, 3, true, nullptr};
  if (forms == Forms::own) d.inverse = {rung, n, info(rung).planes, rung == Rung::fp32, nullptr};
  d.inverse_memory = core::Buffer<std::byte>(d.inverse.bytes());
  d.inverse.data = d.inverse_memory.data();
  d.before_rounding = hold(a, rung);
  const Scratch scratch(scratch_bytes(n));
  d.pivot = factor_diagonal(kernels::table(), d.before_rounding.sums, kernels::uniform_layers(rung),
                            rounding, d.l.tile, d.inverse, scratch.data());
  EXPECT_TRUE(scratch.zones_untouched());
  if (d.pivot.ok()) d.l.value = values_of(d.l.tile);
  return d;
}

class PerRung : public ::testing::TestWithParam<Rung> {};
INSTANTIATE_TEST_SUITE_P(Tiles, PerRung, ::testing::ValuesIn(mixable_rungs),
                         [](const auto& p) { return std::string(to_string(p.param)); });

TEST_P(PerRung, DiagonalTilesAreFactored) {
  const Rung rung = GetParam();
  Random random(8);
  for (const std::int64_t n : {1, 2, 31, 64, 65, 128, 130, 200, 300}) {
    for (const Rounding rounding : {Rounding::nearest, Rounding::toward_zero}) {
      const Dense<double> a = well_conditioned(n, random);
      const Diagonal d = factor(a, rung, rounding);
      ASSERT_TRUE(d.pivot.ok());
      const double error = product_residual(a, d.l.value, d.l.value, Shape::lower);
      EXPECT_LT(error / (2 * solve_error(rung, rung, n)), 1) << n;
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < j; ++i) ASSERT_EQ(d.l.value(i, j), 0) << i << ", " << j;
      }
    }
  }
}

// The sums of an unpacked tile may be its own storage, and the inverse may be omitted.
TEST_P(PerRung, PlainDiagonalTilesAreFactoredInPlace) {
  const Rung rung = GetParam();
  if (info(rung).planes > 0) GTEST_SKIP() << "packed";
  Random random(14);
  for (const std::int64_t n : {1, 31, 100, 200}) {
    const Dense<double> a = well_conditioned(n, random);
    const Dense<double> expected = factor(a, rung, Rounding::nearest).l.value;
    const Stored tile = store(a, rung);
    const Scratch scratch(scratch_bytes(n));
    ASSERT_TRUE(factor_diagonal(kernels::table(), sums_in(tile.tile), kernels::uniform_layers(rung),
                                Rounding::nearest, tile.tile, {}, scratch.data())
                    .ok());
    EXPECT_TRUE(scratch.zones_untouched());
    EXPECT_EQ(values_of(tile.tile).data, expected.data);
  }
}

TEST_P(PerRung, DiagonalTilesStopAtABadPivot) {
  Random random(9);
  for (const std::int64_t pivot : {0, 1, 63, 64, 99}) {
    for (const double value : {0.0, -3.0, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}) {
      Dense<double> a = well_conditioned(100, random);
      a(pivot, pivot) = value;
      EXPECT_EQ(factor(a, GetParam(), Rounding::nearest).pivot.index, pivot) << value;
    }
  }
}

TEST_P(PerRung, InversesOfStoredTilesSolveLikeTheFactorizationsOwn) {
  const Rung rung = GetParam();
  Random random(10);
  const Diagonal d = factor(well_conditioned(150, random), rung, Rounding::nearest);
  const core::Buffer<std::byte> memory(d.inverse.bytes());
  Inverse again = d.inverse;
  again.data = memory.data();
  const Scratch scratch(scratch_bytes(150) + 150 * 150 * 8);
  invert_stored(kernels::table(), d.l.tile, again, scratch.data());
  // L was rounded before: W = L^-1 differs by as much, times its condition number (below 3).
  const double bound = 8 * info(rung).unit_roundoff + 158 * kU32;
  EXPECT_TRUE(kernels::test::within(
      again.w32(), [&](auto i, auto j) { return d.inverse.w32()(i, j); },
      [&](auto, auto) { return bound; }, Shape::lower));
}

class SolveTest : public ::testing::TestWithParam<std::tuple<Rung, Rung>> {};
INSTANTIATE_TEST_SUITE_P(Tiles, SolveTest,
                         ::testing::Combine(::testing::ValuesIn(mixable_rungs),
                                            ::testing::ValuesIn(mixable_rungs)),
                         [](const auto& p) {
                           return std::string(to_string(std::get<0>(p.param))) + "_below_" +
                                  std::string(to_string(std::get<1>(p.param)));
                         });

TEST_P(SolveTest, TilesBelowAreSolvedWithTheDiagonalOne) {
  const auto [rung, diagonal_rung] = GetParam();
  Random random(11);
  for (const std::int64_t n : {1, 33, 128, 130, 300}) {
    const Diagonal d = factor(well_conditioned(n, random), diagonal_rung, Rounding::nearest,
                              rung == diagonal_rung ? Forms::own : Forms::all);
    for (const std::int64_t m : {1, 45, 130}) {
      for (const Rounding rounding : {Rounding::nearest, Rounding::toward_zero}) {
        const Held b = hold(kernels::test::gaussian(m, n, random), rung);
        const Dense<double> right_side = copy_of(b);
        const TileShape shape{rung, m, n};
        const core::Buffer<std::byte> memory(shape.bytes());
        const Tile x{shape, memory.data()};
        const Scratch scratch(scratch_bytes(std::max(m, n)));
        solve_tile(kernels::table(), d.inverse, b.sums, rounding, x, scratch.data());
        EXPECT_TRUE(scratch.zones_untouched());
        const double error = product_residual(right_side, values_of(x), d.l.value, Shape::full);
        EXPECT_LT(error / (2 * solve_error(rung, diagonal_rung, n)), 1) << m << " x " << n;
      }
    }
  }
}

// ---- rounding toward zero

/// Below this fp16 has an absolute spacing, and truncate() counts significant bits only.
double smallest_truncated(Rung rung) {
  return rung == Rung::fp16 ? info(Format::fp16).smallest_normal : 0;
}

void expect_toward_zero(const Dense<double>& stored, const Dense<double>& exact, Rung rung,
                        Shape shape) {
  const double u = info(rung).unit_roundoff;
  std::int64_t cut = 0;
  for (std::int64_t j = 0; j < exact.cols; ++j) {
    for (std::int64_t i = shape == Shape::lower ? j : 0; i < exact.rows; ++i) {
      if (std::abs(exact(i, j)) < smallest_truncated(rung)) continue;
      ASSERT_LE(std::abs(stored(i, j)), std::abs(exact(i, j)));
      ASSERT_GE(stored(i, j) / exact(i, j), 1 - 2 * u);
      cut += stored(i, j) != exact(i, j) ? 1 : 0;
    }
  }
  EXPECT_EQ(cut > 0, u > kU32);
}

// One block column of a diagonal tile only: later ones depend on how the earlier ones were rounded.
TEST_P(PerRung, FactorsAreRoundedTowardZeroWhenAsked) {
  const Rung rung = GetParam();
  if (rung == Rung::fp64) GTEST_SKIP() << "nothing is rounded";
  Random random(12);
  const Dense<double> a = well_conditioned(64, random);
  const Diagonal nearest = factor(a, rung, Rounding::nearest);
  const Diagonal cut = factor(a, rung, Rounding::toward_zero);
  expect_toward_zero(cut.l.value, copy_of(nearest.before_rounding), rung, Shape::lower);

  const Dense<double> right_side = kernels::test::gaussian(70, 64, random);
  const Held exact = hold(right_side, rung), held = hold(right_side, rung);
  const TileShape shape{rung, 70, 64};
  const core::Buffer<std::byte> memory(shape.bytes());
  const Tile x{shape, memory.data()};
  const Scratch scratch(scratch_bytes(70));
  solve_tile(kernels::table(), nearest.inverse, exact.sums, Rounding::nearest, x, scratch.data());
  solve_tile(kernels::table(), nearest.inverse, held.sums, Rounding::toward_zero, x,
             scratch.data());
  expect_toward_zero(values_of(x), copy_of(exact), rung, Shape::full);
}

TEST_P(PerRung, TruncatedElementsArePackedWithoutRounding) {
  const Rung rung = GetParam();
  Random random(13);
  Dense<float> x = Dense<float>::generate(50, 50, [&] { return random.wide(); });
  const Dense<float> before(x);
  kernels::truncate(x.view(), rung, Shape::lower);
  for (std::int64_t j = 0; j < 50; ++j) {
    for (std::int64_t i = 0; i < 50; ++i) {
      const double number = x(i, j);
      ASSERT_TRUE(i >= j || number == before(i, j));
      if (i < j || std::abs(number) < smallest_truncated(rung)) continue;
      ASSERT_LE(std::abs(number), std::abs(before(i, j)));
      ASSERT_EQ(info(rung).planes > 0 ? core::join(core::split(number, rung)) : number, number);
    }
  }
}

}  // namespace
}  // namespace stepwell::tiles::test
