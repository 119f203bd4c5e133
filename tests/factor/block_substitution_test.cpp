// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/triangular/block_substitution.hpp"

#include "factor/cholesky/factor_data.hpp"
#include "factor/fixture.hpp"
#include "factor/triangular/substitution.hpp"
#include "tiles/operations.hpp"

/// Substitution with exact products: a residual of the order of u ||l_i|| ||x||, of which the
/// BLAS's own is no smaller, and the same bits for any number of threads.
namespace stepwell::factor::test {
namespace {

using kernels::test::same_bits;

const tiles::TileMatrix& tiles_of(const Factor& factor) {
  return FactorData::of(factor).l;
}

/// The largest |b - L x| / (||l_i|| ||x||) in units of u, or with L'.
double residual_of(const tiles::TileMatrix& tiles, bool transposed, MatrixView<const double> b,
                   MatrixView<const double> x) {
  const tiles::Grid& grid = tiles.grid();
  Dense<double> l(grid.n, grid.n);
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      const MatrixView<const double> tile = tiles::TileIn(tiles.tile(i, j)).fp64();
      for (std::int64_t c = 0; c < tile.cols; ++c) {
        for (std::int64_t r = i == j ? c : 0; r < tile.rows; ++r) {
          l(i * grid.tile + r, j * grid.tile + c) = tile(r, c);
        }
      }
    }
  }
  double worst = 0;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    long double size_x = 0;
    for (std::int64_t k = 0; k < grid.n; ++k) size_x += static_cast<long double>(x(k, c)) * x(k, c);
    for (std::int64_t i = 0; i < grid.n; ++i) {
      long double rest = b(i, c), size_l = 0;
      for (std::int64_t k = 0; k < grid.n; ++k) {
        const long double element = transposed ? l(k, i) : l(i, k);
        rest -= element * x(k, c);
        size_l += element * element;
      }
      const auto ratio = static_cast<double>(std::fabs(rest) / std::sqrt(size_l * size_x) / kU64);
      if (!(ratio <= worst)) worst = ratio;
    }
  }
  return worst;
}

class BlockSubstitution : public ::testing::TestWithParam<const char*> {
 protected:
  Dense<double> matrix(std::int64_t n) const {
    const std::string kind = GetParam();
    return kind == "well" ? symmetric_copy(well_conditioned(n)) : geometric(n, 1e10);
  }
};
INSTANTIATE_TEST_SUITE_P(Factor, BlockSubstitution, ::testing::Values("well", "geometric"));

TEST_P(BlockSubstitution, HasASmallResidualAndTheSameBitsForAnyNumberOfThreads) {
  for (const auto& [n, tile, columns] :
       {std::tuple{64, 64, 5}, {65, 64, 33}, {200, 64, 40}, {330, 96, 64}, {321, 32, 130}}) {
    const Factor factor = factor_of(matrix(n), options_for("fp64", tile));
    ASSERT_TRUE(factor.ok());
    const tiles::TileMatrix& l = tiles_of(factor);
    Random random(7);
    Dense<double> b(n, columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      const double size = std::pow(10.0, 5 * random.gaussian());
      for (std::int64_t i = 0; i < n; ++i) b(i, c) = size * random.gaussian();
    }
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(std::to_string(n) + (transposed ? " transposed" : ""));
      Dense<double> x(b);
      engine::ThreadPool alone(1);
      substitute_blocks(alone, block_triangle(l, transposed), x.view(), Products::exact);
      // Rounding to fixed point, 0.8 sqrt(n) for each level of the recursion, and FP64 inside a
      // tile. Errors add up like a random walk; all in one direction they would be n.
      const double bound = 2 * std::sqrt(static_cast<double>(n));
      const double ratio = residual_of(l, transposed, b.view(), x.view());
      EXPECT_TRUE(ratio <= bound) << ratio << ", allowed " << bound;
      for (const int threads : {2, 3, 8}) {
        engine::ThreadPool pool(threads);
        Dense<double> again(b);
        substitute_blocks(pool, block_triangle(l, transposed), again.view(), Products::exact);
        EXPECT_TRUE(same_bits(again.view(), x.view())) << threads << " threads";
      }
    }
  }
}

TEST(BlockSubstitutionOfBadColumns, ANaNStaysInItsColumn) {
  const std::int64_t n = 200;
  const Factor factor = factor_of(well_conditioned(n), options_for("fp64", 64));
  Random random(8);
  const Dense<double> good = kernels::test::gaussian(n, 6, random);
  Dense<double> x(good), bad(good);
  bad(3, 2) = std::numeric_limits<double>::quiet_NaN();
  bad(100, 4) = std::numeric_limits<double>::infinity();
  const BlockTriangle l = block_triangle(tiles_of(factor), false);
  engine::ThreadPool pool(2);
  substitute_blocks(pool, l, x.view(), Products::exact);
  substitute_blocks(pool, l, bad.view(), Products::exact);
  for (std::int64_t c = 0; c < 6; ++c) {
    if (c == 2 || c == 4) continue;
    EXPECT_TRUE(same_bits(bad.view().block(0, c, n, 1), x.view().block(0, c, n, 1))) << c;
  }
  for (std::int64_t i = 130; i < n; ++i) {
    EXPECT_FALSE(std::isfinite(bad(i, 2)));
    EXPECT_FALSE(std::isfinite(bad(i, 4)));
  }
}

}  // namespace
}  // namespace stepwell::factor::test
