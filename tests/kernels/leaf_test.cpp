// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "kernels/fixture/fixture.hpp"

/// The leaves of the recursions: Cholesky and triangular solve up to order kLeaf, inversion up to
/// kInvertLeaf.
namespace stepwell::kernels::test {
namespace {

template <class T>
struct Leaves;
template <>
struct Leaves<float> {
  static Pivot potrf(const Table& t, MatrixView<float> a) { return t.potrf_fp32.run(a); }
  static void trsm(const Table& t, MatrixView<const float> l, MatrixView<float> b) {
    t.trsm_fp32.run(l, b);
  }
  static void invert(const Table& t, MatrixView<const float> l, MatrixView<float> w) {
    t.invert_fp32.run(l, w);
  }
};
template <>
struct Leaves<double> {
  static Pivot potrf(const Table& t, MatrixView<double> a) { return t.potrf_fp64.run(a); }
  static void trsm(const Table& t, MatrixView<const double> l, MatrixView<double> b) {
    t.trsm_fp64.run(l, b);
  }
  static void invert(const Table& t, MatrixView<const double> l, MatrixView<double> w) {
    t.invert_fp64.run(l, w);
  }
};

class LeafTest : public PerIsa {
 protected:
  /// |A - L L'| <= (n + 4) u |L||L'| element-wise: Higham 2002, Theorem 10.3, plus three roundings
  /// for the reciprocal of the root; doubled for the sums of this test.
  template <class T>
  void expect_factor() {
    for (std::int64_t n = 1; n <= kLeaf; ++n) {
      SCOPED_TRACE(::testing::Message() << "n " << n << " seed " << kSeed << "+" << n);
      Random random(kSeed + n);
      const Guarded<double> l(n, n);
      fill_triangle(l, random);
      const Dense<double> lower = copy(l.view(), Shape::lower);
      const Product exact = exact_product(lower, lower);
      const Guarded<T> a(n, n, n % 3, n % 4, kNaN<T>);
      a.fill([&](auto i, auto j) { return exact.value(i, j); }, Shape::lower);
      const Dense<double> start = copy(a.view(), Shape::lower);
      const Pivot pivot = Leaves<T>::potrf(table_, a.view());
      ASSERT_TRUE(pivot.ok()) << pivot.index << ": " << pivot.value;
      ASSERT_TRUE(a.untouched_outside(Shape::lower));
      const Dense<double> factor = copy(a.view(), Shape::lower);
      const Product p = exact_product(factor, factor);
      const double error = static_cast<double>(2 * (n + 4)) * kRoundoff<T>;
      ASSERT_TRUE(within(
          start.view(), [&](auto i, auto j) { return p.value(i, j); },
          [&](auto i, auto j) { return error * p.magnitude(i, j); }, Shape::lower));
      const Guarded<T> twin(n, n);
      twin.fill([&](auto i, auto j) { return start(i, j); }, Shape::lower);
      ASSERT_TRUE(Leaves<T>::potrf(reference_table(), twin.view()).ok());
      // Both factor the same matrix: their difference is the error times the condition number.
      ASSERT_TRUE(within(
          a.view(), [&](auto i, auto j) { return twin(i, j); },
          [&](auto, auto) { return 100 * error * static_cast<double>(n); }, Shape::lower));
    }
  }

  /// Small integers with roots 1 and 2: nothing is rounded, so the failing pivot's value is exact.
  template <class T>
  void expect_failing_pivot(std::int64_t n, std::int64_t at, double planted) {
    SCOPED_TRACE(::testing::Message() << "n " << n << " pivot " << at << " value " << planted);
    Random random(kSeed);
    Dense<double> l(n, n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) {
        l(i, j) = static_cast<double>(i == j ? random.integer(1, 2) : random.integer(-1, 1));
      }
    }
    const Product exact = exact_product(l, l);
    const Guarded<T> a(n, n, 1, 1, kNaN<T>);
    a.fill([&](auto i, auto j) { return exact.value(i, j); }, Shape::lower);
    a(at, at) = static_cast<T>(exact.value(at, at) - l(at, at) * l(at, at) + planted);
    const Pivot pivot = Leaves<T>::potrf(table_, a.view());
    ASSERT_EQ(pivot.index, at);
    if (std::isnan(planted)) {
      ASSERT_TRUE(std::isnan(pivot.value)) << pivot.value;
    } else {
      ASSERT_EQ(pivot.value, planted);
    }
    for (std::int64_t j = 0; j < at; ++j) {
      for (std::int64_t i = j; i < n; ++i) ASSERT_EQ(a(i, j), l(i, j)) << i << ", " << j;
    }
    ASSERT_TRUE(a.untouched_outside(Shape::lower));
  }
  template <class T>
  void expect_failing_pivots() {
    constexpr double inf = std::numeric_limits<double>::infinity();
    for (std::int64_t n : {1, 2, 17, 33, 64}) {
      for (std::int64_t at = 0; at < n; ++at) {
        for (double planted : {-1.0, 0.0, kNaN<double>, inf, -inf}) {
          expect_failing_pivot<T>(n, at, planted);
          if (HasFatalFailure()) return;
        }
      }
    }
  }

