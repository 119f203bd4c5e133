// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "factor/cholesky/factor_data.hpp"
#include "factor/fixture.hpp"

/// Scaling: the scale of A does not matter, fp16 stays in its range, and the shift is applied as
/// the report says.
namespace stepwell::factor::test {
namespace {

Dense<double> times(const Dense<double>& a, double s) {
  Dense<double> scaled(a);
  for (double& x : scaled.data) x *= s;
  return scaled;
}

class ScaleFree : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Factor, ScaleFree,
                         ::testing::Values("bf16", "fp16", "fp32", "fp64", "bf16,bf16x2,fp32",
                                           "adaptive:1e-5"));

TEST_P(ScaleFree, GivesTheSameBitsForPowersOfTwo) {
  const Dense<double> a = well_conditioned(200);
  const Factor plain = factor_of(a, options_for(GetParam()));
  for (const int exponent : {-901, -900, -300, -2, -1, 1, 2, 77, 100, 899, 900}) {
    const Factor scaled = factor_of(times(a, std::ldexp(1.0, exponent)), options_for(GetParam()));
    EXPECT_EQ(FactorData::of(scaled).scale.row, FactorData::of(plain).scale.row);
    EXPECT_EQ(std::ldexp(FactorData::of(scaled).scale.gain, exponent),
              FactorData::of(plain).scale.gain);
    EXPECT_TRUE(same_tiles(scaled, plain)) << exponent;
    EXPECT_EQ(scaled.report().attempts.size(), plain.report().attempts.size());
    EXPECT_EQ(scaled.report().mu, plain.report().mu);
    EXPECT_EQ(scaled.report().tiles, plain.report().tiles);
    EXPECT_EQ(std::ldexp(plain.report().norm, exponent), scaled.report().norm);
    EXPECT_EQ(std::ldexp(plain.report().max_abs, exponent), scaled.report().max_abs);
    // Unscaled, L contains a factor sqrt(2) for odd powers.
    const Dense<double> l = times(lower_factor(scaled), std::sqrt(std::ldexp(1.0, -exponent)));
    EXPECT_LT(residual(a, l) / (residual_bound(plain.report(), 200) + 4 * kU64), 1) << exponent;
  }
}

TEST_P(ScaleFree, TakesSubnormalMatrices) {
  const Dense<double> a = well_conditioned(100);
  const double s = 0x1p-1040;  // leaves 34 bits of elements about 1, and 27 of those about 1/100
  const Factor factor = factor_of(times(a, s), options_for(GetParam()));
  const Dense<double> l = times(lower_factor(factor), 0x1p520);
  EXPECT_LT(residual(a, l) / (residual_bound(factor.report(), 100) + 0x1p-26), 1);
}

// An odd power would bring a factor sqrt(2), and its rounding error, into L.
TEST(FixedPointScale, GivesTheSameBitsForPowersOfFour) {
  const Dense<double> a = well_conditioned(200);
  const Dense<double> l = lower_factor(factor_of(a, options_for("int8x14")));
  for (const int half : {-500, -450, -1, 1, 50, 450, 510}) {
    const Factor scaled = factor_of(times(a, std::ldexp(1.0, 2 * half)), options_for("int8x14"));
    EXPECT_TRUE(kernels::test::same_bits(times(lower_factor(scaled), std::ldexp(1.0, -half)).view(),
                                         l.view()))
        << half;
  }
}

TEST(FixedPointScale, GivesTheSameBitsForPowersOfTwoIfTheGainTakesTheOddOnes) {
  const Dense<double> a = well_conditioned(150);
  const auto factor_times = [&](int power) {
    const Dense<double> scaled = times(a, std::ldexp(1.0, power));
    return cholesky_of(scaled.view(), read_diagonal(scaled.view()), options_for("int8x14"),
                       OddPowers::in_the_gain);
  };
  const Factor plain = factor_times(0);
  for (const int power : {-901, -2, -1, 1, 2, 3, 900}) {
    const Factor scaled = factor_times(power);
    EXPECT_TRUE(same_tiles(scaled, plain)) << power;
    const Dense<double> l = times(lower_factor(scaled), std::sqrt(std::ldexp(1.0, -power)));
    EXPECT_LT(residual(a, l) / (residual_bound(plain.report(), 150) + 4 * kU64), 1) << power;
  }
}

TEST(FixedPointScale, BringsEveryDiagonalElementIntoTheRange) {
  for (const double x : {0x1p-1074, 3e-310, 1e-300, 0.41, 0.42, 0.43, 1.0, 1.68, 1.69, 2.0, 1e300,
                         0x1.fffffffffffffp+1023, -5.0}) {
    const Diagonal diagonal = diagonal_of({x});
    const double h = std::abs(scaled_diagonal(diagonal, fixed_point_scale(diagonal), 1)[0]);
    EXPECT_LE(h, kernels::kLargestDiagonal) << x;
    EXPECT_GT(h, kernels::kLargestDiagonal / 4) << x;
  }
  EXPECT_EQ(fixed_point_scale(diagonal_of({0.0})).row[0], 1);
}

TEST(FixedPointScale, TakesSubnormalMatrices) {
  const Dense<double> a = well_conditioned(100);
  const Factor factor = factor_of(times(a, 0x1p-1040), options_for("int8x14"));
  const Dense<double> l = times(lower_factor(factor), 0x1p520);
  EXPECT_LT(residual(a, l) / (residual_bound(factor.report(), 100) + 0x1p-26), 1);
}

/// The largest element of L as it is stored, before the scaling is undone.
double largest_stored(const Factor& factor) {
  const Dense<double> l = lower_factor(factor);
  double largest = 0;
  for (std::int64_t j = 0; j < l.cols; ++j) {
    for (std::int64_t i = j; i < l.rows; ++i) {
      const Scale& scale = FactorData::of(factor).scale;
      largest = std::max(largest, std::abs(l(i, j)) * scale.row[i] * std::sqrt(scale.gain));
    }
  }
  return largest;
}

TEST(FactorMu, IsAPowerOfTwoThatKeepsFp16InItsRange) {
  const double fp16_largest = info(Format::fp16).largest;
  for (const double size : {1e-30, 1e-6, 1.0, 1e4, 1e30}) {
    for (const Scaling scaling : {Scaling::powers_of_two, Scaling::unit_diagonal, Scaling::none}) {
      for (const double theta : {0.01, 0.1, 1.0}) {
        const Dense<double> a = times(well_conditioned(200), size);
        FactorOptions options = options_for("fp16");
        options.cholesky.scaling = scaling;
        options.theta = theta;
        const Factor factor = factor_of(a, options);
        const double mu = factor.report().mu;
        int exponent = 0;
        EXPECT_EQ(std::frexp(mu, &exponent), 0.5);
        EXPECT_EQ(factor.report().attempts.size(), 1U);
        EXPECT_LT(residual(a, lower_factor(factor)) / residual_bound(factor.report(), 200), 1);
        // l_ij^2 <= mu h_ii <= theta xmax, and mu is within a factor of two of its limit.
        const double square = largest_stored(factor) * largest_stored(factor);
        EXPECT_LE(square * (1 - 0x1p-10), theta * fp16_largest) << size << " " << theta;
        EXPECT_GT(square, theta * fp16_largest / 8) << size << " " << theta;
      }
    }
  }
}

TEST(FactorMu, IsOneWithoutFp16) {
  for (const char* map : {"bf16", "bf16x2", "fp32", "fp64", "bf16,fp32"}) {
    EXPECT_EQ(factor_of(well_conditioned(100), options_for(map)).report().mu, 1) << map;
  }
}

TEST(FactorShift, MultipliesTheDiagonalByOnePlusCu) {
  const std::int64_t n = 200;
  const Dense<double> a = well_conditioned(n);
  for (const char* map : {"bf16", "bf16x2", "fp16", "fp64", "bf16,fp32"}) {
    FactorOptions options = options_for(map);
    options.cholesky.shift = 100;
    const Factor factor = factor_of(a, options);
    const FactorReport& report = factor.report();
    EXPECT_EQ(report.shift, 100);
    EXPECT_EQ(report.attempts.at(0).shift, 100);
    Dense<double> shifted(a);
    for (std::int64_t i = 0; i < n; ++i) shifted(i, i) *= 1 + 100 * report.unit_roundoff;
    EXPECT_LT(residual(shifted, lower_factor(factor)) / residual_bound(report, n), 1) << map;
  }
}

TEST(FactorScaling, MakesAUnitDiagonal) {
  const std::int64_t n = 100;
  Dense<double> a = well_conditioned(n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) a(i, j) *= (1 + i % 3) * (1 + j % 3);
  }
  FactorOptions options = options_for("fp64");
  options.cholesky.scaling = Scaling::unit_diagonal;
  const Factor unit = factor_of(a, options);
  options.cholesky.scaling = Scaling::powers_of_two;
  const Factor powers = factor_of(a, options);
  options.cholesky.scaling = Scaling::none;
  const Factor none = factor_of(a, options);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto h = [&](const Factor& f) {
      return FactorData::of(f).scale.row[i] * a(i, i) * FactorData::of(f).scale.col[i];
    };
    EXPECT_LE(std::abs(h(unit) - 1), 4 * kU64);
    EXPECT_GE(h(powers), 1);
    EXPECT_LT(h(powers), 4);
    int exponent = 0;
    EXPECT_EQ(std::frexp(FactorData::of(powers).scale.row[i], &exponent), 0.5);
    EXPECT_EQ(FactorData::of(none).scale.row[i], 1);
  }
}

}  // namespace
}  // namespace stepwell::factor::test
