// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/quad.hpp"
#include "kernels/vectors.hpp"

/// Products in double-double, against sums of 113 bits.
namespace stepwell::kernels::test {
namespace {

using stepwell::test::abs_of;
using stepwell::test::Quad;
using stepwell::test::quad_error;

/// A vector of double-doubles.
struct Pairs {
  Guarded<double> hi, lo;
  Pairs(std::int64_t n, Random& random) : hi(output<double>(n, 1, random)), lo(n, 1, 2, 1) {
    lo.fill([&](auto i, auto) { return hi(i, 0) * 0x1p-54 * random.gaussian(); });
  }
  Quad at(std::int64_t i) const { return static_cast<Quad>(hi(i, 0)) + lo(i, 0); }
  ::testing::AssertionResult untouched_outside() const {
    return hi.untouched_outside() ? lo.untouched_outside() : hi.untouched_outside();
  }
};

/// start + A x (or A' x), and the sum of the magnitudes of the terms, row by row.
struct Sum {
  std::vector<Quad> value;
  std::vector<double> size;
};
template <class A>
Sum quad_sum(const Pairs& start, std::int64_t rows, std::int64_t inner, const A& a,
             const Guarded<double>& x) {
  Sum sum;
  for (std::int64_t i = 0; i < rows; ++i) {
    Quad value = start.at(i);
    Quad size = abs_of(value);
    for (std::int64_t k = 0; k < inner; ++k) {
      const Quad product = static_cast<Quad>(a(i, k)) * x(k, 0);
      value += product;
      size += abs_of(product);
    }
    sum.value.push_back(value);
    sum.size.push_back(static_cast<double>(size));
  }
  return sum;
}

::testing::AssertionResult accurate(const Pairs& got, const Sum& sum, double factor) {
  for (std::size_t i = 0; i < sum.value.size(); ++i) {
    const auto k = static_cast<std::int64_t>(i);
    const auto error = static_cast<double>(abs_of(got.at(k) - sum.value[i]));
    if (!(error <= factor * sum.size[i])) {
      return ::testing::AssertionFailure() << "(" << i << "): off by " << error / sum.size[i]
                                           << " of the sum of sizes, allowed " << factor;
    }
    // The two parts form one value: the low part is small.
    if (!(std::abs(got.lo(k, 0)) <= 0x1p-40 * sum.size[i])) {
      return ::testing::AssertionFailure() << "(" << i << "): the low part is " << got.lo(k, 0);
    }
  }
  return ::testing::AssertionSuccess();
}

/// Worst-case error of sums of k terms: Ogita, Rump & Oishi 2005, Proposition 5.5.
double worst_case(std::int64_t k) {
  const auto d = static_cast<double>(k + 2);
  return 2 * d * d * 0x1p-106 + quad_error(d);
}
/// Typical error of sums of k terms.
double usual(std::int64_t k) {
  const auto d = static_cast<double>(k + 2);
  return 4 * d * 0x1p-106 + quad_error(d);
}

class ExactProductTest : public PerIsa {
 protected:
  void check(std::int64_t m, std::int64_t n, bool with_y, bool with_z, Random& random) {
    SCOPED_TRACE(testing::Message() << m << " x " << n << ", y " << with_y << ", z " << with_z);
    const auto a = input<double>(m, n, random);
    const auto x = input<double>(n, 1, random);
    const auto w = input<double>(m, 1, random);
    const Pairs y(m, random), z(n, random);
    const Sum y_before = quad_sum(y, m, 0, a, x), z_before = quad_sum(z, n, 0, a, x);
    const auto transposed = [&](auto i, auto j) { return a(j, i); };
    const Sum ey = with_y ? quad_sum(y, m, n, a, x) : y_before;
    const Sum ez = with_z ? quad_sum(z, n, m, transposed, w) : z_before;
    ExactProducts p;
    if (with_y) {
      p.x = x.view().data;
      p.y = y.hi.view().data;
      p.y_low = y.lo.view().data;
    }
    if (with_z) {
      p.w = w.view().data;
      p.z = z.hi.view().data;
      p.z_low = z.lo.view().data;
    }
    exact_product(table_, a.view(), p);
    ASSERT_TRUE(accurate(y, ey, with_y ? usual(n) : 0));
    ASSERT_TRUE(accurate(z, ez, with_z ? usual(m) : 0));
    ASSERT_TRUE(y.untouched_outside());
    ASSERT_TRUE(z.untouched_outside());
  }

