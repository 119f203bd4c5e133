// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <deque>

#include "tiles/fixture.hpp"

/// An operation on a tile has the same bits, whatever the blocks of rows that it is divided into,
/// and in whatever order threads run them.
namespace stepwell::tiles::test {
namespace {

/// Runs the pieces backwards, each with scratch memory of its own.
class Backwards {
 public:
  explicit Backwards(std::int64_t scratch) : scratch_(scratch) {}

  PieceRunner runner() {
    return [this](std::int64_t count, const core::SharedPiece& piece) {
      for (std::int64_t i = count; i-- > 0;) {
        const Scratch memory(scratch_);
        piece(i, memory.data());
        EXPECT_TRUE(memory.zones_untouched());
      }
      pieces_ += count;
    };
  }
  std::int64_t pieces() const { return pieces_; }

 private:
  std::int64_t scratch_;
  std::int64_t pieces_ = 0;
};

bool same_bytes(const core::Buffer<std::byte>& a, const core::Buffer<std::byte>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

class Shared : public ::testing::TestWithParam<Rung> {};
INSTANTIATE_TEST_SUITE_P(Tiles, Shared, ::testing::ValuesIn(mixable_rungs),
                         [](const auto& p) { return std::string(to_string(p.param)); });

TEST_P(Shared, SweepsHaveTheSameBits) {
  const Rung rung = GetParam();
  constexpr std::int64_t kDepth = 160;
  const std::int64_t scratch = scratch_bytes(300);
  struct Case {
    std::int64_t m, n;
    Shape shape;
  };
  for (const Case& c :
       {Case{300, 96, Shape::full}, {257, 257, Shape::lower}, {64, 64, Shape::lower}}) {
    const std::int64_t m = c.m, n = c.n;
    Random random(5);
    const Dense<double> start = kernels::test::gaussian(m, n, random);
    std::deque<Stored> tiles;
    std::vector<TileIn> left;
    std::vector<RightTile> right;
    std::deque<core::Buffer<std::uint16_t>> rows;
    for (int k = 0; k < 3; ++k) {
      left.push_back(
          tiles.emplace_back(store(kernels::test::gaussian(m, kDepth, random), rung)).tile);
      const TileIn b =
          tiles.emplace_back(store(kernels::test::gaussian(n, kDepth, random), rung)).tile;
      kernels::PackedOut packed;
      if (b.shape.is_packed()) {
        const int planes = info(rung).planes;
        rows.emplace_back(kernels::packed_elements(n, kDepth, planes));
        packed = kernels::packed(rows.back().data(), n, kDepth, split_rung(planes), Order::rows);
        make_rows(kernels::table(), b, packed);
      }
      right.push_back({b, packed});
    }
    const auto swept = [&](const Sharing& share) {
      Held held = hold(start, rung);
      const Scratch own(scratch);
      sweep(kernels::table(), held.sums, left, right, c.shape, own.data(), false, share);
      return held;
    };
    const Held expected = swept({{}, 1024});
    for (const std::int64_t size : {32, 128, 256}) {
      EXPECT_TRUE(same_bytes(swept({{}, size}).memory, expected.memory)) << m << ", " << size;
      Backwards backwards(scratch);
      EXPECT_TRUE(same_bytes(swept({backwards.runner(), size}).memory, expected.memory))
          << m << ", " << size;
      // A product of plain operands is not divided: its kernel depends on the size.
      const std::int64_t blocks = (m + size - 1) / size;
      const std::int64_t count = c.shape == Shape::full ? blocks : blocks * (blocks + 1) / 2;
      EXPECT_EQ(backwards.pieces(), info(rung).planes > 0 && count > 1 ? count : 0);
    }
  }
}

TEST_P(Shared, FactorsAndSolvesHaveTheSameBits) {
  const Rung rung = GetParam();
  const std::int64_t n = 300, m = 260, scratch = scratch_bytes(n);
  Random random(6);
  Dense<double> a = kernels::test::gaussian(n, n, random);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = 40;
  const Dense<double> b = kernels::test::gaussian(m, n, random);
  struct Result {
    core::Buffer<std::byte> l, x;
  };
  const auto solved = [&](const Sharing& share) {
    const TileShape diagonal{rung, n, n}, below{rung, m, n};
    Result r{core::Buffer<std::byte>(diagonal.bytes()), core::Buffer<std::byte>(below.bytes())};
    Inverse inverse{rung, n, info(rung).planes, rung == Rung::fp32, nullptr};
    core::Buffer<std::byte> memory(inverse.bytes());
    inverse.data = memory.data();
    const Held of_l = hold(a, rung), of_x = hold(b, rung);
    const Scratch own(scratch);
    const Pivot pivot =
        factor_diagonal(kernels::table(), of_l.sums, kernels::uniform_layers(rung),
                        Rounding::nearest, {diagonal, r.l.data()}, inverse, own.data(), share);
    EXPECT_TRUE(pivot.ok());
    solve_tile(kernels::table(), inverse, of_x.sums, Rounding::nearest, {below, r.x.data()},
               own.data(), share);
    return r;
  };
  const Result expected = solved({{}, 1024});
  for (const std::int64_t size : {32, 128, 256}) {
    Backwards backwards(scratch);
    const Result got = solved({backwards.runner(), size});
    EXPECT_TRUE(same_bytes(got.l, expected.l)) << size;
    EXPECT_TRUE(same_bytes(got.x, expected.x)) << size;
    EXPECT_EQ(backwards.pieces() > 0, info(rung).planes > 0);
  }
}

}  // namespace
}  // namespace stepwell::tiles::test
