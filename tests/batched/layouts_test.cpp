// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batched/batch_fixture.hpp"
#include "sanitized.hpp"

/// Every order, both formats, every layout, both triangles.
namespace stepwell::test {
namespace {

template <class T>
class BatchLayouts : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BatchLayouts, Types);

std::vector<std::int64_t> orders() {
  std::vector<std::int64_t> all;
  for (std::int64_t n = 1; n <= kBatchOrder; n += kSanitized && n > 20 ? 27 : 1) all.push_back(n);
  return all;
}

/// The number of matrices: two packs of one register and a few more, so that one pack is not full.
template <class T>
std::int64_t some() {
  return 2 * batch_lanes(kFormat<T>) + 3;
}

TYPED_TEST(BatchLayouts, FactorsAndSolutionsAreGoodToRounding) {
  using T = TypeParam;
  for (const std::int64_t n : orders()) {
    const Plain<T> a = definite<T>(some<T>(), n, static_cast<std::uint64_t>(n));
    const Plain<T> b = right_hand_sides<T>(a.count, n, 2, 1);
    Plain<T> factor = a, x = b;
    const BatchReport report = batch_factor_solve(factor.view(), x.view());
    ASSERT_TRUE(report.ok()) << n;
    for (const std::int64_t m : {std::int64_t{0}, n % a.count, a.count - 1}) {
      ASSERT_TRUE(is_factor(a, factor, Triangle::lower, m)) << "n = " << n;
      ASSERT_TRUE(is_solution(a, factor, Triangle::lower, b, x, m)) << "n = " << n;
      Plain<T> lapacks = a;
      ASSERT_EQ(lapack_factor(lapacks[m], n), -1);
      // Both have a backward error of n u; the condition number is about ten, the scales differ by
      // up to 16.
      const double bound = 100 * static_cast<double>(n + 4) * kRoundoff<T>;
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = j; i < n; ++i) {
          const double difference = std::abs(factor[m][i + j * n] - lapacks[m][i + j * n]);
          ASSERT_LE(difference, bound * lapacks[m][i + i * n]) << n << ": " << i << ", " << j;
        }
      }
    }
  }
}

TYPED_TEST(BatchLayouts, HaveTheSameBitsAndNothingElseIsTouched) {
  using T = TypeParam;
  for (const std::int64_t n : orders()) {
    const Plain<T> a = definite<T>(some<T>(), n, static_cast<std::uint64_t>(n));
    const Plain<T> b = right_hand_sides<T>(a.count, n, 1, 2);
    Plain<T> factor = a, x = b;
    ASSERT_TRUE(batch_factor_solve(factor.view(), x.view()).ok());
    for (const Layout layout : kLayouts) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        const std::string where = "n = " + std::to_string(n) + ", layout " +
                                  std::to_string(static_cast<int>(layout)) +
                                  (triangle == Triangle::lower ? ", lower" : ", upper");
        Stored<T> stored(layout, only(triangle, a)), right(layout, b);
        const std::vector<T> before = stored.memory(), right_before = right.memory();
        BatchOptions options;
        options.triangle = triangle;
        ASSERT_TRUE(batch_factor_solve(stored.view(), right.view(), options).ok()) << where;
        ASSERT_TRUE(stored.unchanged(before, [&](auto, auto i, auto j) {
          return inside(triangle, i, j);
        })) << where;
        ASSERT_TRUE(right.unchanged(right_before, [](auto, auto, auto) { return true; })) << where;
        const Plain<T> got = stored.plain();
        for (std::int64_t m = 0; m < a.count; ++m) {
          for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t i = j; i < n; ++i) {
              const T l = factor_element(got, triangle, m, i, j);
              ASSERT_TRUE(same_bits(&l, &factor[m][i + j * n], 1))
                  << where << ", matrix " << m << ": (" << i << ", " << j << ")";
            }
          }
        }
        ASSERT_TRUE(same_bits(right.plain()[0], x[0], a.count * n)) << where;
      }
    }
  }
}

TYPED_TEST(BatchLayouts, EveryEntryPointGivesTheSameBits) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 5, 8, 13, 16, 31, 64, 100, 128}) {
    if (kSanitized && n > 64) continue;
    for (const Layout layout : kLayouts) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        const Plain<T> a = definite<T>(some<T>(), n, 3);
        const Plain<T> b = right_hand_sides<T>(a.count, n, 3, 4);
        BatchOptions options;
        options.triangle = triangle;
        Stored<T> both(layout, only(triangle, a)), x(layout, b);
        ASSERT_TRUE(batch_factor_solve(both.view(), x.view(), options).ok());

        Stored<T> factor(layout, only(triangle, a)), by_substitution(layout, b);
        ASSERT_TRUE(batch_cholesky(factor.view(), options).ok());
        EXPECT_TRUE(factor.unchanged(both.memory(), [](auto...) { return false; })) << n;
        ASSERT_TRUE(batch_substitute(factor.view(), by_substitution.view(), options).ok());
        EXPECT_TRUE(by_substitution.unchanged(x.memory(), [](auto...) { return false; })) << n;

        Stored<T> kept(layout, only(triangle, a)), solved(layout, b);
        const std::vector<T> before = kept.memory();
        ASSERT_TRUE(batch_solve(kept.view(), solved.view(), options).ok());
        EXPECT_TRUE(solved.unchanged(x.memory(), [](auto...) { return false; })) << n;
        EXPECT_TRUE(kept.unchanged(before, [](auto...) { return false; })) << n;
      }
    }
  }
}

TYPED_TEST(BatchLayouts, BothTrianglesAreEachOthersTranspose) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 3, 16, 37, 128}) {
    for (const Layout layout : kLayouts) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        const Plain<T> a = definite<T>(some<T>(), n, 5);
        Plain<T> expected = a;
        ASSERT_TRUE(batch_cholesky(expected.view()).ok());
        Stored<T> stored(layout, only(triangle, a));
        const std::vector<T> before = stored.memory();
        BatchOptions options;
        options.triangle = triangle;
        options.both_triangles = true;
        ASSERT_TRUE(batch_cholesky(stored.view(), options).ok());
        EXPECT_TRUE(stored.unchanged(before, [](auto...) { return true; }));
        for (std::int64_t m = 0; m < a.count; ++m) {
          for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t i = j; i < n; ++i) {
              const T* const l = &expected[m][i + j * n];
              ASSERT_TRUE(same_bits(&stored(m, i, j), l, 1)) << n << ": " << i << ", " << j;
              ASSERT_TRUE(same_bits(&stored(m, j, i), l, 1)) << n << ": " << i << ", " << j;
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(BatchLayouts, LogDeterminantsAreThoseOfTheFactors) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 7, 32, 128}) {
    Plain<T> a = definite<T>(some<T>(), n, 6);
    for (const double scale : {1.0, 1e-30, 1e30}) {  // a product of pivots would over- or underflow
      Plain<T> f = a;
      for (T& x : f.data) x = static_cast<T>(x * scale);
      std::vector<double> logs(static_cast<std::size_t>(a.count));
      BatchOutputs outputs;
      outputs.log_determinants = logs;
      ASSERT_TRUE(batch_cholesky(f.view(), {}, outputs).ok());
      for (std::int64_t m = 0; m < a.count; ++m) {
        long double expected = 0, size = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          const long double term = 2 * std::log(static_cast<long double>(f[m][i + i * n]));
          expected += term;
          size += std::abs(term);
        }
        const auto bound = static_cast<double>((n + 4) * 0x1p-52L * (size + 1));
        EXPECT_NEAR(logs[static_cast<std::size_t>(m)], static_cast<double>(expected), bound) << n;
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::test
