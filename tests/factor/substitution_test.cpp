// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/triangular/substitution.hpp"

#include "factor/cholesky/factor_data.hpp"
#include "factor/fixture.hpp"
#include "tiles/operations.hpp"

/// Substitution with the tiles of a factor: the backward error is within the bound for the values
/// that the tiles represent, and the bits are the same for any number of threads.
namespace stepwell::factor::test {
namespace {

using kernels::test::Guarded;
using kernels::test::kRoundoff;
using kernels::test::same_bits;

/// L as it is stored, in the factor's scale.
Dense<double> stored(const Factor& factor) {
  const tiles::TileMatrix& tiles = FactorData::of(factor).l;
  const tiles::Grid& grid = tiles.grid();
  Dense<double> l(factor.order(), factor.order());
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      tiles::copy_tile(kernels::table(), tiles.tile(i, j), {},
                       l.view().block(i * grid.tile, j * grid.tile, grid.size(i), grid.size(j)));
    }
  }
  for (std::int64_t j = 0; j < l.cols; ++j) std::fill_n(&l.data[j * l.rows], j, 0.0);
  return l;
}

/// |b - L L'x| <= 2 (n + 4) u |L| |L'| |x|, element-wise: two substitutions (Higham 2002, Theorem
/// 8.5), and two roundings for the terms of an element of L.
template <class V>
::testing::AssertionResult solves(const Dense<double>& l, MatrixView<const V> b,
                                  MatrixView<const V> x) {
  const std::int64_t n = l.rows;
  const long double factor = 2 * static_cast<long double>(n + 4) * kRoundoff<V>;
  for (std::int64_t c = 0; c < x.cols; ++c) {
    std::vector<long double> w(n), size(n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) {
        w[j] += static_cast<long double>(l(i, j)) * x(i, c);
        size[j] += std::abs(static_cast<long double>(l(i, j)) * x(i, c));
      }
    }
    std::vector<long double> residual(n), bound(n);
    for (std::int64_t i = 0; i < n; ++i) residual[i] = b(i, c);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) {
        residual[i] -= l(i, j) * w[j];
        bound[i] += factor * std::abs(l(i, j)) * size[j];
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      if (!(std::abs(residual[i]) <= bound[i])) {
        return ::testing::AssertionFailure()
               << "(" << i << ", " << c << "): off by " << residual[i] << ", allowed " << bound[i];
      }
    }
  }
  return ::testing::AssertionSuccess();
}

/// Right-hand sides with padded columns, surrounded by sentinels.
template <class V>
Guarded<V> right_hand_sides(std::int64_t n, std::int64_t r, Random& random) {
  Guarded<V> x(n, r, 3, 1);
  x.fill([&](auto, auto) { return random.gaussian(); });
  return x;
}

template <class V>
void check(const Factor& factor, const Dense<double>& l, std::int64_t r) {
  Random random(static_cast<std::uint64_t>(r));
  engine::ThreadPool alone(1);
  const auto x = right_hand_sides<V>(factor.order(), r, random);
  Dense<V> b(factor.order(), r);
  for (std::int64_t c = 0; c < r; ++c) std::copy_n(x.view().column(c), b.rows, b.view().column(c));
  substitute<V>(alone, FactorData::of(factor).l, FactorData::of(factor).l, x.view());
  ASSERT_TRUE(solves<V>(l, b.view(), x.view())) << r << " columns of " << sizeof(V) << " bytes";
  ASSERT_TRUE(x.untouched_outside());
  for (const int threads : {2, 3, 4}) {
    engine::ThreadPool pool(threads);
    for (int run = 0; run < 3; ++run) {
      Dense<V> again(b);
      substitute<V>(pool, FactorData::of(factor).l, FactorData::of(factor).l, again.view());
      ASSERT_TRUE(same_bits(again.view(), x.view())) << threads << " threads";
    }
  }
}

class Substitution : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Factor, Substitution,
                         ::testing::Values("bf16", "bf16x2", "bf16x3", "fp16", "fp32", "fp64",
                                           "int8x14", "bf16,bf16x2,fp32", "bf16,fp64",
                                           "fp16,fp32,fp64", "adaptive:1e-3"));

TEST_P(Substitution, IsStableAndHasTheSameBitsForAnyNumberOfThreads) {
  for (const std::int64_t n : {1, 2, 31, 63, 64, 65, 127, 128, 129, 200, 321}) {
    SCOPED_TRACE(n);
    const Factor factor = factor_of(well_conditioned(n), options_for(GetParam()));
    ASSERT_TRUE(factor.ok());
    const Dense<double> l = stored(factor);
    const bool narrow = !FactorData::of(factor).l.map().uses(Rung::fp64);
    for (const std::int64_t r : {1, 2, 17}) {
      if (narrow) check<float>(factor, l, r);
      check<double>(factor, l, r);
      if (HasFailure()) return;
    }
  }
}

TEST_P(Substitution, OfNoColumnsDoesNothing) {
  const Factor factor = factor_of(well_conditioned(70), options_for(GetParam()));
  engine::ThreadPool pool(2);
  substitute<double>(pool, FactorData::of(factor).l, FactorData::of(factor).l,
                     view<double>(nullptr, 70, 0));
}

// The default tile size and one that is not a multiple of a part, several tiles, and pools that are
// used repeatedly; with many threads the next block is divided.
TEST(SubstitutionAtFullSize, HasTheSameBitsForAnyNumberOfThreads) {
  const std::int64_t n = kernels::test::kSanitized ? 1100 : 2100;
  for (const auto& [map, tile] :
       {std::pair{"bf16", 0}, {"fp64", 0}, {"bf16x2", 320}, {"bf16,bf16x2,fp32", 192}}) {
    const Factor factor = factor_of(well_conditioned(n), options_for(map, tile));
    const tiles::TileMatrix& l = FactorData::of(factor).l;
    Random random(3);
    const Dense<double> b = kernels::test::gaussian(n, 2, random);
    Dense<double> expected(b);
    engine::ThreadPool alone(1);
    substitute<double>(alone, l, l, expected.view());
    for (const int threads : {2, 4, 9}) {
      engine::ThreadPool pool(threads);
      for (int run = 0; run < 5; ++run) {
        Dense<double> x(b);
        substitute<double>(pool, l, l, x.view());
        ASSERT_TRUE(same_bits(x.view(), expected.view())) << map << ", " << threads;
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::factor::test
