// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/fixture/fixture.hpp"
#include "kernels/kernels.hpp"
#include "kernels/recursive.hpp"

/// The parts of an LU panel factorization: leaf, transposition and recursion.
namespace stepwell::kernels::test {
namespace {

template <class T>
Pivot getrf(const Table& t, MatrixView<T> a, bool pivoting, std::int64_t* rows) {
  if constexpr (std::is_same_v<T, float>) {
    return t.getrf_fp32.run(a, pivoting, rows);
  } else {
    return t.getrf_fp64.run(a, pivoting, rows);
  }
}

/// The row of A that becomes row i of P A.
std::vector<std::int64_t> order_of(std::int64_t m, const std::vector<std::int64_t>& exchanged) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(m));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t k = 0; k < exchanged.size(); ++k) {
    std::swap(order[k], order[static_cast<std::size_t>(exchanged[k])]);
  }
  return order;
}

class PanelTest : public PerIsa {
 protected:
  /// |P A - L U| <= n u |L||U| (Higham 2002, Theorem 9.3, plus one rounding for the division),
  /// doubled for the sums of this test.
  template <class T>
  void expect_leaf(std::int64_t m, std::int64_t n, bool pivoting) {
    SCOPED_TRACE(::testing::Message() << m << " x " << n << ", pivoting " << pivoting);
    Random random(static_cast<std::uint64_t>(100 * m + n));
    const Guarded<T> a(m, n, m % 3, n % 4);
    a.fill([&](auto i, auto j) { return random.gaussian() + (!pivoting && i == j ? 30 : 0); });
    const Dense<double> start = copy(a.view());
    std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
    ASSERT_TRUE(getrf<T>(table_, a.view(), pivoting, rows.data()).ok());
    ASSERT_TRUE(a.untouched_outside());
    const std::vector<std::int64_t> order = order_of(m, rows);
    for (std::int64_t j = 0; j < n; ++j) {
      ASSERT_TRUE(pivoting || rows[static_cast<std::size_t>(j)] == j);
      for (std::int64_t i = 0; i < m; ++i) {
        ASSERT_TRUE(!pivoting || i <= j || std::abs(a(i, j)) <= 1) << i << ", " << j;
        double sum = 0, magnitude = 0;
        for (std::int64_t k = 0; k <= std::min(i, j); ++k) {
          const double l = i == k ? 1 : a(i, k);
          sum += l * a(k, j);
          magnitude += std::abs(l * a(k, j));
        }
        const double error = std::abs(sum - start(order[static_cast<std::size_t>(i)], j));
        ASSERT_TRUE(error <= 2 * static_cast<double>(n + 1) * kRoundoff<T> * magnitude)
            << i << ", " << j << ": " << error << " of " << magnitude;
      }
    }
  }

  template <class T>
  void expect_panel(std::int64_t r, std::int64_t m, bool pivoting, Rung rung) {
    SCOPED_TRACE(::testing::Message()
                 << r << " x " << m << ", pivoting " << pivoting << ", " << to_string(rung));
    Random random(static_cast<std::uint64_t>(100 * m + r));
    const Guarded<T> x(r, m, m % 3, r % 4);
    const double weight = pivoting ? 0 : 4 * std::sqrt(static_cast<double>(r));
    x.fill([&](auto i, auto j) { return random.gaussian() + (i == j ? weight : 0); });
    const Dense<double> start = copy(x.view());
    const Guarded<T> l(m, r, r % 3, m % 4);
    std::vector<std::int64_t> exchanged(static_cast<std::size_t>(r));
    const Scratch scratch(panel_scratch(r));
    ASSERT_TRUE(
        tree_getrf<T>(table_, rung, x.view(), l.view(), pivoting, exchanged.data(), scratch.data())
            .ok());
    ASSERT_TRUE(x.untouched_outside());
    ASSERT_TRUE(l.untouched_outside());
    ASSERT_TRUE(scratch.zones_untouched());
    const std::vector<std::int64_t> order = order_of(m, exchanged);
    for (std::int64_t j = 0; j < m; ++j) {
      ASSERT_TRUE(j >= r || l(j, j) == 1);
      for (std::int64_t i = 0; i < r; ++i) {
        double sum = 0, magnitude = 0;
        for (std::int64_t k = 0; k <= std::min(i, j); ++k) {
          sum += static_cast<double>(x(i, k)) * l(j, k);
          magnitude += std::abs(static_cast<double>(x(i, k)) * l(j, k));
        }
        const double error = std::abs(sum - start(i, order[static_cast<std::size_t>(j)]));
        // Products at the rung: both operands are rounded, and some products are dropped.
        const double coarse =
            std::is_same_v<T, float> ? 2 * info(rung).unit_roundoff + info(rung).product_error : 0;
        const double bound = 4 * static_cast<double>(r + 1) * kRoundoff<T> + coarse;
        ASSERT_TRUE(error <= bound * magnitude)
            << i << ", " << j << ": " << error << " of " << magnitude;
      }
    }
  }

