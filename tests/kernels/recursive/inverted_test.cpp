// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "kernels/fixture/fixture.hpp"
#include "kernels/recursive.hpp"

/// Triangular solves by multiplication with inverted diagonal blocks.
namespace stepwell::kernels::test {
namespace {

struct BlockCase {
  std::int64_t m, n, block;
};
std::vector<BlockCase> block_cases(bool plain_loops) {
  std::vector<BlockCase> list = {{1, 1, 32},     {5, 31, 32},    {33, 32, 32},
                                 {64, 100, 32},  {70, 64, 64},   {31, 129, 64},
                                 {128, 192, 64}, {65, 100, 128}, {40, 257, 128}};
  if (!plain_loops && !kSanitized) {
    list.insert(list.end(), {{129, 512, 128}, {70, 513, 96}, {65, 511, 64}});
  }
  return list;
}

/// The diagonal block [k, k + size) of L.
Dense<double> diagonal_block(const Dense<double>& l, std::int64_t k, std::int64_t size) {
  return copy(l.view().block(k, k, size, size), Shape::lower);
}

/// |A| diag(|W'||L'|) over the diagonal blocks L with inverses W: the amplification of the residual
/// when multiplying with W instead of solving with L.
Dense<double> amplified(const Dense<double>& a, const Dense<double>& l, std::int64_t block) {
  Dense<double> result(a.rows, a.cols);
  for (std::int64_t k = 0; k < l.rows; k += block) {
    const std::int64_t size = std::min(block, l.rows - k);
    const Dense<double> lower = diagonal_block(l, k, size);
    const Dense<double> columns = copy(a.view().block(0, k, a.rows, size));
    const Product half = exact_product(columns, inverse_of(lower));
    const Product whole = exact_product(half.magnitude, lower);
    std::copy(whole.magnitude.data.begin(), whole.magnitude.data.end(), &result.data[k * a.rows]);
  }
  return result;
}

class InvertedTest : public PerIsa {
 protected:
  /// |W - L^-1| <= c n u |L^-1||L||L^-1| in the blocks, as for the leaves; L below the blocks, zero
  /// above.
  template <class T>
  void expect_inverted_blocks() {
    for (const auto& [m, n, block] : block_cases(GetParam() == core::Isa::reference)) {
      SCOPED_TRACE(::testing::Message() << "n " << n << " block " << block << " seed " << kSeed);
      Random random(kSeed + n);
      const Guarded<T> l(n, n, 1, 1, kNaN<T>), w(n, n, 3, 3);
      fill_triangle(l, random);
      w.fill([](auto, auto) { return kNaN<T>; });
      invert_diagonal_blocks<T>(table_, l.view(), block, w.view());
      ASSERT_TRUE(w.untouched_outside());
      ASSERT_TRUE(l.untouched_outside(Shape::lower));
      const Dense<double> lower = copy(l.view(), Shape::lower);
      for (std::int64_t k = 0; k < n; k += block) {
        const std::int64_t size = std::min(block, n - k);
        const Dense<double> block_l = diagonal_block(lower, k, size);
        const Dense<double> inverse = inverse_of(block_l);
        const Dense<double> half = exact_product(inverse, transposed(block_l)).magnitude;
        const Dense<double> growth = exact_product(half, transposed(inverse)).magnitude;
        const double error = static_cast<double>(2 * (size + 8)) * kRoundoff<T>;
        ASSERT_TRUE(within(
            w.view().block(k, k, size, size), [&](auto i, auto j) { return inverse(i, j); },
            [&](auto i, auto j) { return i < j ? 0.0 : error * growth(i, j); }));
        ASSERT_TRUE(same_bits(w.view().block(k + size, k, n - k - size, size),
                              l.view().block(k + size, k, n - k - size, size)));
        ASSERT_TRUE(within(
            w.view().block(0, k, k, size), [](auto, auto) { return 0.0; },
            [](auto, auto) { return 0.0; }));
      }
    }
  }

  /// |B - X L'| <= c (|B| + |X||L'|) K, with K from amplified(): one product with L, one with its
  /// inverse.
  void expect_plain_solve() {
    for (const auto& [m, n, block] : block_cases(GetParam() == core::Isa::reference)) {
      SCOPED_TRACE(::testing::Message()
                   << m << " x " << n << " block " << block << " seed " << kSeed);
      Random random(kSeed + n);
      const Guarded<float> l(n, n), w(n, n, 1), b(m, n, 7, 3);
      fill_triangle(l, random);
      b.fill([&](auto, auto) { return random.gaussian(); });
      const Dense<double> start = copy(b.view()), lower = copy(l.view(), Shape::lower);
      const Scratch scratch(m * block * 4);
      invert_diagonal_blocks<float>(table_, l.view(), block, w.view());
      solve_inverted(table_, w.view(), block, b.view(), scratch.data());
      ASSERT_TRUE(scratch.zones_untouched());
      ASSERT_TRUE(b.untouched_outside());
      const Product p = exact_product(copy(b.view()), lower);
      expect_residual(start, p, lower, block, static_cast<double>(4 * n + 16) * kRoundoff<float>,
                      0);
    }
  }

