// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "factor/cholesky/factor_data.hpp"
#include "factor/fixture.hpp"

/// A = L L' to the accuracy of the map's coarsest rung, at every size, scaling and map.
namespace stepwell::factor::test {
namespace {

const std::vector<std::string> kMaps = {
    "bf16",          "bf16x2",           "bf16x3",           "fp16",           "fp32",
    "fp64",          "bf16,bf16x2,fp32", "bf16,bf16,bf16x2", "fp16,fp32",      "bf16x2,fp64",
    "fp32,fp64",     "bf16x3,fp32,fp64", "bf16,fp16,bf16x3", "bf16,fp32,fp64", "adaptive:1e-3",
    "adaptive:1e-6", "adaptive:1e-12",   "int8x14",          "int8x15"};

class EveryMap : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Factor, EveryMap, ::testing::ValuesIn(kMaps), [](const auto& p) {
  std::string name = p.param;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
});

TEST_P(EveryMap, FactorsToItsRoundoffAtEverySizeAroundATile) {
  for (const std::int64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 130, 500, 700}) {
    const Dense<double> a = well_conditioned(n, static_cast<std::uint64_t>(n));
    const Factor factor = factor_of(a, options_for(GetParam()));
    ASSERT_EQ(factor.order(), n);
    ASSERT_EQ(factor.report().attempts.size(), 1U) << n;
    const double error = residual(a, lower_factor(factor));
    EXPECT_LT(error / residual_bound(factor.report(), n), 1) << n << ": " << error;
    // If the map had not been used, the error would be smaller than the diagonal's rounding.
    const double u = info(FactorData::of(factor).l.map().at(0, 0)).unit_roundoff;
    EXPECT_GT(error / u, n < 127 ? -1 : 1.0 / 64) << n << ": " << error;
  }
}

// 22 tiles: rows with more than one chunk of contributions, and tiles smaller than a leaf.
TEST_P(EveryMap, FactorsManySmallTiles) {
  const Dense<double> a = well_conditioned(700);
  const Factor factor = factor_of(a, options_for(GetParam(), 32));
  EXPECT_LT(residual(a, lower_factor(factor)) / residual_bound(factor.report(), 700), 1);
}

TEST_P(EveryMap, FactorsLargeTiles) {
  const std::int64_t n = kSanitized ? 600 : 1600;
  const Dense<double> a = well_conditioned(n);
  const Factor factor = factor_of(a, options_for(GetParam(), 512));
  EXPECT_LT(residual(a, lower_factor(factor)) / residual_bound(factor.report(), n), 1);
}

TEST_P(EveryMap, WritesZerosAboveTheDiagonal) {
  const Factor factor = factor_of(well_conditioned(200), options_for(GetParam()));
  ASSERT_TRUE(factor.ok());
  kernels::test::Guarded<double> l(200, 200, 13);
  factor.copy_to(l.view());
  for (std::int64_t j = 0; j < 200; ++j) {
    EXPECT_GT(l(j, j), 0) << j;
    for (std::int64_t i = 0; i < j; ++i) ASSERT_EQ(l(i, j), 0) << i << ", " << j;
  }
  EXPECT_TRUE(l.untouched_outside());
}

TEST_P(EveryMap, FactorsNothing) {
  const Factor factor = factor_of(Dense<double>(0, 0), options_for(GetParam()));
  EXPECT_TRUE(factor.ok());
  EXPECT_EQ(factor.order(), 0);
  EXPECT_EQ(factor.report().bytes, 0);
  EXPECT_EQ(factor.report().norm, 0);
  factor.copy_to({nullptr, 0, 0, 1});
}

TEST_P(EveryMap, TakesEveryScaling) {
  const std::int64_t n = 300;
  const Dense<double> a = well_conditioned(n);
  for (const Scaling scaling : {Scaling::powers_of_two, Scaling::unit_diagonal, Scaling::none}) {
    FactorOptions options = options_for(GetParam());
    options.cholesky.scaling = scaling;
    const Factor factor = factor_of(a, options);
    const bool residues = GetParam().starts_with("int8");
    EXPECT_EQ(factor.report().scaling, residues ? Scaling::powers_of_two : scaling);
    EXPECT_LT(residual(a, lower_factor(factor)) / residual_bound(factor.report(), n), 1);
  }
}

// D A D with D from 1e-150 to 1e150: errors relative to sqrt(a_ii a_jj) do not grow.
TEST_P(EveryMap, IsAsAccurateForEntriesFrom1em300To1e300) {
  const std::int64_t n = 300;
  const Dense<double> plain = well_conditioned(n);
  std::vector<double> d(n);
  for (std::int64_t i = 0; i < n; ++i) {
    d[i] = std::pow(10.0, -150 + 300 * static_cast<double>(i * 97 % n) / (n - 1));
  }
  Dense<double> a(plain);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = d[i] * plain(i, j) * d[j];
  }
  for (const Scaling scaling : {Scaling::powers_of_two, Scaling::unit_diagonal}) {
    FactorOptions options = options_for(GetParam());
    options.cholesky.scaling = scaling;
    const Factor factor = factor_of(a, options);
    ASSERT_TRUE(factor.ok());
    EXPECT_EQ(factor.report().attempts.size(), 1U);
    EXPECT_TRUE(std::isfinite(factor.report().norm));
    Dense<double> l = lower_factor(factor);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) l(i, j) /= d[i];
    }
    EXPECT_LT(residual(plain, l) / residual_bound(factor.report(), n), 1);
  }
}