  template <class T>
  void expect_transpose(std::int64_t m, std::int64_t n) {
    SCOPED_TRACE(::testing::Message() << m << " x " << n);
    const Guarded<T> a(m, n, m % 3, n % 4);
    a.fill([](auto i, auto j) { return 1000 * i + j; });
    const Guarded<T> out(n, m, n % 3, m % 4);
    transpose(table_, a.view(), out.view());
    ASSERT_TRUE(out.untouched_outside());
    ASSERT_TRUE(within(
        out.view(), [](auto j, auto i) { return 1000.0 * i + j; }, [](auto, auto) { return 0; }));
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, PanelTest, every_vector_isa(), isa_name);

TEST_P(PanelTest, LeafIsStable) {
  for (const std::int64_t n : {1, 2, 3, 7, 15, 16}) {
    for (const std::int64_t extra : {0, 1, 5, 16, 31, 32, 33, 64, 200}) {
      for (const bool pivoting : {true, false}) {
        expect_leaf<float>(n + extra, n, pivoting);
        expect_leaf<double>(n + extra, n, pivoting);
        if (HasFailure()) return;
      }
    }
  }
}

// With ties, and with the largest element at every row, the first one is taken for any vector
// width.
TEST_P(PanelTest, LeafTakesTheFirstOfTheLargest) {
  for (const std::int64_t m : {1, 2, 17, 40, 67, 130}) {
    for (std::int64_t at = 0; at < m; ++at) {
      Dense<float> a(m, 1);
      for (std::int64_t i = 0; i < m; ++i) a(i, 0) = i < at ? 1.0F : (i - at) % 3 == 0 ? -2 : 2;
      std::int64_t row = -1;
      ASSERT_TRUE(table_.getrf_fp32.run(a.view(), true, &row).ok());
      ASSERT_EQ(row, at) << m;
    }
  }
}

TEST_P(PanelTest, LeafStopsAtWhatCanBeNoPivot) {
  for (const double bad : {0.0, kNaN<double>, std::numeric_limits<double>::infinity()}) {
    for (const std::int64_t m : {5, 37, 64}) {
      for (std::int64_t column = 0; column < 5; ++column) {
        // The identity with one column that is zero or has one non-finite element.
        for (const std::int64_t row : {column, m - 1}) {
          Dense<double> a(m, 5);
          for (std::int64_t k = 0; k < 5; ++k) a(k, k) = 1;
          for (std::int64_t i = 0; i < m; ++i) a(i, column) = 0;
          a(row, column) = bad;
          std::int64_t rows[5];
          const Pivot pivot = table_.getrf_fp64.run(a.view(), true, rows);
          ASSERT_EQ(pivot.index, column) << bad << " at " << row << " of " << m;
        }
      }
    }
  }
}

TEST_P(PanelTest, RecursionIsStable) {
  for (const std::int64_t r : {1, 15, 16, 17, 32, 33, 48, 65, 100, 128}) {
    for (const std::int64_t extra : {0, 1, 40, 129}) {
      for (const bool pivoting : {true, false}) {
        expect_panel<float>(r, r + extra, pivoting, Rung::fp32);
        expect_panel<double>(r, r + extra, pivoting, Rung::fp64);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(PanelTest, WideProductsAreAtTheRung) {
  for (const Rung rung : {Rung::bf16, Rung::bf16x2, Rung::bf16x3, Rung::fp16}) {
    expect_panel<float>(256, 300, true, rung);
  }
  expect_panel<float>(258, 800, false, Rung::bf16);  // operands in two pieces
  expect_panel<double>(256, 300, true, Rung::bf16);  // computed in fp64
}

TEST_P(PanelTest, RecursionTellsWhichPivotFailed) {
  for (const std::int64_t at : {0, 15, 16, 40, 63}) {
    Random random(7);
    Dense<double> x = gaussian(64, 80, random), l(80, 64);
    // Row 'at' repeats the first row, in powers of two: it is eliminated exactly to zero.
    for (std::int64_t j = 0; j < 80; ++j) {
      x(0, j) = std::ldexp(1.0, static_cast<int>(random.integer(-3, 3)));
      x(at, j) = at == 0 ? 0 : x(0, j);
    }
    std::vector<std::int64_t> exchanged(64);
    const Scratch scratch(panel_scratch(64));
    const Pivot pivot = tree_getrf<double>(table_, Rung::fp64, x.view(), l.view(), true,
                                           exchanged.data(), scratch.data());
    EXPECT_EQ(pivot.index, at);
  }
}

TEST_P(PanelTest, Transposes) {
  for (const std::int64_t m : {1, 3, 4, 5, 15, 16, 17, 33, 64}) {
    for (const std::int64_t n : {1, 2, 4, 7, 16, 65}) {
      expect_transpose<float>(m, n);
      expect_transpose<double>(m, n);
    }
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
