// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>

#include "kernels/vectors.hpp"

/// Products with blocked sums: the contribution of a block to an element has at most as many
/// roundings as the contract says, and the checksum includes every bit of A.
namespace stepwell::kernels::test {
namespace {

struct Size {
  std::int64_t m, n;
};

/// Sizes around SIMD vectors, groups of columns, chains, and the largest block.
std::vector<Size> sizes() {
  std::vector<Size> all;
  for (const std::int64_t m : {1, 2, 7, 8, 9, 31, 32, 33, 63, 128, 129, 255, 256}) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 63, 64}) all.push_back({m, n});
  }
  return all;
}

std::uint64_t checksum_of(MatrixView<const double> a) {
  std::uint64_t sum = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) sum += std::bit_cast<std::uint64_t>(a(i, j));
  }
  return sum;
}

class BlockedTest : public PerIsa {};
INSTANTIATE_TEST_SUITE_P(Isa, BlockedTest, every_vector_isa(), isa_name);

TEST_P(BlockedTest, BothProductsAreWithinTheContractsDepth) {
  Random random(kSeed);
  for (const auto& [m, n] : sizes()) {
    for (const std::int64_t r : {1, 2, 3, 5}) {
      SCOPED_TRACE(testing::Message() << m << " x " << n << ", " << r << " vectors");
      const auto a = input<double>(m, n, random);
      const auto x = input<double>(n, r, random);
      const auto w = input<double>(m, r, random);
      const auto y = output<double>(m, r, random);
      const auto z = output<double>(n, r, random);
      const auto transposed = [&](auto i, auto j) { return a(j, i); };
      const ExactSum ey = exact_sum(y.view(), 1, a, n, x.view());
      const ExactSum ez = exact_sum(z.view(), 1, transposed, m, w.view());
      auto y_alone = copy_of(y.view());
      auto z_alone = copy_of(z.view());
      const std::uint64_t checksum =
          blocked_product(table_, a.view(), {x.view(), y.view(), w.view(), z.view()});
      ASSERT_EQ(checksum, checksum_of(a.view()));
      ASSERT_TRUE(close(y.view(), ey, kBlockedDepthY));
      ASSERT_TRUE(close(z.view(), ez, kBlockedDepthZ));
      ASSERT_TRUE(y.untouched_outside());
      ASSERT_TRUE(z.untouched_outside());
      ASSERT_EQ(blocked_product(table_, a.view(), {x.view(), y_alone.view(), {}, {}}), checksum);
      ASSERT_EQ(blocked_product(table_, a.view(), {{}, {}, w.view(), z_alone.view()}), checksum);
      ASSERT_TRUE(close(y_alone.view(), ey, kBlockedDepthY));
      ASSERT_TRUE(close(z_alone.view(), ez, kBlockedDepthZ));
    }
  }
}

/// The bits of a product do not depend on how many other vectors there are.
TEST_P(BlockedTest, ManyVectorsHaveTheBitsOfEachAlone) {
  Random random(kSeed);
  for (const auto& [m, n] : sizes()) {
    for (const std::int64_t r : {4, 7, 16, 21, 33}) {
      const auto a = input<double>(m, n, random);
      const auto x = input<double>(n, r, random), w = input<double>(m, r, random);
      const auto y = output<double>(m, r, random), z = output<double>(n, r, random);
      auto y_alone = copy_of(y.view()), z_alone = copy_of(z.view());
      const std::uint64_t checksum =
          blocked_product(table_, a.view(), {x.view(), y.view(), w.view(), z.view()});
      ASSERT_EQ(checksum, checksum_of(a.view()));
      ASSERT_TRUE(y.untouched_outside() && z.untouched_outside());
      for (std::int64_t c = 0; c < r; ++c) {
        const auto one = [&](auto& of) { return of.view().block(0, c, of.view().rows, 1); };
        blocked_product(table_, a.view(), {one(x), one(y_alone), one(w), one(z_alone)});
      }
      for (std::int64_t c = 0; c < r; ++c) {
        for (std::int64_t i = 0; i < m; ++i) ASSERT_EQ(y(i, c), y_alone(i, c)) << m << " x " << n;
        for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(z(j, c), z_alone(j, c)) << m << " x " << n;
      }
    }
  }
}

/// With constant elements, among them a little more than half a unit above 1, each addition in a
/// long chain from 2^k on is rounded in the same direction, and the error would grow with the
/// length of the chain.
TEST_P(BlockedTest, RoundingsOfOneSignStayWithinTheDepth) {
  const std::int64_t m = kBlockedRows, n = kBlockedColumns;
  for (const double element : {1 + 0x1.8p-52, 0.6, 0.1, 0.7}) {
    const auto a = Guarded<double>(m, n), x = Guarded<double>(n, 1), w = Guarded<double>(m, 1);
    const auto y = Guarded<double>(m, 1), z = Guarded<double>(n, 1);
    a.fill([&](auto, auto) { return element; });
    for (const auto* ones : {&x, &w}) ones->fill([](auto, auto) { return 1.0; });
    for (const auto* zero : {&y, &z}) zero->fill([](auto, auto) { return 0.0; });
    const ExactSum ey = exact_sum(y.view(), 1, a, n, x.view());
    const auto transposed = [&](auto i, auto j) { return a(j, i); };
    const ExactSum ez = exact_sum(z.view(), 1, transposed, m, w.view());
    blocked_product(table_, a.view(), {x.view(), y.view(), w.view(), z.view()});
    EXPECT_TRUE(close(y.view(), ey, kBlockedDepthY)) << element;
    EXPECT_TRUE(close(z.view(), ez, kBlockedDepthZ)) << element;
  }
}

TEST_P(BlockedTest, TheDoubleDoubleProductHasTheSameChecksum) {
  Random random(kSeed);
  for (const auto& [m, n] : sizes()) {
    const auto a = input<double>(m, n, random);
    const auto x = input<double>(n, 1, random);
    const auto y = output<double>(m, 1, random), low = output<double>(m, 1, random);
    ExactProducts p;
    p.x = x.view().data;
    p.y = y.view().data;
    p.y_low = low.view().data;
    ASSERT_EQ(exact_product(table_, a.view(), p), checksum_of(a.view())) << m << " x " << n;
    Scan scan;
    LoadArgs args;
    args.a = a.view();
    load(table_, args, scan);
    ASSERT_EQ(scan.checksum, checksum_of(a.view())) << m << " x " << n;
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