  /// The error of w'a relative to the sum of the terms' absolute values.
  double error_of_dot(const Guarded<double>& a, const Guarded<double>& w, std::int64_t n) {
    Quad exact = 0, size = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      exact += static_cast<Quad>(a(i, 0)) * w(i, 0);
      size += abs_of(static_cast<Quad>(a(i, 0)) * w(i, 0));
    }
    double z = 0, z_low = 0;
    ExactProducts p;
    p.w = w.view().data;
    p.z = &z;
    p.z_low = &z_low;
    exact_product(table_, a.view(), p);
    return static_cast<double>(abs_of(static_cast<Quad>(z) + z_low - exact) / size);
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, ExactProductTest, every_vector_isa(), isa_name);

TEST_P(ExactProductTest, HasTwiceTheDigits) {
  Random random(kSeed);
  for (std::int64_t m = 0; m <= 35; ++m) {
    for (const std::int64_t n : {0, 1, 2, 7, 64}) {
      check(m, n, true, false, random);
      check(m, n, false, true, random);
      check(m, n, true, true, random);
    }
    if (HasFailure()) return;
  }
  for (const auto& [m, n] :
       {std::pair<std::int64_t, std::int64_t>{127, 65}, {513, 33}, {64, 513}}) {
    check(m, n, true, true, random);
  }
}

// x'y of nearly orthogonal vectors, where plain sums have no correct digit.
TEST_P(ExactProductTest, KeepsWhatCancellationLeaves) {
  Random random(kSeed);
  for (const std::int64_t half : {1, 4, 9, 100}) {
    Guarded<double> a(2 * half, 1), w(2 * half, 1);
    for (std::int64_t i = 0; i < half; ++i) {
      a(i, 0) = random.gaussian() * 0x1p40;
      w(i, 0) = random.gaussian();
      a(half + i, 0) = -a(i, 0);
      w(half + i, 0) = w(i, 0) * (1 + 0x1p-50 * static_cast<double>(random.integer(-4, 4)));
    }
    EXPECT_LE(error_of_dot(a, w, 2 * half), usual(2 * half));
  }
}

// Each term is half a unit in the last place of the sum, and all roundings of the low part have the
// same direction.
TEST_P(ExactProductTest, HoldsItsBoundWhenAllErrorsHaveOneSign) {
  for (const std::int64_t n : {100, 1000, 4000}) {
    Guarded<double> row(1, n), column(n, 1), ones(n, 1);
    const double step = 0x1p-54 * (1 + 0.7 * 0x1p-42);
    row.fill([&](auto, auto j) { return j == 0 ? 1 : step; });
    column.fill([&](auto i, auto) { return i == 0 ? 1 : step; });
    ones.fill([](auto, auto) { return 1; });
    const Quad exact = 1 + static_cast<Quad>(step) * (n - 1);
    double y = 0, y_low = 0, z = 0, z_low = 0;
    ExactProducts p;
    p.x = ones.view().data;
    p.y = &y;
    p.y_low = &y_low;
    exact_product(table_, row.view(), p);
    ExactProducts q;
    q.w = ones.view().data;
    q.z = &z;
    q.z_low = &z_low;
    exact_product(table_, column.view(), q);
    EXPECT_LE(static_cast<double>(abs_of(static_cast<Quad>(y) + y_low - exact)), worst_case(n));
    EXPECT_LE(static_cast<double>(abs_of(static_cast<Quad>(z) + z_low - exact)), worst_case(n));
  }
}

// The products have twice the digits also where the splitting has to avoid overflow; the largest
// values, which can't be rounded up, have fewer digits.
TEST_P(ExactProductTest, HasTwiceTheDigitsNearOverflow) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  Random random(kSeed);
  for (const double scale : {0x1p995, 0x1p997, 0x1p1000, 0x1p1020, kLargest}) {
    for (const bool swapped : {false, true}) {
      Guarded<double> a(19, 1), w(19, 1);
      const auto large = [&](auto, auto) {
        return scale < kLargest ? scale * random.gaussian() : kLargest;
      };
      const auto small = [&](auto, auto) { return 0x1p-1000 * random.gaussian(); };
      swapped ? w.fill(large) : a.fill(large);
      swapped ? a.fill(small) : w.fill(small);
      const double allowed = scale < kLargest ? usual(19) : 0x1p-76;
      EXPECT_LE(error_of_dot(a, w, 19), allowed) << scale << ", " << swapped;
    }
  }
}

TEST_P(ExactProductTest, ReadsNothingPastTheEnd) {
  for (std::int64_t m = 1; m <= 40; ++m) {
    for (const std::int64_t n : {1, 3, 8}) {
      const PageEnd a(8 * m * n), x(8 * n), y(8 * m), yl(8 * m), w(8 * m), z(8 * n), zl(8 * n);
      exact_product(table_, view<const double>(a.as<double>(), m, n),
                    {x.as<double>(), y.as<double>(), yl.as<double>(), w.as<double>(),
                     z.as<double>(), zl.as<double>()});
    }
  }
}

TEST_P(ExactProductTest, PassesNaNAndInfinityOn) {
  for (const double bad : {kNaN<double>, std::numeric_limits<double>::infinity()}) {
    for (const std::int64_t m : {1, 8, 19}) {
      for (std::int64_t at = 0; at < m; at += 3) {
        Guarded<double> a(m, 1), w(m, 1);
        a.fill([&](auto i, auto) { return i == at ? bad : 1; });
        w.fill([](auto, auto) { return 1; });
        double z = 0, z_low = 0;
        ExactProducts p;
        p.w = w.view().data;
        p.z = &z;
        p.z_low = &z_low;
        exact_product(table_, a.view(), p);
        EXPECT_FALSE(std::isfinite(z + z_low)) << m << ", " << at;
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
