// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/vectors.hpp"

/// Products with packed and plain fp32 tiles, the off-diagonal part of triangular solves.
namespace stepwell::kernels::test {
namespace {

class PackedProductTest : public PerIsaAndRung {
 protected:
  template <class V>
  void check(const Operand& l, std::int64_t r, bool transposed, Random& random) {
    SCOPED_TRACE(testing::Message()
                 << l.packed.rows << " x " << l.packed.depth << ", " << r << " vectors of "
                 << sizeof(V) << " bytes, transposed " << transposed);
    const std::int64_t inner = transposed ? l.packed.rows : l.packed.depth;
    const auto x = input<V>(inner, r, random);
    const auto y = output<V>(transposed ? l.packed.depth : l.packed.rows, r, random);
    const auto element = [&](auto i, auto k) { return transposed ? l.value(k, i) : l.value(i, k); };
    const ExactSum exact = exact_sum(y.view(), -1, element, inner, x.view());
    packed_product(table_, l.packed, transposed, x.view(), y.view());
    // Two more roundings: the sums of up to three terms.
    ASSERT_TRUE(close(y.view(), exact, inner, 2));
    ASSERT_TRUE(y.untouched_outside());
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, PackedProductTest, every_vector_isa_and_packed_rung(), isa_rung_name);

TEST_P(PackedProductTest, IsWithinItsRoundoff) {
  Random random(kSeed);
  for (const auto& [m, n, r] : vector_cases()) {
    const Operand l = make_operand(gaussian(m, n, random), rung(), Order::pairs);
    for (bool transposed : {false, true}) {
      for (std::int64_t vectors : {std::int64_t{1}, r}) {
        check<float>(l, vectors, transposed, random);
        check<double>(l, vectors, transposed, random);
      }
    }
    if (HasFailure()) return;
  }
}

TEST_P(PackedProductTest, BlocksOfATileAreTheTilesBlocks) {
  Random random(kSeed);
  const Operand l = make_operand(gaussian(150, 200, random), rung(), Order::pairs);
  const PackedIn block = l.packed.block(64, 96, 86, 64);
  const auto x = input<float>(64, 3, random);
  const auto y = output<float>(86, 3, random);
  const auto element = [&](auto i, auto k) { return l.value(64 + i, 96 + k); };
  const ExactSum exact = exact_sum(y.view(), -1, element, 64, x.view());
  packed_product(table_, block, false, x.view(), y.view());
  EXPECT_TRUE(close(y.view(), exact, 64, 2));
}

TEST_P(PackedProductTest, NothingToDoIsNothingDone) {
  Random random(kSeed);
  for (const auto& [m, n, r] : {VectorCase{0, 40, 2}, {40, 0, 2}, {40, 40, 0}}) {
    const Operand l = make_operand(gaussian(m, n, random), rung(), Order::pairs);
    for (bool transposed : {false, true}) {
      const auto x = input<double>(transposed ? m : n, r, random);
      const auto y = output<double>(transposed ? n : m, r, random);
      const auto before = copy_of(y.view());
      packed_product(table_, l.packed, transposed, x.view(), y.view());
      EXPECT_TRUE(same_bits(y.view(), before.view()));
      EXPECT_TRUE(y.untouched_outside());
    }
  }
}

class TileProductTest : public PerIsa {
 protected:
  template <class V>
  void check(const Guarded<float>& l, std::int64_t r, bool transposed, Random& random) {
    const std::int64_t m = l.view().rows, n = l.view().cols;
    SCOPED_TRACE(testing::Message() << m << " x " << n << ", " << r << " vectors of " << sizeof(V)
                                    << " bytes, transposed " << transposed);
    const std::int64_t inner = transposed ? m : n;
    const auto x = input<V>(inner, r, random);
    const auto y = output<V>(transposed ? n : m, r, random);
    const auto element = [&](auto i, auto k) { return transposed ? l(k, i) : l(i, k); };
    const ExactSum exact = exact_sum(y.view(), -1, element, inner, x.view());
    tile_product(table_, l.view(), transposed, x.view(), y.view());
    ASSERT_TRUE(close(y.view(), exact, inner));
    ASSERT_TRUE(y.untouched_outside());
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, TileProductTest, every_vector_isa(), isa_name);

TEST_P(TileProductTest, IsWithinItsRoundoff) {
  Random random(kSeed);
  for (const auto& [m, n, r] : vector_cases()) {
    const auto l = input<float>(m, n, random);
    for (bool transposed : {false, true}) {
      for (std::int64_t vectors : {std::int64_t{1}, r}) {
        check<float>(l, vectors, transposed, random);
        check<double>(l, vectors, transposed, random);
      }
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
