// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/operators/general_product.hpp"

#include <cmath>

#include "kernels/fixture/fixture.hpp"
#include "kernels/quad.hpp"
#include "kernels/scan.hpp"

/// Products with a general matrix and with its transpose, and scans of it: accurate to rounding,
/// and the same bits for any number of threads.
namespace stepwell::refine::test {
namespace {

using kernels::test::Dense;
using kernels::test::Guarded;
using kernels::test::kNaN;
using kernels::test::kSanitized;
using kernels::test::kU64;
using kernels::test::Random;
using kernels::test::same_bits;
using stepwell::test::abs_of;
using stepwell::test::Quad;

/// A Gaussian matrix, surrounded by NaN.
Guarded<double> gaussian(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  Random random(seed);
  Guarded<double> a(rows, cols, 3, 1, kNaN<double>);
  a.fill([&](auto, auto) { return random.gaussian(); });
  return a;
}

std::vector<std::int64_t> general_orders() {
  std::vector<std::int64_t> n = {1, 2, 3, 31, 63, 64, 65, 127, 129, 255, 256, 257, 513, 600};
  if (!kSanitized) n.insert(n.end(), {1025, 2047, 2049});
  return n;
}

class GeneralProducts : public ::testing::TestWithParam<bool> {
 protected:
  bool transposed() const { return GetParam(); }
  double element(const Guarded<double>& a, std::int64_t i, std::int64_t j) const {
    return transposed() ? a(j, i) : a(i, j);
  }
};
INSTANTIATE_TEST_SUITE_P(Refine, GeneralProducts, ::testing::Bool());

TEST_P(GeneralProducts, AreRightToRounding) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n : general_orders()) {
    const auto a = gaussian(n, n, 1);
    GeneralProduct product(pool, a.view(), transposed());
    EXPECT_EQ(product.order(), n);
    for (const std::int64_t r : {1, 3, 8}) {
      const auto x = gaussian(n, r, 2);
      const Guarded<double> y(n, r, 1, 1);
      product.apply(x.view(), y.view());
      for (std::int64_t c = 0; c < r; ++c) {
        for (std::int64_t i = 0; i<n; i += n> 500 ? 29 : 1) {
          long double sum = 0, size = 0;
          for (std::int64_t j = 0; j < n; ++j) {
            const long double term = static_cast<long double>(element(a, i, j)) * x(j, c);
            sum += term;
            size += std::abs(term);
          }
          const auto error = std::abs(static_cast<double>(y(i, c) - sum));
          ASSERT_LE(error, static_cast<double>(n + 2) * kU64 * static_cast<double>(size))
              << n << ": (" << i << ", " << c << ")";
        }
      }
      ASSERT_TRUE(y.untouched_outside());
    }
  }
}

/// For Gaussian elements, and for equal ones, whose sums are all rounded in the same direction.
TEST_P(GeneralProducts, WithBlockedSumsErrByNoMoreThanTheirDepth) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n : general_orders()) {
    for (const bool equal : {false, true}) {
      const auto a = gaussian(n, n, 1);
      const auto x = gaussian(n, 3, 2);
      if (equal) a.fill([](auto i, auto j) { return i == j ? 100 : 0.6; });
      if (equal) x.fill([](auto, auto c) { return c == 0 ? 1.0 : 0.7; });
      GeneralProduct product(pool, a.view(), transposed());
      Dense<double> y(n, 3), low(n, 3);
      Checksums blocked(n), exact(n);
      product.apply_blocked(x.view(), y.view(), blocked);
      for (std::int64_t c = 0; c < 3; ++c) {
        for (std::int64_t i = 0; i<n; i += n> 500 ? 13 : 1) {
          Quad sum = 0, size = 0;
          for (std::int64_t j = 0; j < n; ++j) {
            const Quad term = static_cast<Quad>(element(a, i, j)) * x(j, c);
            sum += term;
            size += abs_of(term);
          }
          const auto error = static_cast<double>(abs_of(y(i, c) - sum));
          const double most = static_cast<double>(product.depth()) * kU64;
          ASSERT_LE(error, most * static_cast<double>(size)) << n << ": (" << i << ", " << c << ")";
        }
      }
      product.apply_exactly(x.view(), {}, y.view(), low.view(), exact);
      const Checksums first = scan_general(pool, a.view()).checksums;
      EXPECT_EQ(first.first_difference(blocked), -1) << n;
      EXPECT_EQ(first.first_difference(exact), -1) << n;
    }
  }
}

/// An FP64 residual is conclusive only if the depth of its sums is below sqrt(n) units.
TEST_P(GeneralProducts, HaveADepthBelowTheTolerance) {
  engine::ThreadPool pool(1);
  for (const std::int64_t n : {512, 1000, 2048, 4096, 8192, 16384, 65536}) {
    GeneralProduct product(pool, view<const double>(nullptr, n, n), transposed());
    EXPECT_LE(static_cast<double>(product.depth() + 3), std::sqrt(static_cast<double>(n))) << n;
  }
}

