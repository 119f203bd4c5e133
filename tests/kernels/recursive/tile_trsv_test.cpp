// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/recursive.hpp"
#include "kernels/vectors.hpp"

/// Solves with a diagonal tile: the residual is within the component-wise backward error of
/// substitution, |b - L x| <= (n + 1) u |L| |x| (Higham 2002, Theorem 8.5), for any condition
/// number of L.
namespace stepwell::kernels::test {
namespace {

/// A lower triangle with a moderate inverse: Gaussian over sqrt(n), a diagonal between 1 and 2.
Dense<double> triangle(std::int64_t n, Random& random) {
  Dense<double> l(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      const double x = random.gaussian() / std::sqrt(static_cast<double>(n));
      l(i, j) = i == j ? 1 + std::min(std::abs(x), 1.0) : x;
    }
  }
  return l;
}

/// Whether b - L x is small; L has the elements that the tile represents.
template <class V>
::testing::AssertionResult solves(const Dense<double>& l, bool transposed, MatrixView<V> b,
                                  MatrixView<V> x) {
  const std::int64_t n = l.rows;
  const auto element = [&](auto i, auto k) { return transposed ? l(k, i) : l(i, k); };
  const ExactSum residual = exact_sum(b, -1, element, n, x);
  // Two more roundings for the terms of an element.
  const double factor = static_cast<double>(n + 3) * kRoundoff<V>;
  return within(
      residual.value.view(), [](auto, auto) { return 0.0; },
      [&](auto i, auto j) {
        return factor * (residual.magnitude(i, j) - std::abs(static_cast<double>(b(i, j))));
      });
}

/// Solves with 'r' vectors in V and checks the result; 'tile' represents the elements of 'l'.
template <class V, class Tile>
void check(const Table& t, Tile tile, const Dense<double>& l, std::int64_t r, Random& random) {
  for (bool transposed : {false, true}) {
    SCOPED_TRACE(testing::Message() << l.rows << ", " << r << " vectors of " << sizeof(V)
                                    << " bytes, transposed " << transposed);
    const auto x = output<V>(l.rows, r, random);
    auto b = copy_of(x.view());
    tile_trsv<V>(t, tile, transposed, x.view());
    ASSERT_TRUE(solves(l, transposed, b.view(), x.view()));
    ASSERT_TRUE(x.untouched_outside());
  }
}

void check_fp64(const Table& t, MatrixView<const double> tile, const Dense<double>& l,
                std::int64_t r, Random& random) {
  for (bool transposed : {false, true}) {
    SCOPED_TRACE(testing::Message()
                 << l.rows << ", " << r << " vectors, transposed " << transposed);
    const auto x = output<double>(l.rows, r, random);
    auto b = copy_of(x.view());
    tile_trsv(t, tile, transposed, x.view());
    ASSERT_TRUE(solves(l, transposed, b.view(), x.view()));
    ASSERT_TRUE(x.untouched_outside());
  }
}

class PackedTrsvTest : public PerIsaAndRung {};
INSTANTIATE_TEST_SUITE_P(Isa, PackedTrsvTest, every_vector_isa_and_packed_rung(), isa_rung_name);

TEST_P(PackedTrsvTest, BackwardErrorIsThatOfSubstitution) {
  Random random(kSeed);
  for (const auto& [n, unused, r] : vector_cases()) {
    const Operand l = make_operand(triangle(n, random), rung(), Order::pairs);
    for (std::int64_t vectors : {std::int64_t{1}, r}) {
      check<float>(table_, PackedIn(l.packed), l.value, vectors, random);
      check<double>(table_, PackedIn(l.packed), l.value, vectors, random);
    }
    if (HasFailure()) return;
  }
}

class TileTrsvTest : public PerIsa {};
INSTANTIATE_TEST_SUITE_P(Isa, TileTrsvTest, every_vector_isa(), isa_name);

TEST_P(TileTrsvTest, BackwardErrorIsThatOfSubstitution) {
  Random random(kSeed);
  for (const auto& [n, unused, r] : vector_cases()) {
    Dense<double> exact = triangle(n, random);
    for (double& e : exact.data) {
      e = static_cast<float>(e);
    }
    const Guarded<float> l(n, n, 3, 1, kNaN<float>);  // NaN above the diagonal too
    l.fill([&](auto i, auto j) { return exact(i, j); }, Shape::lower);
    const MatrixView<const float> tile = l.view();
    for (std::int64_t vectors : {std::int64_t{1}, r}) {
      check<float>(table_, tile, exact, vectors, random);
      check<double>(table_, tile, exact, vectors, random);
    }
    if (HasFailure()) return;
  }
}

TEST_P(TileTrsvTest, BackwardErrorOfAnFp64TileIsThatOfSubstitution) {
  Random random(kSeed);
  for (const auto& [n, unused, r] : vector_cases()) {
    const Dense<double> exact = triangle(n, random);
    const Guarded<double> l(n, n, 3, 1, kNaN<double>);  // NaN above the diagonal too
    l.fill([&](auto i, auto j) { return exact(i, j); }, Shape::lower);
    const MatrixView<const double> tile = l.view();
    for (std::int64_t vectors : {std::int64_t{1}, r})
      check_fp64(table_, tile, exact, vectors, random);
    if (HasFailure()) return;
  }
}

TEST_P(TileTrsvTest, ProductsWithAnFp64TileAreWithinTheirRoundoff) {
  Random random(kSeed);
  for (const auto& [m, n, r] : vector_cases()) {
    const auto l = input<double>(m, n, random);
    for (std::int64_t vectors : {std::int64_t{1}, r}) {
      for (bool transposed : {false, true}) {
        const std::int64_t inner = transposed ? m : n;
        const auto x = input<double>(inner, vectors, random);
        const auto y = output<double>(transposed ? n : m, vectors, random);
        const auto element = [&](auto i, auto k) { return transposed ? l(k, i) : l(i, k); };
        const ExactSum exact = exact_sum(y.view(), -1, element, inner, x.view());
        tile_product(table_, l.view(), transposed, x.view(), y.view());
        ASSERT_TRUE(close(y.view(), exact, inner)) << m << " x " << n << ", " << transposed;
        ASSERT_TRUE(y.untouched_outside());
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