  void expect_packed_solve(Rung rung) {
    for (const auto& [m, n, block] : block_cases(GetParam() == core::Isa::reference)) {
      SCOPED_TRACE(::testing::Message() << to_string(rung) << " " << m << " x " << n << " block "
                                        << block << " seed " << kSeed << "+" << n);
      Random random(kSeed + n);
      const Guarded<float> l(n, n), w(n, n), b(m, n, 7, 3);
      fill_triangle(l, random);
      b.fill([&](auto, auto) { return random.gaussian(); });
      const Dense<double> start = copy(b.view()), lower = copy(l.view(), Shape::lower);
      const int planes = info(rung).planes;
      const Scratch scratch(packed_elements(m, block, planes) * 2);
      invert_diagonal_blocks<float>(table_, l.view(), block, w.view());
      const core::Buffer<std::uint16_t> w_memory(packed_elements(n, n, planes));
      const core::Buffer<std::uint16_t> x_memory(packed_elements(m, n, planes));
      const core::Buffer<std::uint16_t> expected(packed_elements(m, n, planes));
      std::fill(x_memory.begin(), x_memory.end(), 0xffff);
      const PackedOut packed_w = packed(w_memory.data(), n, n, rung, Order::rows);
      const PackedOut x = packed(x_memory.data(), m, n, rung, Order::pairs);
      pack(table_, rung, MatrixView<const float>(w.view()), packed_w, Shape::lower);
      solve_inverted(table_, rung, packed_w, block, b.view(), x, scratch.data());
      ASSERT_TRUE(scratch.zones_untouched());
      ASSERT_TRUE(b.untouched_outside());
      pack(reference_table(), rung, MatrixView<const float>(b.view()),
           packed(expected.data(), m, n, rung, Order::pairs));
      ASSERT_TRUE(std::equal(x_memory.begin(), x_memory.end(), expected.begin()))
          << "x is not b, packed";

      // B = X L', with the rounded X left of the diagonal block and the unrounded X inside it.
      const Guarded<double> rounded(m, n);
      unpack(table_, PackedIn(x), rounded.view());
      Product p{Dense<double>(m, n), Dense<double>(m, n)};
      for (std::int64_t k = 0; k < n; k += block) {
        const std::int64_t size = std::min(block, n - k);
        Dense<double> used(m, n), row(size, n);
        for (std::int64_t j = 0; j < k + size; ++j) {
          for (std::int64_t i = 0; i < m; ++i) used(i, j) = j < k ? rounded(i, j) : b(i, j);
          for (std::int64_t i = 0; i < size; ++i) row(i, j) = lower(k + i, j);
        }
        const Product q = exact_product(used, row);
        std::copy(q.value.data.begin(), q.value.data.end(), &p.value.data[k * m]);
        std::copy(q.magnitude.data.begin(), q.magnitude.data.end(), &p.magnitude.data[k * m]);
      }
      const RungInfo r = info(rung);
      const double error =
          2 * (2 * r.unit_roundoff + r.product_error) + static_cast<double>(4 * n + 16) * kU32;
      const double tiny = rung == Rung::fp16 ? 0x1p-24 * static_cast<double>(n) * 8 : 0;
      expect_residual(start, p, lower, block, error, tiny);
    }
  }

 private:
  static void expect_residual(const Dense<double>& b, const Product& p, const Dense<double>& l,
                              std::int64_t block, double error, double tiny) {
    Dense<double> magnitude = p.magnitude;
    for (std::size_t i = 0; i < b.data.size(); ++i) magnitude.data[i] += std::abs(b.data[i]);
    const Dense<double> bound = amplified(magnitude, l, block);
    ASSERT_TRUE(within(
        b.view(), [&](auto i, auto j) { return p.value(i, j); },
        [&](auto i, auto j) { return error * bound(i, j) + tiny; }));
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, InvertedTest, every_isa(), isa_name);

TEST_P(InvertedTest, TheDiagonalBlocksAreInvertedAndTheRestIsTheTriangle) {
  expect_inverted_blocks<float>();
  expect_inverted_blocks<double>();
}
TEST_P(InvertedTest, ThePlainSolutionTimesTheTriangleIsTheRightHandSide) {
  expect_plain_solve();
}
TEST_P(InvertedTest, ThePackedSolutionIsAccurateAtItsRungAndIsWhatBHolds) {
  for (Rung rung : {Rung::bf16, Rung::bf16x2, Rung::bf16x3, Rung::fp16}) expect_packed_solve(rung);
}

}  // namespace
}  // namespace stepwell::kernels::test