TEST_P(GeneralProducts, AreExactToTwiceTheDigits) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n : general_orders()) {
    const auto a = gaussian(n, n, 1);
    GeneralProduct product(pool, a.view(), transposed());
    for (const bool with_b : {false, true}) {
      const std::int64_t r = 2;
      const auto x = gaussian(n, r, 2), b = gaussian(n, r, 3);
      const Guarded<double> y(n, r, 1, 1), low(n, r, 1, 1);
      Checksums checksums(n);
      product.apply_exactly(x.view(), with_b ? b.view() : MatrixView<double>{}, y.view(),
                            low.view(), checksums);
      for (std::int64_t c = 0; c < r; ++c) {
        for (std::int64_t i = 0; i<n; i += n> 200 ? 37 : 1) {
          Quad sum = with_b ? b(i, c) : 0;
          Quad size = abs_of(sum);
          for (std::int64_t j = 0; j < n; ++j) {
            const Quad term = static_cast<Quad>(element(a, i, j)) * x(j, c);
            sum += term;
            size += abs_of(term);
          }
          const auto error =
              static_cast<double>(abs_of(static_cast<Quad>(y(i, c)) + low(i, c) - sum));
          const auto d = static_cast<double>(n + 6);
          ASSERT_LE(error, (4 * d * 0x1p-106 + d * 0x1p-112) * static_cast<double>(size))
              << n << ": (" << i << ", " << c << "), b " << with_b;
          ASSERT_LE(std::abs(low(i, c)), 0x1p-52 * std::abs(y(i, c)));
        }
      }
      ASSERT_TRUE(y.untouched_outside());
      ASSERT_TRUE(low.untouched_outside());
    }
  }
}

TEST_P(GeneralProducts, HaveTheSameBitsForAnyNumberOfThreads) {
  for (const std::int64_t n : {65, 500, kSanitized ? 700 : 2100}) {
    const auto a = gaussian(n, n, 8);
    const auto x = gaussian(n, 3, 9);
    Dense<double> y1(n, 3), exact1(n, 3), low1(n, 3);
    for (int threads = 1; threads <= 4; ++threads) {
      engine::ThreadPool pool(threads);
      GeneralProduct product(pool, a.view(), transposed());
      Dense<double> y(n, 3), exact(n, 3), low(n, 3);
      product.apply(x.view(), y.view());
      Checksums checksums(n);
      product.apply_exactly(x.view(), x.view(), exact.view(), low.view(), checksums);
      if (threads == 1) {
        y1 = y;
        exact1 = exact;
        low1 = low;
      }
      EXPECT_TRUE(same_bits(y.view(), y1.view())) << threads;
      EXPECT_TRUE(same_bits(exact.view(), exact1.view())) << threads;
      EXPECT_TRUE(same_bits(low.view(), low1.view())) << threads;
    }
  }
}

// The exact sums of a column do not depend on the other columns.
TEST_P(GeneralProducts, OfAColumnAreTheSameAmongOthers) {
  engine::ThreadPool pool(1);
  const std::int64_t n = 500;
  const auto a = gaussian(n, n, 8);
  GeneralProduct product(pool, a.view(), transposed());
  const auto x = gaussian(n, 5, 9);
  Dense<double> together(n, 5), low(n, 5), alone(n, 1), alone_low(n, 1);
  Checksums checksums(n);
  product.apply_exactly(x.view(), {}, together.view(), low.view(), checksums);
  for (std::int64_t c = 0; c < 5; ++c) {
    product.apply_exactly(x.view().block(0, c, n, 1), {}, alone.view(), alone_low.view(),
                          checksums);
    EXPECT_TRUE(same_bits(alone.view(), together.view().block(0, c, n, 1))) << c;
  }
}

