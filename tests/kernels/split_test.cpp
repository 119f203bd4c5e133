// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cmath>

#include "kernels/vectors.hpp"

/// Products of leading digits are exact, and products of the remaining digits accurate to rounding.
namespace stepwell::kernels::test {
namespace {

constexpr int kBits = 18;

double on_grid(double a, int exponent) {
  return std::ldexp(std::nearbyint(std::ldexp(a, -exponent)), exponent);
}

/// The exponent of the grid for row or column k, each of which has its own shift.
int grid_of(std::int64_t k) {
  return -kBits - static_cast<int>(k % 3);
}

/// x, its head and its rest. 'across': the sum runs over elements with different shifts, so x has
/// to compensate for them.
struct Cut {
  Guarded<double> whole, head, rest;
  Cut(std::int64_t n, std::int64_t r, bool across, Random& random)
      : whole(input<double>(n, r, random)), head(n, r, 1, 1, kNaN<double>), rest(n, r, 2, 1) {
    const auto grid = [&](auto i) { return across ? -2 * kBits - 2 - grid_of(i) : -kBits; };
    head.fill([&](auto i, auto c) { return on_grid(whole(i, c), grid(i)); });
    rest.fill([&](auto i, auto c) { return whole(i, c) - head(i, c); });
  }
  SplitVectors view() const { return {whole.view(), head.view(), rest.view()}; }
};

class SplitProductTest : public PerIsa {
 protected:
  void check(std::int64_t m, std::int64_t n, std::int64_t r, bool by_z, bool of_rows,
             Random& random) {
    SCOPED_TRACE(testing::Message()
                 << m << " x " << n << ", " << r << " vectors, " << (by_z ? "z" : "y")
                 << ", shifts of " << (of_rows ? "rows" : "columns"));
    const auto a = input<double>(m, n, random);
    const std::int64_t outer = by_z ? n : m, inner = by_z ? m : n;
    const Cut x(inner, r, by_z == of_rows, random);
    const auto sum = output<double>(outer, r, random), low = output<double>(outer, r, random);
    sum.fill([](auto i, auto c) { return static_cast<double>(i - c); });
    std::vector<double> shift;
    for (std::int64_t k = 0; k < (of_rows ? m : n); ++k) {
      shift.push_back(std::ldexp(1.5, 52 + grid_of(k)));
    }
    std::uint64_t bits = 0;
    const auto at = [&](auto i, auto j) { return by_z ? a(j, i) : a(i, j); };
    const auto head = [&](auto i, auto j) {
      return on_grid(at(i, j), grid_of(by_z == of_rows ? j : i));
    };
    const auto rest = [&](auto i, auto j) { return at(i, j) - head(i, j); };
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) bits += std::bit_cast<std::uint64_t>(a(i, j));
    }
    const ExactSum high = exact_sum(sum.view(), 1, head, inner, x.head.view());
    ExactSum first = exact_sum(low.view(), 1, head, inner, x.rest.view());
    ExactSum both = exact_sum(first.value.view(), 1, rest, inner, x.whole.view());
    for (std::size_t k = 0; k < both.magnitude.data.size(); ++k) {
      both.magnitude.data[k] += first.magnitude.data[k];
    }
    SplitProducts p;
    p.shift = shift.data();
    p.shift_of_rows = of_rows;
    (by_z ? p.w : p.x) = x.view();
    (by_z ? p.z : p.y) = sum.view();
    (by_z ? p.z_low : p.y_low) = low.view();
    ASSERT_EQ(split_product(table_, a.view(), p), bits);
    ASSERT_TRUE(same_bits(sum.view(), high.value.view()));
    ASSERT_TRUE(close(low.view(), both, 2 * inner));
    ASSERT_TRUE(sum.untouched_outside());
    ASSERT_TRUE(low.untouched_outside());
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, SplitProductTest, every_vector_isa(), isa_name);

TEST_P(SplitProductTest, LeadingDigitsAreExactAndTheRestIsWithinItsRoundoff) {
  Random random(kSeed);
  int turn = 0;
  for (const auto& [m, n, r] : vector_cases()) {
    if (m * n > 100000) continue;
    for (const std::int64_t vectors : {std::int64_t{1}, r}) {
      check(m, n, vectors, turn % 2 == 1, turn / 2 % 2 == 1, random);
      ++turn;
      if (HasFailure()) return;
    }
  }
  for (int kind = 0; kind < 4; ++kind) {
    for (const std::int64_t vectors : {1, 4, 7, 16, 19}) {
      check(261, 37, vectors, kind % 2 == 1, kind / 2 == 1, random);
      if (HasFailure()) return;
    }
  }
}

TEST_P(SplitProductTest, ReadsNothingPastTheEnd) {
  for (std::int64_t m = 1; m <= 20; ++m) {
    for (const std::int64_t n : {1, 3, 17}) {
      for (const std::int64_t r : {1, 5, 17}) {
        for (const bool of_rows : {false, true}) {
          const PageEnd a(8 * m * n), shift(8 * (of_rows ? m : n));
          const PageEnd x(8 * n * r), y(8 * m * r), low(8 * m * r), z(8 * n * r), zl(8 * n * r);
          const auto in = [&](const PageEnd& v, std::int64_t rows) {
            const auto all = view<const double>(v.as<double>(), rows, r);
            return SplitVectors{all, all, all};
          };
          SplitProducts p;
          p.shift = shift.as<double>();
          p.shift_of_rows = of_rows;
          p.x = in(x, n);
          p.y = view(y.as<double>(), m, r);
          p.y_low = view(low.as<double>(), m, r);
          split_product(table_, view<const double>(a.as<double>(), m, n), p);
          SplitProducts q;
          q.shift = p.shift;
          q.shift_of_rows = of_rows;
          q.w = in(y, m);
          q.z = view(z.as<double>(), n, r);
          q.z_low = view(zl.as<double>(), n, r);
          split_product(table_, view<const double>(a.as<double>(), m, n), q);
        }
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