  /// |B - X L'| <= (n + 3) u |X||L'| element-wise: Higham 2002, Theorem 8.5; doubled as above.
  template <class T>
  void expect_solve() {
    for (std::int64_t n = 1; n <= kLeaf; ++n) {
      for (std::int64_t m : {n * 29 % 71 + 1, n % 8 == 0 ? std::int64_t{513} : 71 - n}) {
        SCOPED_TRACE(::testing::Message() << m << " x " << n << " seed " << kSeed << "+" << n);
        Random random(kSeed + n);
        const Guarded<T> l(n, n, n % 2, n % 4, kNaN<T>);
        fill_triangle(l, random);
        const Guarded<T> b(m, n, n % 3, n % 4);
        b.fill([&](auto, auto) { return random.gaussian(); });
        const Dense<double> start = copy(b.view(), Shape::full);
        Leaves<T>::trsm(table_, l.view(), b.view());
        ASSERT_TRUE(b.untouched_outside());
        ASSERT_TRUE(l.untouched_outside(Shape::lower));
        const Product p = exact_product(copy(b.view(), Shape::full), copy(l.view(), Shape::lower));
        const double error = static_cast<double>(2 * (n + 3)) * kRoundoff<T>;
        ASSERT_TRUE(within(
            start.view(), [&](auto i, auto j) { return p.value(i, j); },
            [&](auto i, auto j) { return error * p.magnitude(i, j); }));
      }
    }
  }

  /// |W - L^-1| <= (n + 4) u |L^-1||L||L^-1| (Higham 2002, section 14.2.1), compared with an
  /// inverse in long double.
  template <class T>
  void expect_inverse() {
    for (std::int64_t n = 1; n <= kInvertLeaf; n += n < kLeaf ? 1 : 9) {
      SCOPED_TRACE(::testing::Message() << "n " << n << " seed " << kSeed << "+" << n);
      Random random(kSeed + n);
      const Guarded<T> l(n, n, n % 2, n % 4, kNaN<T>), w(n, n, n % 3, (n + 1) % 4);
      fill_triangle(l, random);
      w.fill([](auto, auto) { return kNaN<T>; });
      Leaves<T>::invert(table_, l.view(), w.view());
      const Dense<double> lower = copy(l.view(), Shape::lower), inverse = inverse_of(lower);
      const Dense<double> half = exact_product(inverse, transposed(lower)).magnitude;
      const Dense<double> growth = exact_product(half, transposed(inverse)).magnitude;
      const double error = static_cast<double>(2 * (n + 4)) * kRoundoff<T>;
      ASSERT_TRUE(within(
          w.view(), [&](auto i, auto j) { return inverse(i, j); },
          [&](auto i, auto j) { return i < j ? 0.0 : error * growth(i, j); }));
      ASSERT_TRUE(w.untouched_outside());
      ASSERT_TRUE(l.untouched_outside(Shape::lower));
    }
  }

  template <class T>
  void expect_nothing_past_the_end() {
    for (std::int64_t n : {1, 5, 16, 31, 64}) {
      const PageEnd l_end(n * n * sizeof(T)), b_end(3 * n * sizeof(T)), w_end(n * n * sizeof(T));
      const MatrixView<T> l = view(l_end.as<T>(), n, n), b = view(b_end.as<T>(), 3, n);
      for (std::int64_t i = 0; i < n; ++i) l(i, i) = 4;
      b(2, n - 1) = 8;
      EXPECT_TRUE(Leaves<T>::potrf(table_, l).ok());
      Leaves<T>::trsm(table_, l, b);
      Leaves<T>::invert(table_, l, view(w_end.as<T>(), n, n));
      EXPECT_EQ(b(2, n - 1), 4);
      EXPECT_EQ(w_end.as<T>()[n * n - 1], T{0.5});
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, LeafTest, every_vector_isa(), isa_name);

TEST_P(LeafTest, TheFactorTimesItsTransposeIsTheMatrix) {
  expect_factor<float>();
  expect_factor<double>();
}
TEST_P(LeafTest, AFailingPivotIsReportedWithItsIndexAndValueAndTheColumnsBeforeItAreDone) {
  expect_failing_pivots<float>();
  expect_failing_pivots<double>();
}
TEST_P(LeafTest, TheSolutionTimesTheTriangleIsTheRightHandSide) {
  expect_solve<float>();
  expect_solve<double>();
}
TEST_P(LeafTest, TheInverseIsAccurateAndItsUpperTriangleZero) {
  expect_inverse<float>();
  expect_inverse<double>();
}
TEST_P(LeafTest, NothingIsReadOrWrittenPastTheEnd) {
  expect_nothing_past_the_end<float>();
  expect_nothing_past_the_end<double>();
}

}  // namespace
}  // namespace stepwell::kernels::test
