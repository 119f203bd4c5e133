// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/vectors.hpp"

/// FP64 products with a block and with a symmetric block.
namespace stepwell::kernels::test {
namespace {

class ProductTest : public PerIsa {
 protected:
  /// a: FP64, or an fp32 copy.
  template <class T>
  void check_product(const Guarded<T>& a, std::int64_t r, Random& random) {
    const std::int64_t m = a.view().rows, n = a.view().cols;
    SCOPED_TRACE(testing::Message() << m << " x " << n << ", " << r << " vectors");
    const auto x = input<double>(n, r, random);
    const auto w = input<double>(m, r, random);
    const auto y = output<double>(m, r, random);
    const auto z = output<double>(n, r, random);
    const auto transposed = [&](auto i, auto j) { return a(j, i); };
    const ExactSum ey = exact_sum(y.view(), 1, a, n, x.view());
    const ExactSum ez = exact_sum(z.view(), 1, transposed, m, w.view());
    auto y_alone = copy_of(y.view());
    auto z_alone = copy_of(z.view());
    product(table_, a.view(), {x.view(), y.view(), w.view(), z.view()});
    ASSERT_TRUE(close(y.view(), ey, n));
    ASSERT_TRUE(close(z.view(), ez, m));
    ASSERT_TRUE(y.untouched_outside());
    ASSERT_TRUE(z.untouched_outside());
    product(table_, a.view(), {x.view(), y_alone.view(), {}, {}});
    product(table_, a.view(), {{}, {}, w.view(), z_alone.view()});
    ASSERT_TRUE(close(y_alone.view(), ey, n));
    ASSERT_TRUE(close(z_alone.view(), ez, m));
  }

  void check_symmetric(const Guarded<double>& a, std::int64_t r, Random& random) {
    const std::int64_t n = a.view().rows;
    SCOPED_TRACE(testing::Message() << n << ", " << r << " vectors");
    const auto x = input<double>(n, r, random);
    const auto y = output<double>(n, r, random);
    const auto symmetric = [&](auto i, auto j) { return i >= j ? a(i, j) : a(j, i); };
    const ExactSum exact = exact_sum(y.view(), 1, symmetric, n, x.view());
    symmetric_product(table_, a.view(), x.view(), y.view());
    ASSERT_TRUE(close(y.view(), exact, n));
    ASSERT_TRUE(y.untouched_outside());
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, ProductTest, every_vector_isa(), isa_name);

TEST_P(ProductTest, BothProductsAreWithinTheirRoundoff) {
  Random random(kSeed);
  for (const auto& [m, n, r] : vector_cases()) {
    const auto a = input<double>(m, n, random);
    check_product(a, 1, random);
    check_product(a, r, random);
    if (HasFailure()) return;
  }
}

TEST_P(ProductTest, ProductsWithACopyAreWithinTheirRoundoff) {
  Random random(kSeed);
  for (const auto& [m, n, r] : vector_cases()) {
    const auto a = input<float>(m, n, random);
    check_product(a, 1, random);
    check_product(a, r, random);
    if (HasFailure()) return;
  }
}

TEST_P(ProductTest, ACopyIsScaledAndRoundedOnce) {
  Random random(kSeed);
  for (const auto& [m, n, unused] : vector_cases()) {
    const auto a = input<double>(m, n, random);
    const auto row = input<double>(m, 1, random), col = input<double>(n, 1, random);
    // The first one is aligned: it is written past the caches.
    for (const std::int64_t offset : {0, 1, 3}) {
      const Guarded<float> out(m, n, 16 - m % 16, offset);
      round(table_, a.view(), {row.view().data, col.view().data}, out.view());
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < m; ++i) {
          ASSERT_EQ(out(i, j), static_cast<float>((row(i, 0) * a(i, j)) * col(j, 0)));
        }
      }
      ASSERT_TRUE(out.untouched_outside());
    }
  }
}

TEST_P(ProductTest, SymmetricProductReadsTheLowerTriangleOnly) {
  Random random(kSeed);
  for (const auto& [n, unused, r] : vector_cases()) {
    const auto a = input<double>(n, n, random, Shape::lower);  // NaN above the diagonal
    check_symmetric(a, 1, random);
    check_symmetric(a, r, random);
    if (HasFailure()) return;
  }
}

TEST_P(ProductTest, BitsDoNotDependOnAlignment) {
  for (std::int64_t r : kVectorCounts) {
    const std::int64_t m = 135, n = 77;
    std::vector<Guarded<double>> ys, zs;
    for (std::int64_t offset = 0; offset < 8; ++offset) {
      Random random(kSeed);
      const auto draw = [&](auto, auto) { return random.gaussian(); };
      const Guarded<double> a(m, n, offset, offset), x(n, r, 0, offset), w(m, r, 0, offset);
      a.fill(draw);
      x.fill(draw);
      w.fill(draw);
      ys.emplace_back(m, r, offset, offset, 0.0).fill(draw);
      zs.emplace_back(n, r, offset, offset, 0.0).fill(draw);
      product(table_, a.view(), {x.view(), ys.back().view(), w.view(), zs.back().view()});
      EXPECT_TRUE(same_bits(ys.back().view(), ys[0].view()));
      EXPECT_TRUE(same_bits(zs.back().view(), zs[0].view()));
    }
  }
}

TEST_P(ProductTest, ReadsNothingPastTheEnd) {
  for (std::int64_t m = 1; m <= 40; ++m) {
    for (std::int64_t n : {1, 3, 8, 17}) {
      for (std::int64_t r : {1, 5}) {
        const PageEnd a(8 * m * n), x(8 * n * r), y(8 * m * r), w(8 * m * r), z(8 * n * r);
        product(table_, view<const double>(a.as<double>(), m, n),
                {view<const double>(x.as<double>(), n, r), view(y.as<double>(), m, r),
                 view<const double>(w.as<double>(), m, r), view(z.as<double>(), n, r)});
      }
    }
    const PageEnd a(8 * m * m), x(8 * m), y(8 * m);
    symmetric_product(table_, view<const double>(a.as<double>(), m, m),
                      view<const double>(x.as<double>(), m, 1), view(y.as<double>(), m, 1));
  }
}

TEST_P(ProductTest, NothingToDoIsNothingDone) {
  Random random(kSeed);
  for (const auto& [m, n, r] : {VectorCase{0, 5, 3}, {5, 0, 3}, {5, 5, 0}, {0, 0, 0}}) {
    const auto a = input<double>(m, n, random);
    const auto x = input<double>(n, r, random);
    const auto w = input<double>(m, r, random);
    const auto y = output<double>(m, r, random);
    const auto z = output<double>(n, r, random);
    const auto y_before = copy_of(y.view());
    const auto z_before = copy_of(z.view());
    product(table_, a.view(), {x.view(), y.view(), w.view(), z.view()});
    EXPECT_TRUE(same_bits(y.view(), y_before.view()));
    EXPECT_TRUE(same_bits(z.view(), z_before.view()));
    symmetric_product(table_, a.view().block(0, 0, 0, 0), x.view().block(0, 0, 0, r),
                      y.view().block(0, 0, 0, r));
    EXPECT_TRUE(same_bits(y.view(), y_before.view()));
    EXPECT_TRUE(y.untouched_outside());
    EXPECT_TRUE(z.untouched_outside());
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
