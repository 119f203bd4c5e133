// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fixture/fixture.hpp"
#include "kernels/quad.hpp"
#include "kernels/scan.hpp"
#include "refine/operators/symmetric_product.hpp"

/// Products with a symmetric matrix of which the lower triangle is read, and scans of it: accurate
/// to rounding, and the same bits for any number of threads.
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

/// Gaussian below and on the diagonal, NaN above it and around it.
Guarded<double> lower(std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  Guarded<double> a(n, n, 3, 1, kNaN<double>);
  a.fill([&](auto, auto) { return random.gaussian(); }, kernels::Shape::lower);
  return a;
}

double element(const Guarded<double>& a, std::int64_t i, std::int64_t j) {
  return i >= j ? a(i, j) : a(j, i);
}

Guarded<double> vectors(std::int64_t n, std::int64_t r, std::uint64_t seed) {
  Random random(seed);
  Guarded<double> x(n, r, 2, 1, kNaN<double>);
  x.fill([&](auto, auto) { return random.gaussian(); });
  return x;
}

std::vector<std::int64_t> symmetric_orders() {
  std::vector<std::int64_t> n = {1,   2,   3,   31,  63,  64,  65,  127,
                                 128, 129, 191, 192, 193, 255, 400, 600};
  if (!kSanitized) n.insert(n.end(), {1000, 2047, 2049});
  return n;
}

TEST(SymmetricProduct, IsRightToRounding) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n : symmetric_orders()) {
    const auto a = lower(n, 1);
    SymmetricProduct product(pool, a.view());
    for (const std::int64_t r : {1, 3}) {
      const auto x = vectors(n, r, 2);
      const Guarded<double> y(n, r, 1, 1);
      product.apply(x.view(), y.view());
      for (std::int64_t c = 0; c < r; ++c) {
        for (std::int64_t i = 0; i<n; i += n> 500 ? 13 : 1) {
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

/// The product that makes the copy has the bits of any other; those with the copy have the error of
/// the copy's rounding.
TEST(SymmetricProduct, WithACopyIsRightToTheCopysRounding) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n : symmetric_orders()) {
    const auto a = lower(n, 1);
    const auto x = vectors(n, 1, 2);
    std::vector<double> scale;
    for (std::int64_t i = 0; i < n; ++i) {
      scale.push_back(std::ldexp(1.0, static_cast<int>(i % 9) - 4));
    }
    SymmetricProduct product(pool, a.view());
    Dense<double> y(n, 1), with_copy(n, 1);
    product.apply(x.view(), y.view());
    EXPECT_FALSE(product.has_copy());
    product.apply_and_copy(x.view(), with_copy.view(), {scale.data(), scale.data()});
    ASSERT_TRUE(product.has_copy());
    EXPECT_TRUE(same_bits<double>(y.view(), with_copy.view()));
    product.apply_copy(x.view(), with_copy.view());
    for (std::int64_t i = 0; i<n; i += n> 500 ? 13 : 1) {
      long double sum = 0, size = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const auto k = static_cast<std::size_t>(i), m = static_cast<std::size_t>(j);
        const double h = scale[k] * element(a, i, j) * scale[m];
        const long double term = static_cast<long double>(static_cast<float>(h)) * x(j, 0);
        sum += term;
        size += std::abs(term);
      }
      const auto error = std::abs(static_cast<double>(with_copy(i, 0) - sum));
      ASSERT_LE(error, static_cast<double>(n + 2) * kU64 * static_cast<double>(size)) << n << i;
    }
    product.release();
    EXPECT_FALSE(product.has_copy());
  }
}

TEST(SymmetricProduct, TakesNoMoreMemoryForACopyThanItSays) {
  engine::ThreadPool pool(1);
  for (const std::int64_t n : symmetric_orders()) {
    std::int64_t elements = 0;
    for (std::int64_t c = 0; c < n; c += 64) {
      elements += (n - c + 15) / 16 * 16 * std::min<std::int64_t>(64, n - c);
    }
    EXPECT_LE(4 * elements, SymmetricProduct::copy_bytes(n)) << n;
    EXPECT_LE(SymmetricProduct::copy_bytes(n), 2 * (n + 128) * (n + 128)) << n;
  }
}

/// For Gaussian elements, and for equal ones, whose sums are all rounded in the same direction.
TEST(SymmetricProduct, WithBlockedSumsErrsByNoMoreThanItsDepth) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n : symmetric_orders()) {
    const Guarded<double> equal(n, n, 3);
    equal.fill([](auto i, auto j) { return i < j ? NAN : i == j ? 100 : 0.6; });
    const auto gaussian = lower(n, 1);
    for (const auto* a : {&gaussian, &equal}) {
      SymmetricProduct product(pool, a->view());
      const auto x = vectors(n, 3, 2);
      if (a == &equal) x.fill([](auto, auto c) { return c == 0 ? 1.0 : 0.7; });
      Dense<double> y(n, 3);
      Checksums checksums(n);
      product.apply_blocked(x.view(), y.view(), checksums);
      for (std::int64_t c = 0; c < 3; ++c) {
        for (std::int64_t i = 0; i<n; i += n> 500 ? 13 : 1) {
          Quad sum = 0, size = 0;
          for (std::int64_t j = 0; j < n; ++j) {
            const Quad term = static_cast<Quad>(element(*a, i, j)) * x(j, c);
            sum += term;
            size += abs_of(term);
          }
          const auto error = static_cast<double>(abs_of(y(i, c) - sum));
          const double most = static_cast<double>(product.depth()) * kU64;
          ASSERT_LE(error, most * static_cast<double>(size)) << n << ": (" << i << ", " << c << ")";
        }
      }
    }
  }
}