TEST_P(GeneralProducts, AreScaledByRowsAndColumns) {
  engine::ThreadPool pool(2);
  const std::int64_t n = 130;
  const auto a = gaussian(n, n, 10);
  const auto x = gaussian(n, 2, 11), b = gaussian(n, 2, 12);
  std::vector<double> row, col;
  for (std::int64_t i = 0; i < n; ++i) {
    row.push_back(std::ldexp(1.0, static_cast<int>(i % 11) - 5));
    col.push_back(std::ldexp(1.0, static_cast<int>(i % 7)));
  }
  GeneralProduct product(pool, a.view(), transposed());
  ScaledOperator h(product, row, col);
  for (const Sums sums : {Sums::fp64, Sums::double_double}) {
    Dense<double> y(n, 2), r(n, 2);
    h.apply(x.view(), y.view(), sums, Reads::fp64);
    h.residual(b.view(), x.view(), r.view(), sums);
    for (std::int64_t c = 0; c < 2; ++c) {
      for (std::int64_t i = 0; i < n; ++i) {
        long double sum = 0, size = std::abs(b(i, c));
        for (std::int64_t j = 0; j < n; ++j) {
          const long double term =
              static_cast<long double>(row[i] * element(a, i, j) * col[j]) * x(j, c);
          sum += term;
          size += std::abs(term);
        }
        const double most = static_cast<double>(n + 3) * kU64 * static_cast<double>(size);
        ASSERT_NEAR(y(i, c), static_cast<double>(sum), most);
        ASSERT_NEAR(r(i, c), static_cast<double>(b(i, c) - sum), most);
      }
    }
  }
}

TEST(GeneralScan, FindsBothNorms) {
  for (const std::int64_t n : general_orders()) {
    const auto a = gaussian(n, n, 4);
    a(n - 1, 0) = 100;  // so that the norms differ
    std::vector<double> rows(n), cols(n);
    double largest = 0, squares = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        rows[i] += std::abs(a(i, j));
        cols[j] += std::abs(a(i, j));
        largest = std::max(largest, std::abs(a(i, j)));
        squares += a(i, j) * a(i, j);
      }
    }
    const double by_rows = *std::max_element(rows.begin(), rows.end());
    const double by_cols = *std::max_element(cols.begin(), cols.end());
    const double close = static_cast<double>(2 * n + 4) * kU64;
    MatrixScan first;
    for (int threads = 1; threads <= 3; ++threads) {
      engine::ThreadPool pool(threads);
      const MatrixScan found = scan_general(pool, a.view());
      if (threads == 1) first = found;
      EXPECT_NEAR(found.norm_inf, by_rows, close * by_rows) << n;
      EXPECT_NEAR(found.norm_1, by_cols, close * by_cols) << n;
      EXPECT_EQ(found.scan.max_abs, largest) << n;
      EXPECT_NEAR(kernels::frobenius(found.scan), std::sqrt(squares), 1e-12 * std::sqrt(squares));
      EXPECT_EQ(found.scan.non_finite, 0) << n;
      EXPECT_EQ(found.norm_inf, first.norm_inf) << threads;
      EXPECT_EQ(found.norm_1, first.norm_1) << threads;
      EXPECT_EQ(kernels::frobenius(found.scan), kernels::frobenius(first.scan)) << threads;
    }
  }
}

TEST(GeneralScan, FindsTheFirstNonFiniteElement) {
  engine::ThreadPool pool(2);
  for (const double bad : {kNaN<double>, HUGE_VAL, -HUGE_VAL}) {
    for (const std::int64_t n : {1, 64, 65, 200, 600}) {
      for (const auto& [i, j] : std::vector<std::pair<std::int64_t, std::int64_t>>{
               {0, 0}, {n - 1, 0}, {n - 1, n - 1}, {n / 3, n / 2}, {0, n / 2}}) {
        const auto a = gaussian(n, n, 6);
        a(i, j) = bad;
        a(n - 1, n - 1) = bad;  // a later one
        const MatrixScan found = scan_general(pool, a.view());
        EXPECT_EQ(found.scan.bad_row, i) << n;
        EXPECT_EQ(found.scan.bad_col, j) << n;
        EXPECT_EQ(found.scan.non_finite, i == n - 1 && j == n - 1 ? 1 : 2) << n;
      }
    }
  }
}

TEST(Symmetry, IsToTheBits) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n : {1, 2, 64, 65, 130, 600}) {
    const auto a = gaussian(n, n, 7);
    for (std::int64_t j = 0; j < n; ++j) {
      a(j, j) = 0x1p-1070;
      for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
    }
    EXPECT_TRUE(is_symmetric_with_positive_diagonal(pool, a.view())) << n;
    for (const std::int64_t k : {std::int64_t{0}, n / 2, n - 1}) {
      for (const double bad : {0.0, -1.0, kNaN<double>}) {
        a(k, k) = bad;
        EXPECT_FALSE(is_symmetric_with_positive_diagonal(pool, a.view())) << n << ", " << k;
      }
      a(k, k) = 1;
    }
    for (const auto& [i, j] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, n - 1}, {n - 1, n / 2}, {n / 3, n / 2}}) {
      if (i == j) continue;
      const double before = a(i, j);
      a(i, j) = std::nextafter(before, 0);
      EXPECT_FALSE(is_symmetric_with_positive_diagonal(pool, a.view())) << n << ", " << i;
      a(i, j) = before;
    }
  }
}

}  // namespace
}  // namespace stepwell::refine::test
