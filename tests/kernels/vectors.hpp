// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/fixture/fixture.hpp"

/// Code shared by the tests of products with a few vectors.
namespace stepwell::kernels::test {

inline constexpr std::array<std::int64_t, 6> kVectorCounts = {1, 2, 3, 5, 16, 17};

/// Sizes with a number of vectors: the counts take turns (the small ones for large sizes). Every
/// test also uses a single vector.
struct VectorCase {
  std::int64_t m, n, r;
};
inline std::vector<VectorCase> vector_cases() {
  std::vector<VectorCase> cases;
  std::size_t turn = 0;
  for (const auto& [m, n] : contract_pairs()) {
    cases.push_back({m, n, kVectorCounts[1 + turn++ % (m * n < 20000 ? 5 : 3)]});
  }
  return cases;
}

/// A Gaussian matrix or set of vectors with padded columns and odd alignment, surrounded by NaN.
template <class T>
Guarded<T> input(std::int64_t m, std::int64_t n, Random& random, Shape shape = Shape::full) {
  Guarded<T> x(m, n, m % 4, 1 + m % 2, kNaN<T>);
  x.fill([&](auto, auto) { return random.gaussian(); }, shape);
  return x;
}

/// An output that is added to: Gaussian elements, surrounded by sentinels.
template <class T>
Guarded<T> output(std::int64_t m, std::int64_t n, Random& random) {
  Guarded<T> y(m, n, 1 + n % 3, 1);
  y.fill([&](auto, auto) { return random.gaussian(); });
  return y;
}

template <class T>
Dense<T> copy_of(MatrixView<T> x) {
  Dense<T> copy(x.rows, x.cols);
  for (std::int64_t j = 0; j < x.cols; ++j) {
    std::copy(x.column(j), x.column(j) + x.rows, copy.data.begin() + j * x.rows);
  }
  return copy;
}

/// y0 + sign A x and |y0| + |A| |x|, element-wise; the sums are in extended precision. A: y0.rows x
/// inner.
struct ExactSum {
  Dense<double> value;
  Dense<double> magnitude;
};
template <class A, class V>
ExactSum exact_sum(MatrixView<V> y0, double sign, const A& a, std::int64_t inner, MatrixView<V> x) {
  using Wide = std::conditional_t<sizeof(V) == sizeof(float), double, long double>;
  ExactSum e{{y0.rows, y0.cols}, {y0.rows, y0.cols}};
  for (std::int64_t i = 0; i < y0.rows; ++i) {
    for (std::int64_t c = 0; c < y0.cols; ++c) {
      Wide value = y0(i, c);
      double magnitude = std::abs(static_cast<double>(y0(i, c)));
      for (std::int64_t k = 0; k < inner; ++k) {
        const Wide product = static_cast<Wide>(a(i, k)) * x(k, c);
        value += static_cast<Wide>(sign) * product;
        magnitude += std::abs(static_cast<double>(product));
      }
      e.value(i, c) = static_cast<double>(value);
      e.magnitude(i, c) = magnitude;
    }
  }
  return e;
}

/// |got - exact| <= (inner + 2 + more) u (|y0| + |A| |x|): 'inner' products and sums in any order,
/// the last sum, and the rounding of the exact value; 'more' is for roundings of A's elements.
template <class V>
::testing::AssertionResult close(MatrixView<V> got, const ExactSum& exact, std::int64_t inner,
                                 int more = 0) {
  const double factor = static_cast<double>(inner + 2 + more) * kRoundoff<V>;
  return within(
      got, [&](auto i, auto j) { return exact.value(i, j); },
      [&](auto i, auto j) { return factor * exact.magnitude(i, j); });
}

}  // namespace stepwell::kernels::test