/// An FP64 residual is conclusive only if the depth of its sums is below sqrt(n) units.
TEST(SymmetricProduct, HasADepthBelowTheTolerance) {
  engine::ThreadPool pool(1);
  for (const std::int64_t n : {256, 300, 512, 896, 1000, 1024, 2048, 4096, 8192, 16384, 32768}) {
    SymmetricProduct product(pool, view<const double>(nullptr, n, n));
    EXPECT_LE(static_cast<double>(product.depth() + 3), std::sqrt(static_cast<double>(n))) << n;
  }
}

TEST(SymmetricProduct, SeesEveryBitOfTheTriangleInEachPass) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n : {1, 64, 65, 700}) {
    const auto a = lower(n, 1);
    SymmetricProduct product(pool, a.view());
    const auto x = vectors(n, 2, 2);
    Dense<double> y(n, 2), low(n, 2);
    MatrixScan first;
    product.apply(x.view(), y.view(), &first);
    for (const bool flipped : {false, true}) {
      const std::int64_t i = n - 1, j = n / 2;
      double& element = a.view()(i, j);
      if (flipped) element = std::nextafter(element, 2);
      Checksums blocked(n), exact(n);
      product.apply_blocked(x.view(), y.view(), blocked);
      product.apply_exactly(x.view(), {}, y.view(), low.view(), exact);
      const std::int64_t where = flipped ? j / Checksums::kColumns * Checksums::kColumns : -1;
      EXPECT_EQ(first.checksums.first_difference(blocked), where) << n;
      EXPECT_EQ(first.checksums.first_difference(exact), where) << n;
    }
  }
}

TEST(SymmetricProduct, IsExactToTwiceTheDigits) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n : symmetric_orders()) {
    const auto a = lower(n, 1);
    SymmetricProduct product(pool, a.view());
    for (const bool with_b : {false, true}) {
      const std::int64_t r = 2;
      const auto x = vectors(n, r, 2), b = vectors(n, r, 3);
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

MatrixScan scan_of(MatrixView<const double> a, bool check_symmetry = false, int threads = 2) {
  engine::ThreadPool pool(threads);
  SymmetricProduct product(pool, a);
  MatrixScan found;
  product.apply({}, view<double>(nullptr, a.rows, 0), &found, check_symmetry);
  return found;
}

TEST(MatrixScan, FindsTheNormsWithAndWithoutAProduct) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n : symmetric_orders()) {
    const auto a = lower(n, 4);
    double norm = 0, largest = 0, squares = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += std::abs(element(a, i, j));
      norm = std::max(norm, sum);
      for (std::int64_t j = 0; j <= i; ++j) {
        largest = std::max(largest, std::abs(a(i, j)));
        squares += a(i, j) * a(i, j);
      }
    }
    const double close = static_cast<double>(2 * n + 4) * kU64;
    const MatrixScan alone = scan_of(a.view());
    EXPECT_NEAR(alone.norm_inf, norm, close * norm) << n;
    EXPECT_EQ(alone.scan.max_abs, largest) << n;
    EXPECT_NEAR(kernels::frobenius(alone.scan), std::sqrt(squares), 1e-12 * std::sqrt(squares));
    EXPECT_EQ(alone.scan.non_finite, 0) << n;

    SymmetricProduct product(pool, a.view());
    const auto x = vectors(n, 2, 5);
    Dense<double> plain(n, 2), y(n, 2);
    MatrixScan found;
    product.apply(x.view(), plain.view());
    product.apply(x.view(), y.view(), &found);
    EXPECT_TRUE(same_bits(y.view(), plain.view())) << n;
    EXPECT_EQ(found.norm_inf, alone.norm_inf) << n;
  }
}

