// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/fixture.hpp"

/// A sweep against a plain FP64 loop on the values that the tiles represent, for every combination
/// of rungs that can occur in it.
namespace stepwell::tiles::test {
namespace {

/// A copy in rows order with the tile's own planes, or with three planes of an unpacked tile.
struct Rows {
  core::Buffer<std::uint16_t> memory;
  kernels::PackedOut packed;
};
Rows rows_of(TileIn tile) {
  const int planes = tile.shape.is_packed() ? info(tile.shape.rung).planes : 3;
  const std::int64_t elements = kernels::packed_elements(tile.shape.rows, tile.shape.cols, planes);
  Rows rows{core::Buffer<std::uint16_t>(elements), {}};
  rows.packed = kernels::packed(rows.memory.data(), tile.shape.rows, tile.shape.cols,
                                split_rung(planes), Order::rows);
  make_rows(kernels::table(), tile, rows.packed);
  return rows;
}

/// Relative to |C| + |A| |B|': both operands are rounded to the product's rung, some products are
/// dropped, and 'depth' terms are added.
double sweep_error(Rung rung, std::int64_t depth) {
  if (rung == Rung::fp64) return static_cast<double>(depth + 2) * kU64;
  const RungInfo r = info(rung);
  const std::int64_t additions = depth * std::max(r.products, 1) + 2;
  return 2.01 * r.unit_roundoff + r.product_error + kernels::test::summation_error(additions);
}

struct SweepCase {
  std::int64_t m, n;
  std::vector<std::int64_t> depths;
  Shape shape;
};

void check_sweep(Rung target, Rung left, Rung right, const SweepCase& c) {
  Random random(7);
  Dense<double> expected = kernels::test::gaussian(c.m, c.n, random);
  const Held held = hold(expected, target);
  expected = copy_of(held);
  Dense<double> magnitude(c.m, c.n);
  for (std::int64_t p = 0; p < c.m * c.n; ++p) magnitude.data[p] = std::abs(expected.data[p]);

  std::vector<Stored> a, b;
  std::vector<Rows> rows;
  std::vector<TileIn> lefts;
  std::vector<RightTile> rights;
  std::int64_t depth = 0, order = std::max(c.m, c.n);
  for (const std::int64_t k : c.depths) {
    a.push_back(store(kernels::test::gaussian(c.m, k, random), left));
    b.push_back(store(kernels::test::gaussian(c.n, k, random), right));
    rows.push_back(rows_of(b.back().tile));
    lefts.push_back(a.back().tile);
    const bool packed = b.back().tile.shape.is_packed();  // then only its shape is used
    rights.push_back(
        {{b.back().tile.shape, packed ? nullptr : b.back().tile.data}, rows.back().packed});
    const auto product = kernels::test::exact_product(a.back().value, b.back().value);
    for (std::int64_t p = 0; p < c.m * c.n; ++p) {
      expected.data[p] -= product.value.data[p];
      magnitude.data[p] += product.magnitude.data[p];
    }
    depth += k;
    order = std::max(order, k);
  }
  const Dense<double> before = copy_of(held);
  const Scratch scratch(scratch_bytes(order));
  sweep(kernels::table(), held.sums, lefts, rights, c.shape, scratch.data());
  EXPECT_TRUE(scratch.zones_untouched());

  const double error = sweep_error(coarser(target, coarser(left, right)), depth);
  for (std::int64_t j = 0; j < c.n; ++j) {
    for (std::int64_t i = 0; i < c.m; ++i) {
      if (c.shape == Shape::lower && i < j) {
        ASSERT_EQ(held(i, j), before(i, j)) << "above the diagonal";
        continue;
      }
      const double ratio = std::abs(held(i, j) - expected(i, j)) / (error * magnitude(i, j));
      ASSERT_LT(ratio, 1) << i << ", " << j << ": " << held(i, j) << " not " << expected(i, j);
    }
  }
}

std::string rungs_name(const ::testing::TestParamInfo<std::tuple<Rung, Rung, Rung>>& p) {
  const auto [target, left, right] = p.param;
  return std::string(to_string(target)) + "_" + std::string(to_string(left)) + "_" +
         std::string(to_string(right));
}

class SweepTest : public ::testing::TestWithParam<std::tuple<Rung, Rung, Rung>> {};
INSTANTIATE_TEST_SUITE_P(Tiles, SweepTest,
                         ::testing::Combine(::testing::ValuesIn(mixable_rungs),
                                            ::testing::ValuesIn(mixable_rungs),
                                            ::testing::ValuesIn(mixable_rungs)),
                         rungs_name);

TEST_P(SweepTest, SubtractsTheProductsOfStoredTiles) {
  const auto [target, left, right] = GetParam();
  const SweepCase cases[] = {{64, 64, {64}, Shape::full},      {45, 64, {64, 64, 64}, Shape::full},
                             {33, 17, {31, 64}, Shape::full},  {1, 1, {1}, Shape::full},
                             {300, 40, {64, 32}, Shape::full}, {64, 64, {64, 64}, Shape::lower},
                             {45, 45, {64, 33}, Shape::lower}};
  for (const SweepCase& c : cases) {
    SCOPED_TRACE(std::to_string(c.m) + " x " + std::to_string(c.n));
    check_sweep(target, left, right, c);
  }
}

}  // namespace
}  // namespace stepwell::tiles::test
