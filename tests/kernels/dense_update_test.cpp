// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "kernels/fixture/fixture.hpp"

/// C -= A B' on plain fp32 and fp64 matrices (CBLAS, or the reference loop).
namespace stepwell::kernels::test {
namespace {

class DenseUpdateTest : public PerIsa {
 protected:
  template <class T>
  void expect_accuracy() {
    std::int64_t turn = 0;
    for (const auto& [m, n, k] : contract_sizes(GetParam() != core::Isa::amx)) {
      Random random(kSeed + turn);
      constexpr std::array<std::int64_t, 3> pads = {0, 1, 7}, offsets = {0, 1, 3};
      const Guarded<T> a(m, k, pads[turn % 3], offsets[turn % 3], kNaN<T>);
      const Guarded<T> b(n, k, pads[(turn + 1) % 3], offsets[turn / 3 % 3], kNaN<T>);
      a.fill([&](auto, auto) { return random.gaussian(); });
      b.fill([&](auto, auto) { return random.gaussian(); });
      Dense<long double> product(m, n), magnitude(m, n);
      multiply(a.view(), b.view(), product, magnitude);
      const auto start = [&](auto i, auto j) { return static_cast<T>((i % 7 - 3) * 0.3 + j); };
      for (Shape shape : {Shape::full, Shape::lower}) {
        for (Write write : {Write::subtract, Write::assign}) {
          const bool assign = write == Write::assign;
          const Guarded<T> c(m, n, pads[turn / 3 % 3], offsets[turn % 3]);
          SCOPED_TRACE(::testing::Message()
                       << "m " << m << " n " << n << " k " << k << " lower " << int(shape)
                       << " assign " << int(assign) << " turn " << turn << " seed " << kSeed);
          ++turn;
          c.fill([&](auto i, auto j) { return assign ? kNaN<T> : start(i, j); }, shape);
          update(table_, a.view(), b.view(), c.view(), shape, write);
          // Worst case of k products, k - 1 sums and the subtraction (Higham 2002, section 3.1).
          const double error = static_cast<double>(k + 2) * kRoundoff<T>;
          for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t i = shape == Shape::lower ? j : 0; i < m; ++i) {
              const long double c0 = assign ? 0.0L : start(i, j);
              const long double expected = assign ? product(i, j) : c0 - product(i, j);
              const long double off = std::abs(c(i, j) - expected);
              ASSERT_TRUE(off <= error * (magnitude(i, j) + std::abs(c0)))
                  << "(" << i << ", " << j << "): " << c(i, j) << " off by " << off;
            }
          }
          ASSERT_TRUE(c.untouched_outside(shape));
        }
      }
      ASSERT_TRUE(a.untouched_outside());
      ASSERT_TRUE(b.untouched_outside());
    }
  }

  /// A B' with B = A, for which a symmetric routine may be called.
  template <class T>
  void expect_symmetric_update() {
    Random random(kSeed);
    for (const auto& [m, n, k] :
         {Sizes{1, 1, 1}, {65, 65, 33}, {130, 130, 70}, {100, 70, 40}, {40, 70, 100}}) {
      const Guarded<T> a(std::max(m, n), k, 1, 1), c(m, n, 7, 3), twin(m, n);
      a.fill([&](auto, auto) { return random.gaussian(); });
      const MatrixView<T> left = a.view().block(0, 0, m, k), right = a.view().block(0, 0, n, k);
      for (Write write : {Write::subtract, Write::assign}) {
        c.fill([](auto i, auto j) { return i + j; }, Shape::lower);
        twin.fill([](auto i, auto j) { return i + j; }, Shape::lower);
        update(table_, left, right, c.view(), Shape::lower, write);
        update(reference_table(), left, right, twin.view(), Shape::lower, write);
        const double error = 2 * static_cast<double>(k + 2) * kRoundoff<T>;
        EXPECT_TRUE(within(
            c.view(), [&](auto i, auto j) { return twin(i, j); },
            [&, depth = k](auto i, auto j) {
              double magnitude = static_cast<double>(i + j);
              for (std::int64_t p = 0; p < depth; ++p) magnitude += std::abs(a(i, p) * a(j, p));
              return error * magnitude;
            },
            Shape::lower))
            << m << " x " << n << " x " << k;
        EXPECT_TRUE(c.untouched_outside(Shape::lower));
      }
    }
  }