TEST(MatrixScan, SurvivesTheEndsOfTheRange) {
  for (const double scale : {0x1p-1040, 0x1p-1000, 0x1p1000}) {
    const std::int64_t n = 200;
    const auto a = lower(n, 4);
    Guarded<double> scaled(n, n, 1, 0, kNaN<double>);
    scaled.fill([&](auto i, auto j) { return a(i, j) * scale; }, kernels::Shape::lower);
    const MatrixScan plain = scan_of(a.view()), found = scan_of(scaled.view());
    EXPECT_EQ(found.scan.max_abs, plain.scan.max_abs * scale);
    EXPECT_NEAR(found.norm_inf / scale, plain.norm_inf, 0x1p-30 * plain.norm_inf);
    EXPECT_EQ(found.scan.non_finite, 0);
  }
}

TEST(MatrixScan, FindsTheFirstNonFiniteElement) {
  for (const double bad : {kNaN<double>, HUGE_VAL, -HUGE_VAL}) {
    for (const std::int64_t n : {1, 64, 65, 200, 600}) {
      for (const auto& [i, j] : std::vector<std::pair<std::int64_t, std::int64_t>>{
               {0, 0}, {n - 1, 0}, {n - 1, n - 1}, {n / 2, n / 3}, {n - 1, n / 2}}) {
        const auto a = lower(n, 6);
        a(i, j) = bad;
        a(n - 1, n - 1) = bad;  // a later one
        const MatrixScan found = scan_of(a.view());
        EXPECT_EQ(found.scan.bad_row, i) << n;
        EXPECT_EQ(found.scan.bad_col, j) << n;
        EXPECT_EQ(found.scan.non_finite, i == n - 1 && j == n - 1 ? 1 : 2) << n;
      }
    }
  }
}

TEST(MatrixScan, ComparesTheTriangles) {
  for (const std::int64_t n : {2, 64, 65, 130, 300, 600}) {
    const auto a = lower(n, 7);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
    }
    EXPECT_EQ(scan_of(a.view(), true).scan.asymmetry, 0) << n;
    for (const auto& [i, j] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {n - 1, 0}, {1, 0}, {n - 1, n - 2}, {n / 2 + 1 < n ? n / 2 + 1 : n - 1, n / 2 - 1}}) {
      const double before = a(j, i);
      a(j, i) += 0.125;  // above the diagonal
      const MatrixScan found = scan_of(a.view(), true);
      EXPECT_NEAR(found.scan.asymmetry, 0.125, 1e-12) << n;
      EXPECT_EQ(found.scan.asymmetry_row, i) << n;
      EXPECT_EQ(found.scan.asymmetry_col, j) << n;
      EXPECT_EQ(scan_of(a.view()).scan.asymmetry, 0) << "not asked for";
      a(j, i) = before;
    }
  }
}

TEST(SymmetricProduct, HasTheSameBitsForAnyNumberOfThreads) {
  for (const std::int64_t n : {65, 500, kSanitized ? 700 : 2100}) {
    const auto a = lower(n, 8);
    const auto x = vectors(n, 3, 9);
    Dense<double> y1(n, 3), exact1(n, 3), low1(n, 3);
    MatrixScan scan1;
    for (int threads = 1; threads <= 4; ++threads) {
      engine::ThreadPool pool(threads);
      SymmetricProduct product(pool, a.view());
      Dense<double> y(n, 3), exact(n, 3), low(n, 3);
      MatrixScan found;
      product.apply(x.view(), y.view(), &found);
      Checksums checksums(n);
      product.apply_exactly(x.view(), x.view(), exact.view(), low.view(), checksums);
      if (threads == 1) {
        y1 = y;
        exact1 = exact;
        low1 = low;
        scan1 = found;
      }
      EXPECT_TRUE(same_bits(y.view(), y1.view())) << threads;
      EXPECT_TRUE(same_bits(exact.view(), exact1.view())) << threads;
      EXPECT_TRUE(same_bits(low.view(), low1.view())) << threads;
      EXPECT_EQ(found.norm_inf, scan1.norm_inf) << threads;
      EXPECT_EQ(kernels::frobenius(found.scan), kernels::frobenius(scan1.scan)) << threads;
    }
  }
}

// The sums of a column do not depend on the other columns.
TEST(SymmetricProduct, OfAColumnIsTheSameAmongOthers) {
  engine::ThreadPool pool(1);
  const std::int64_t n = 500;
  const auto a = lower(n, 8);
  SymmetricProduct product(pool, a.view());
  const auto x = vectors(n, 5, 9);
  Dense<double> together(n, 5), low(n, 5), alone(n, 1), alone_low(n, 1);
  Checksums checksums(n);
  product.apply_exactly(x.view(), {}, together.view(), low.view(), checksums);
  for (std::int64_t c = 0; c < 5; ++c) {
    product.apply_exactly(x.view().block(0, c, n, 1), {}, alone.view(), alone_low.view(),
                          checksums);
    EXPECT_TRUE(same_bits(alone.view(), together.view().block(0, c, n, 1))) << c;
  }
}

}  // namespace
}  // namespace stepwell::refine::test
