// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/tile_filler.hpp"

#include <cmath>
#include <string>

#include "gallery/fixture.hpp"
#include "stepwell/error.hpp"

/// The tiles of the gallery's matrices, against fill().
namespace stepwell::gallery::test {
namespace {

/// The lower triangle, tile by tile, beginning with the last block column.
std::vector<double> by_tiles(std::int64_t n, std::int64_t size, const FillTile& fill) {
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::int64_t col = (n - 1) / size * size; col >= 0; col -= size) {
    for (std::int64_t row = col; row < n; row += size) {
      fill(row, col,
           {a.data() + col * n + row, std::min(size, n - row), std::min(size, n - col), n});
    }
  }
  for (std::int64_t j = 0; j < n; ++j) std::fill_n(a.begin() + j * n, j, 0.0);
  return a;
}

TEST(TileFiller, HasTheBitsOfFillOrErrsByRounding) {
  for (const Kind kind : spd_kinds) {
    for (const std::int64_t n : {1, 7, 64, 100}) {
      SCOPED_TRACE(std::string(to_string(kind)) + " " + std::to_string(n));
      Recipe recipe;
      recipe.kind = kind;
      recipe.sorted = n == 64;
      const Square whole(n, recipe);
      const std::vector<double> a = by_tiles(n, 32, tile_filler(n, recipe));
      // There are six transforms of log2 n additions each, all of norm 1.
      const double u =
          has_spectrum(kind) ? 6 * (std::log2(static_cast<double>(n)) + 4) * 0x1p-52 : 0;
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = j; i < n; ++i) {
          ASSERT_LE(std::abs(a[static_cast<std::size_t>(j * n + i)] - whole(i, j)), u)
              << i << " " << j;
        }
      }
      EXPECT_EQ(by_tiles(n, 5, tile_filler(n, recipe)), a) << "other tiles, other bits";
    }
  }
}

TEST(TileFiller, RefusesWhatHasNoTiles) {
  Recipe recipe;
  recipe.kind = Kind::randn;
  EXPECT_THROW(tile_filler(10, recipe), Error);
  recipe.kind = Kind::matern;
  recipe.length = -1;
  EXPECT_THROW(tile_filler(10, recipe), Error);
  recipe.length = 1;
  EXPECT_THROW(tile_filler(-1, recipe), Error);
}

}  // namespace
}  // namespace stepwell::gallery::test
