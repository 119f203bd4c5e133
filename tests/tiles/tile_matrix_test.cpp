// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "kernels/fixture/fixture.hpp"
#include "stepwell/error.hpp"
#include "tiles/operations.hpp"
#include "tiles/tile_matrix.hpp"

/// The position of tiles in memory, and copies of their elements.
namespace stepwell::tiles::test {
namespace {

using kernels::test::Dense;
using kernels::test::Random;

TEST(TileMatrixTest, TakesNSquaredBytesAtBf16) {
  for (const std::int64_t n : {512, 2048, 5120}) {
    const RungMap map({n, 512}, uniform(Rung::bf16));
    EXPECT_EQ(tile_matrix_bytes(map), n * n + 512 * n);
    EXPECT_EQ(TileMatrix(map).bytes(), n * n + 512 * n);
  }
  EXPECT_EQ(TileMatrix(RungMap({0, 512}, uniform(Rung::bf16))).bytes(), 0);
}

void expect_apart_and_aligned(TileOrder order) {
  for (const char* text : {"bf16", "fp32", "fp64", "bf16,bf16x2,bf16x3,fp16,fp32,fp64"}) {
    const TileMatrix l(RungMap({400, 32}, parse_map(text)), {}, 0, order);
    const Grid& grid = l.grid();
    std::int64_t bytes = 0;
    const auto each = [&](auto&& f) {
      for (std::int64_t j = 0; j < grid.tiles(); ++j) {
        for (std::int64_t i = j; i < grid.tiles(); ++i) f(l.tile(i, j), grid.index(i, j));
      }
    };
    each([&](const Tile& tile, std::int64_t index) {
      std::memset(tile.data, static_cast<int>(index % 251), tile.shape.bytes());
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tile.data) % 64, 0U);
      EXPECT_EQ(tile.shape.bytes() % 64, 0);
      bytes += tile.shape.bytes();
    });
    EXPECT_EQ(l.bytes(), bytes);
    EXPECT_EQ(l.bytes(), tile_matrix_bytes(l.map()));
    each([&](const Tile& tile, std::int64_t index) {  // no tile overlaps another
      for (std::int64_t b = 0; b < tile.shape.bytes(); ++b) {
        ASSERT_EQ(tile.data[b], static_cast<std::byte>(index % 251)) << text;
      }
    });
  }
}

TEST(TileMatrixTest, KeepsTilesApartAndAligned) {
  expect_apart_and_aligned(TileOrder::by_columns);
  expect_apart_and_aligned(TileOrder::by_rows);
}

TEST(TileMatrixTest, HasItsRowsInOnePiece) {
  const RungMap map({400, 32}, parse_map("bf16,bf16x2,bf16x3,fp16,fp32,fp64"));
  const TileMatrix l(map, {}, 0, TileOrder::by_rows);
  for (std::int64_t i = 0; i < l.grid().tiles(); ++i) {
    const auto row = l.row(i, i + 1);
    EXPECT_EQ(std::ssize(row), row_bytes(map, i, i + 1));
    for (std::int64_t k = 0; k <= i; ++k) {
      EXPECT_EQ(l.tile(i, k).data, row.data() + row_bytes(map, i, k)) << i << ", " << k;
    }
  }
  EXPECT_THROW(TileMatrix(map).row(3, 2), Error);
}

/// From no rows, within the last tile, to its end, beyond it, and back; stored in either order.
TEST(TileMatrixTest, ResizesItsRows) {
  for (const TileOrder order : {TileOrder::by_columns, TileOrder::by_rows}) {
    TileMatrix l(RungMap({0, 32}, uniform(Rung::fp64)), {}, 0, order);
    std::int64_t n = 0;
    for (const std::int64_t now : {5, 20, 32, 33, 100, 128, 300, 301, 290, 96, 70, 1, 0, 200}) {
      l.resize(now);
      ASSERT_EQ(l.grid().n, now);
      std::int64_t bytes = 0;
      for (std::int64_t i = 0; i < l.grid().tiles(); ++i) {
        for (std::int64_t j = 0; j <= i; ++j) {
          const MatrixView<double> tile = l.tile(i, j).fp64();
          bytes += l.tile(i, j).shape.bytes();
          for (std::int64_t c = 0; c < tile.cols; ++c) {
            for (std::int64_t r = 0; r < tile.rows; ++r) {
              const std::int64_t row = i * 32 + r, column = j * 32 + c;
              const auto value = static_cast<double>(1000 * row + column);
              if (row < n && column <= row) {
                ASSERT_EQ(tile(r, c), value) << row << ' ' << column;
              }
              tile(r, c) = value;
            }
          }
        }
      }
      EXPECT_GE(l.bytes(), bytes);
      n = now;
    }
  }
}

TEST(TileMatrixTest, GivesTilesTheirShapes) {
  const RungMap map({100, 32}, parse_map("bf16,fp32"));
  const TileMatrix l(map);
  EXPECT_EQ(l.tile(3, 0).shape.rows, 4);
  EXPECT_EQ(l.tile(3, 0).shape.cols, 32);
  EXPECT_EQ(l.tile(3, 0).shape.rung, Rung::bf16);
  EXPECT_EQ(l.tile(3, 3).shape.cols, 4);
  EXPECT_EQ(l.tile(3, 3).shape.rung, Rung::fp32);
}