  template <class T>
  void expect_empty_sums_are_zero() {
    const Guarded<T> a(9, 0), b(9, 0), c(9, 9, 1);
    const Guarded<T> full(9, 5);
    full.fill([](auto, auto) { return 1; });
    for (Shape shape : {Shape::full, Shape::lower}) {
      c.fill([](auto i, auto j) { return i - j + 1; });
      const auto before = [](auto i, auto j) { return double(i - j + 1); };
      const auto zero = [](auto, auto) { return 0.0; };
      update(table_, a.view(), b.view(), c.view(), shape, Write::subtract);
      update(table_, full.view().block(0, 0, 0, 5), full.view(), c.view().block(0, 0, 0, 9), shape,
             Write::assign);
      update(table_, full.view(), full.view().block(0, 0, 0, 5), c.view().block(0, 0, 9, 0), shape,
             Write::assign);
      EXPECT_TRUE(within(c.view(), before, zero));
      update(table_, a.view(), b.view(), c.view(), shape, Write::assign);
      EXPECT_TRUE(within(c.view(), zero, zero, shape));
      EXPECT_TRUE(c.untouched_outside());
    }
  }

  template <class T>
  void expect_non_finite_stays_in_its_row() {
    Random random(kSeed);
    const std::int64_t m = 40, n = 37, k = 29;
    for (T bad : {kNaN<T>, std::numeric_limits<T>::infinity()}) {
      const Guarded<T> a(m, k), b(n, k), c(m, n);
      a.fill([&](auto, auto) { return random.gaussian(); });
      b.fill([&](auto, auto) { return random.gaussian(); });
      a(17, 5) = bad;
      update(table_, a.view(), b.view(), c.view(), Shape::full, Write::assign);
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < m; ++i) ASSERT_EQ(std::isfinite(c(i, j)), i != 17);
      }
    }
  }

 private:
  template <class T>
  static void multiply(MatrixView<T> a, MatrixView<T> b, Dense<long double>& product,
                       Dense<long double>& magnitude) {
    for (std::int64_t j = 0; j < b.rows; ++j) {
      for (std::int64_t k = 0; k < a.cols; ++k) {
        for (std::int64_t i = 0; i < a.rows; ++i) {
          const long double p = static_cast<long double>(a(i, k)) * b(j, k);
          product(i, j) += p;
          magnitude(i, j) += std::abs(p);
        }
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, DenseUpdateTest, every_vector_isa(), isa_name);

TEST_P(DenseUpdateTest, Fp32AgreesWithTheExactProductAndWritesNothingElse) {
  expect_accuracy<float>();
}
TEST_P(DenseUpdateTest, Fp64AgreesWithTheExactProductAndWritesNothingElse) {
  expect_accuracy<double>();
}
TEST_P(DenseUpdateTest, TheLowerTriangleOfASymmetricProductAgreesWithTheReference) {
  expect_symmetric_update<float>();
  expect_symmetric_update<double>();
}
TEST_P(DenseUpdateTest, EmptySumsAreZero) {
  expect_empty_sums_are_zero<float>();
  expect_empty_sums_are_zero<double>();
}
TEST_P(DenseUpdateTest, NonFiniteElementsStayInTheirRow) {
  expect_non_finite_stays_in_its_row<float>();
  expect_non_finite_stays_in_its_row<double>();
}

}  // namespace
}  // namespace stepwell::kernels::test
