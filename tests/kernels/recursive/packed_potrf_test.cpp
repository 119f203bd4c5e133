// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fixture/fixture.hpp"
#include "kernels/recursive.hpp"

/// The factor of a diagonal tile at a rung with planes, and the inverses of its diagonal blocks.
namespace stepwell::kernels::test {
namespace {

/// A packed operand whose memory holds NaNs.
struct Room {
  Room(std::int64_t n, Rung rung, Order order)
      : memory(packed_elements(n, n, info(rung).planes)),
        packed(kernels::packed(memory.data(), n, n, rung, order)) {
    std::fill(memory.begin(), memory.end(), std::uint16_t{0xffff});
  }
  core::Buffer<std::uint16_t> memory;
  PackedOut packed;
};

class PackedPotrfTest : public PerIsaAndRung {
 protected:
  std::vector<std::int64_t> orders() const {
    if (kSanitized || isa() == core::Isa::reference) return {1, 33, 64, 65, 129, 160};
    return {1, 2, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 192, 200, 257, 512};
  }

  /// A is what the algorithm multiplies: rounded elements of earlier block columns, unrounded ones
  /// inside the block column. Products at the rung drop terms, and all sums are in fp32.
  void expect_factor(std::int64_t n, Rounding rounding) {
    Random random(kSeed + n);
    const Dense<double> spd = definite(n, random);
    const Guarded<float> a(n, n, n % 3, n % 4, kNaN<float>);
    a.fill([&](auto i, auto j) { return spd(i, j); }, Shape::lower);
    const Dense<double> start = copy(a.view(), Shape::lower);
    const Room l(n, rung(), Order::pairs), rows(n, rung(), Order::rows);
    const Scratch scratch(n * kLeaf * 4);
    const Pivot pivot =
        packed_potrf(table_, rung(), a.view(), rounding, l.packed, rows.packed, scratch.data());
    ASSERT_TRUE(pivot.ok()) << "pivot " << pivot.index << ": " << pivot.value;
    ASSERT_TRUE(a.untouched_outside(Shape::lower));
    ASSERT_TRUE(scratch.zones_untouched());

    const Guarded<float> rounded(n, n);
    rounded.fill([&](auto i, auto j) { return i < j ? 0.0 : a(i, j); });
    if (rounding == Rounding::toward_zero) truncate(rounded.view(), rung(), Shape::lower);
    const Room expected(n, rung(), Order::pairs);
    pack(reference_table(), rung(), MatrixView<const float>(rounded.view()), expected.packed);
    ASSERT_TRUE(std::equal(l.memory.begin(), l.memory.end(), expected.memory.begin()))
        << "the tile is not L, packed";
    for (std::int64_t k = 0; k < n; k += kLeaf) {
      for (std::int64_t i = k + kLeaf; i < n; ++i) {
        for (std::int64_t j = k; j < k + kLeaf; ++j) {
          for (int plane = 0; plane < l.packed.planes; ++plane) {
            ASSERT_EQ(rows.packed.data[rows.packed.offset(i, j, plane)],
                      l.packed.data[l.packed.offset(i, j, plane)])
                << i << ", " << j;
          }
        }
      }
    }

    const Guarded<double> stored(n, n);
    unpack(table_, PackedIn(l.packed), stored.view());
    const double error = static_cast<double>(2 * n + 16) * kU32 + 1.01 * info(rung()).product_error;
    for (std::int64_t k = 0; k < n; k += kLeaf) {
      const std::int64_t width = std::min(kLeaf, n - k);
      Dense<double> used(n - k, k + width), top(width, k + width);
      for (std::int64_t j = 0; j < k + width; ++j) {
        for (std::int64_t i = std::max(j, k); i < n; ++i) {
          used(i - k, j) = j < k ? stored(i, j) : a(i, j);
          if (i < k + width) top(i - k, j) = used(i - k, j);
        }
      }
      const Product p = exact_product(used, top);
      for (std::int64_t j = k; j < k + width; ++j) {
        for (std::int64_t i = j; i < n; ++i) {
          const double bound = error * (std::abs(start(i, j)) + p.magnitude(i - k, j - k));
          ASSERT_TRUE(std::abs(p.value(i - k, j - k) - start(i, j)) <= bound) << i << ", " << j;
        }
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, PackedPotrfTest, every_isa_and_packed_rung(), isa_rung_name);

TEST_P(PackedPotrfTest, TheFactorTimesItsTransposeIsTheMatrixAndIsPackedInBothOrders) {
  for (const std::int64_t n : orders()) {
    for (const Rounding rounding : {Rounding::nearest, Rounding::toward_zero}) {
      SCOPED_TRACE(::testing::Message() << "n " << n << " seed " << kSeed << "+" << n);
      expect_factor(n, rounding);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(PackedPotrfTest, AFailingPivotIsReportedWithItsIndex) {
  constexpr std::int64_t n = 150;
  Random random(kSeed);
  const Dense<double> spd = definite(n, random);
  const Room l(n, rung(), Order::pairs), rows(n, rung(), Order::rows);
  const Scratch scratch(n * kLeaf * 4);
  for (const std::int64_t at : {0, 1, 63, 64, 100, 128, 149}) {
    for (const double planted : {-1.0, kNaN<double>, HUGE_VAL}) {
      const Guarded<float> a(n, n, 0, 0, kNaN<float>);
      a.fill([&](auto i, auto j) { return i == at && j == at ? planted : spd(i, j); },
             Shape::lower);
      const Pivot pivot = packed_potrf(table_, rung(), a.view(), Rounding::nearest, l.packed,
                                       rows.packed, scratch.data());
      ASSERT_EQ(pivot.index, at) << planted;
      ASSERT_FALSE(pivot.value > 0 && std::isfinite(pivot.value)) << pivot.value;
    }
  }
}

TEST_P(PackedPotrfTest, DiagonalBlocksInRowsOrderAreReplacedByTheirInverses) {
  constexpr std::int64_t block = 128;
  for (const std::int64_t n : orders()) {
    Random random(kSeed + n);
    const Guarded<float> l(n, n, 1, 1, kNaN<float>), w(n, n);
    fill_triangle(l, random);
    const Room rows(n, rung(), Order::rows), expected(n, rung(), Order::rows);
    pack(table_, rung(), MatrixView<const float>(l.view()), rows.packed, Shape::lower);
    const Scratch scratch(block * block * 4);
    invert_diagonal_blocks(table_, rung(), l.view(), block, rows.packed, scratch.data());
    ASSERT_TRUE(scratch.zones_untouched());
    ASSERT_TRUE(l.untouched_outside(Shape::lower));
    invert_diagonal_blocks<float>(table_, l.view(), block, w.view());
    pack(table_, rung(), MatrixView<const float>(w.view()), expected.packed);
    ASSERT_TRUE(std::equal(rows.memory.begin(), rows.memory.end(), expected.memory.begin())) << n;
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