class CopyTest : public ::testing::TestWithParam<Rung> {};
INSTANTIATE_TEST_SUITE_P(Tiles, CopyTest, ::testing::ValuesIn(mixable_rungs),
                         [](const auto& p) { return std::string(to_string(p.param)); });

/// The value of x after it is stored at a rung.
double stored(double x, Rung rung) {
  if (rung == Rung::fp64) return x;
  if (rung == Rung::fp32) return static_cast<float>(x);
  return core::join(core::split(x, rung));
}

TEST_P(CopyTest, GivesBackEveryElementScaled) {
  const Rung rung = GetParam();
  Random random(3);
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {32, 32}, {45, 33}}) {
    const Dense<double> x = kernels::test::gaussian(m, n, random);
    const TileShape shape{rung, m, n};
    const core::Buffer<std::byte> memory(shape.bytes());
    const Tile tile{shape, memory.data()};
    if (shape.is_packed()) kernels::pack(kernels::table(), rung, x.view(), tile.packed());
    for (std::int64_t j = 0; j < n && !shape.is_packed(); ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        if (rung == Rung::fp64) tile.fp64()(i, j) = x(i, j);
        if (rung == Rung::fp32) tile.fp32()(i, j) = static_cast<float>(x(i, j));
      }
    }
    std::vector<double> row(m), col(n);
    for (double& r : row) r = std::ldexp(1.0, static_cast<int>(random.integer(-300, 300)));
    for (double& c : col) c = std::ldexp(1.0, static_cast<int>(random.integer(-300, 300)));
    const double* const none = nullptr;
    for (const bool scaled : {false, true}) {
      kernels::test::Guarded<double> out(m, n, 7, 1);
      copy_tile(kernels::table(), tile, {scaled ? row.data() : none, scaled ? col.data() : none},
                out.view());
      EXPECT_TRUE(out.untouched_outside());
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < m; ++i) {
          const double factor = scaled ? row[i] * col[j] : 1;
          ASSERT_EQ(out(i, j), stored(x(i, j), rung) * factor) << i << ", " << j;
        }
      }
    }
  }
}

// ---- load_tile

class LoadTest : public ::testing::TestWithParam<Rung> {};
INSTANTIATE_TEST_SUITE_P(Tiles, LoadTest, ::testing::Values(Rung::bf16, Rung::fp32, Rung::fp64),
                         [](const auto& p) { return std::string(to_string(p.param)); });

TEST_P(LoadTest, ScalesShiftsAndScans) {
  const std::int64_t n = 37;
  Random random(4);
  kernels::test::Guarded<double> a(n, n, 5, 3, std::nan(""));
  a.fill([&](auto, auto) { return random.gaussian(); }, Shape::lower);
  std::vector<double> scale(n);
  for (double& s : scale) s = std::ldexp(1.0, static_cast<int>(random.integer(-20, 20)));
  const double factor = 1 + 3 * 0x1p-8;
  const Sums shape{GetParam(), n, n, nullptr};
  const core::Buffer<std::byte> memory(shape.bytes());
  const Sums sums{GetParam(), n, n, memory.data()};
  kernels::Scan scan;
  load_tile(kernels::table(), a.view(), Shape::lower, {scale.data(), scale.data()}, factor, sums,
            scan);
  double largest = 0, squares = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      const double scaled = scale[i] * a(i, j) * scale[j] * (i == j ? factor : 1);
      const double got = sums.wide() ? sums.fp64()(i, j) : sums.fp32()(i, j);
      ASSERT_EQ(got, sums.wide() ? scaled : static_cast<float>(scaled)) << i << ", " << j;
      largest = std::max(largest, std::abs(a(i, j)));
      squares += a(i, j) * a(i, j);
    }
    for (std::int64_t i = 0; i < j; ++i) {  // not written above the diagonal
      ASSERT_EQ(sums.wide() ? sums.fp64()(i, j) : sums.fp32()(i, j), 0);
    }
  }
  EXPECT_EQ(scan.max_abs, largest);  // of A itself, unscaled and unshifted
  EXPECT_LE(std::abs(scan.mid / squares - 1), n * n * kernels::test::kU64);
  EXPECT_EQ(scan.non_finite, 0);
}

TEST_P(LoadTest, ReadsAFullTileAndFindsWhatIsNotFinite) {
  Dense<double> a = Dense<double>::generate(20, 33, [] { return 2.0; });
  a(5, 7) = std::nan("");
  a(3, 9) = HUGE_VAL;
  const Sums shape{GetParam(), 20, 33, nullptr};
  const core::Buffer<std::byte> memory(shape.bytes());
  const Sums sums{GetParam(), 20, 33, memory.data()};
  kernels::Scan scan;
  load_tile(kernels::table(), a.view(), Shape::full, {}, 3, sums, scan);
  EXPECT_EQ(scan.non_finite, 2);
  EXPECT_EQ(scan.bad_row, 5);
  EXPECT_EQ(scan.bad_col, 7);
  EXPECT_EQ(sums.wide() ? sums.fp64()(0, 0) : sums.fp32()(0, 0), 2);  // no diagonal, no shift
  EXPECT_EQ(sums.wide() ? sums.fp64()(19, 32) : sums.fp32()(19, 32), 2);
}

}  // namespace
}  // namespace stepwell::tiles::test