TEST_P(EveryMap, ReportsTheNormAndTheLargestElement) {
  const std::int64_t n = 130;
  const Dense<double> a = well_conditioned(n);
  const Factor factor = factor_of(a, options_for(GetParam()));
  double squares = 0, largest = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      squares += (i == j ? 1 : 2) * a(i, j) * a(i, j);
      largest = std::max(largest, std::abs(a(i, j)));
    }
  }
  EXPECT_EQ(factor.report().max_abs, largest);
  EXPECT_LT(std::abs(factor.report().norm / std::sqrt(squares) - 1) / (n * n * kU64), 1);
}

double error_of(const Dense<double>& a, const std::string& map) {
  return residual(a, lower_factor(factor_of(a, options_for(map))));
}

TEST(FactorMaps, OrderRungsByTheirError) {
  const Dense<double> a = well_conditioned(500);
  const double bf16 = error_of(a, "bf16"), fp16 = error_of(a, "fp16"), x2 = error_of(a, "bf16x2"),
               x3 = error_of(a, "bf16x3"), fp32 = error_of(a, "fp32"), fp64 = error_of(a, "fp64");
  // The ratios of the unit roundoffs are 8, 32, 256 and 2^29.
  EXPECT_GT(bf16 / fp16, 4);
  EXPECT_GT(fp16 / x2, 16);
  EXPECT_GT(x2 / x3, 16);  // here the sums of 500 terms in fp32 matter
  EXPECT_GT(x3 / fp64, 0x1p25);
  EXPECT_GT(fp32 / fp64, 0x1p25);
}

TEST(FactorMaps, PutLayersBetweenTheirNeighbours) {
  const Dense<double> a = well_conditioned(500);
  const std::vector<std::string> maps = {"bf16", "bf16,bf16,bf16,fp32", "bf16,bf16,fp32",
                                         "bf16,fp32", "fp32"};
  for (std::size_t m = 0; m + 1 < maps.size(); ++m) {
    EXPECT_GT(error_of(a, maps[m]), error_of(a, maps[m + 1])) << maps[m];
  }
  EXPECT_GT(error_of(a, "fp32"), error_of(a, "fp32,fp64"));
  EXPECT_GT(error_of(a, "fp32,fp64"), error_of(a, "fp64"));
}

// Off-diagonal tiles finer than the diagonal one make the factor neither more nor less accurate.
TEST(FactorMaps, TakeLayersInAnyOrder) {
  const std::int64_t n = 500;
  const Dense<double> a = well_conditioned(n);
  for (const Rung first : mixable_rungs) {
    for (const Rung last : mixable_rungs) {
      const std::string map = std::string(to_string(first)) + "," + std::string(to_string(last));
      const Factor factor = factor_of(a, options_for(map));
      ASSERT_TRUE(factor.ok()) << map;
      EXPECT_EQ(factor.report().attempts.size(), 1U) << map;
      EXPECT_LT(residual(a, lower_factor(factor)) / residual_bound(factor.report(), n), 1) << map;
    }
  }
}

// The reported unit roundoff is that of the arithmetic, also if the matrix is a single tile that
// contains all layers except the last.
TEST(FactorMaps, ReportTheRoundoffOfTheCoarsestProducts) {
  const std::int64_t n = 500;
  const Dense<double> a = well_conditioned(n);
  for (const char* map : {"bf16,fp64", "bf16,bf16x2,fp32", "fp32,fp64", "fp16,fp64"}) {
    for (const std::int64_t tile : {512, 256, 128}) {
      const Factor factor = factor_of(a, options_for(map, tile));
      const double error = residual(a, lower_factor(factor));
      EXPECT_LT(error / residual_bound(factor.report(), n), 1) << map << ", tile " << tile;
      EXPECT_GT(error / factor.report().unit_roundoff, 1.0 / 256) << map << ", tile " << tile;
    }
  }
}

// The rule's error budget for narrowing A is eps ||H||_F; for a matrix with condition number 3 the
// factorization amplifies it at most 8 times.
TEST(FactorMaps, KeepAnAdaptiveMapsPromise) {
  const std::int64_t n = 700;
  Dense<double> a = well_conditioned(n);
  for (std::int64_t j = 0; j < n; ++j) {  // off-diagonal tiles of many magnitudes
    for (std::int64_t i = j + 1; i < n; ++i) a(i, j) *= std::exp2(-(i / 64 - j / 64) * 4.0);
  }
  double previous = 1;
  for (const double eps : {1e-2, 1e-4, 1e-6, 1e-9, 1e-13}) {
    FactorOptions options = options_for("bf16");
    options.map.eps = eps;
    const Factor factor = factor_of(a, options);
    const double error = residual(a, lower_factor(factor));
    EXPECT_LT(error / (8 * eps + 708 * kU64), 1) << eps << ": " << error;
    EXPECT_LE(error, previous);
    previous = error;
    EXPECT_EQ(factor.report().map, options.map);
  }
}

TEST(FactorMaps, CountTilesByRung) {
  const Factor factor = factor_of(well_conditioned(500), options_for("bf16,bf16x2,fp32"));
  const auto& tiles = factor.report().tiles;  // 8 x 8 tiles: 4 x 4, then twice 2 x 2
  EXPECT_EQ(tiles[static_cast<std::size_t>(Rung::bf16)], 16);
  EXPECT_EQ(tiles[static_cast<std::size_t>(Rung::bf16x2)], 8);
  EXPECT_EQ(tiles[static_cast<std::size_t>(Rung::fp32)], 12);
  EXPECT_EQ(tiles[static_cast<std::size_t>(Rung::fp64)], 0);
  EXPECT_EQ(to_string(factor.report().map), "bf16,bf16x2,fp32");
}

}  // namespace
}  // namespace stepwell::factor::test
