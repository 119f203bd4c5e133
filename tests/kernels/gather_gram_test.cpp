// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fixture/fixture.hpp"

/// The Gram matrix of gathered columns, for every instruction set.
namespace stepwell::kernels::test {
namespace {

class GatherGramTest : public PerIsa {};
INSTANTIATE_TEST_SUITE_P(Kernels, GatherGramTest, every_vector_isa(), isa_name);

/// The data of one call. C, the base and b are padded; C and b end with a sentinel.
struct Problem {
  Problem(std::int64_t k, std::int64_t items, std::int64_t count, bool weighted, Random& random)
      : y(k, items, random.integer(0, 5), random.integer(0, 3)),
        columns(count),
        weights(weighted ? count : 0),
        coefficients(count),
        ld(core::round_up(k, kGramPad)),
        base(ld * k),
        c(ld * k + 1, kSentinel<float>),
        b(ld + 1, kSentinel<float>) {
    y.fill([&](auto, auto) { return random.wide(); });
    for (auto& column : columns) column = static_cast<std::int32_t>(random.integer(0, items - 1));
    for (float& w : weights) w = static_cast<float>(random.gaussian());
    for (float& x : coefficients) x = static_cast<float>(random.gaussian());
    for (float& x : base) x = static_cast<float>(random.gaussian());
    for (std::int64_t i = 0; i < ld; ++i) b[i] = static_cast<float>(random.gaussian());
  }

  GatherGram args(bool with_base) {
    GatherGram g;
    g.items = y.view();
    g.columns = columns.data();
    g.count = static_cast<std::int64_t>(columns.size());
    g.weights = weights.empty() ? nullptr : weights.data();
    g.coefficients = coefficients.data();
    g.base = with_base ? base.data() : nullptr;
    g.c = {c.data(), y.view().rows, y.view().rows, ld};
    g.b = b.data();
    return g;
  }

  Guarded<float> y;
  std::vector<std::int32_t> columns;
  std::vector<float> weights, coefficients;
  std::int64_t ld;
  std::vector<float> base, c, b;
};

/// The outputs of a second call with the same data.
struct Results {
  explicit Results(const Problem& p) : c(p.c), b(p.b) {}
  GatherGram into(GatherGram g) {
    g.c.data = c.data();
    g.b = b.data();
    return g;
  }
  std::vector<float> c, b;
};

/// The sums, and the sums of magnitudes, in fp64; column k is b.
Product exact(const Problem& p, const GatherGram& g) {
  const std::int64_t k = g.items.rows;
  Product sums{Dense<double>(k, k + 1), Dense<double>(k, k + 1)};
  for (std::int64_t j = 0; j <= k; ++j) {
    for (std::int64_t i = 0; i < k; ++i) {
      double start = g.base != nullptr && j < k ? g.base[i + j * p.ld] : 0;
      if (j == k) start = p.b[i];
      sums.value(i, j) = start;
      sums.magnitude(i, j) = std::abs(start);
      for (std::int64_t e = 0; e < g.count; ++e) {
        const float* const y = g.items.column(g.columns[e]);
        const double weight = g.weights != nullptr ? g.weights[e] : 1;
        const double term = y[i] * (j < k ? weight * y[j] : g.coefficients[e]);
        sums.value(i, j) += term;
        sums.magnitude(i, j) += std::abs(term);
      }
    }
  }
  return sums;
}

TEST_P(GatherGramTest, IsTheSumToRounding) {
  Random random(91);
  std::uint64_t turn = 0;
  for (std::int64_t k = 1; k <= kGramOrder; ++k) {
    for (const std::int64_t count : {0, 1, 7, 31, 32, 33, 100}) {
      if (kSanitized && (k + count) % 5 != 0) continue;
      Problem p(k, 50, count, turn % 2 == 0, random);
      const GatherGram g = p.args(turn % 3 == 0);
      ++turn;
      const Product sums = exact(p, g);
      gather_gram(table_, g);
      // One rounding each of the weighted value and the product, plus the additions.
      const double error = summation_error(count + 3);
      const auto value = [&](auto i, auto j) { return sums.value(i, j); };
      const auto bound = [&](auto i, auto j) { return error * sums.magnitude(i, j); };
      ASSERT_TRUE(within(g.c, value, bound, Shape::lower)) << "k = " << k << ", " << count;
      ASSERT_TRUE(within(
          view(g.b, k, 1), [&](auto i, auto) { return value(i, k); },
          [&](auto i, auto) { return bound(i, k); }))
          << "b, k = " << k << ", " << count;
      EXPECT_EQ(p.c.back(), kSentinel<float>) << k;
      EXPECT_EQ(p.b.back(), kSentinel<float>) << k;
      EXPECT_TRUE(p.y.untouched_outside());
    }
  }
}

TEST_P(GatherGramTest, IsTheReferencesWhereSumsAreExact) {
  Random random(92);
  for (const std::int64_t k : {1, 3, 8, 15, 16, 17, 31, 33, 50, 64, 65, 100, 127, 128}) {
    Problem p(k, 20, 45, true, random);
    p.y.fill([&](auto, auto) { return random.integer(-3, 3); });
    for (auto* values : {&p.weights, &p.coefficients, &p.base, &p.b}) {
      for (float& x : *values) x = static_cast<float>(random.integer(-3, 3));
    }
    Results results(p);
    const GatherGram g = p.args(true), reference = results.into(g);
    gather_gram(table_, g);
    gather_gram(reference_table(), reference);
    EXPECT_TRUE(same_bits(g.c, reference.c, Shape::lower)) << k;
    EXPECT_TRUE(same_bits(view(g.b, k, 1), view(reference.b, k, 1))) << k;
  }
}

TEST_P(GatherGramTest, PiecesOfWholeRunsThatAddGiveTheSameBits) {
  Random random(93);
  for (const std::int64_t k : {5, 40, 64, 128}) {
    for (const bool weighted : {false, true}) {
      Problem p(k, 200, 150, weighted, random);
      Results results(p);
      const GatherGram g = p.args(true);
      GatherGram piece = results.into(g);
      gather_gram(table_, g);
      for (std::int64_t first = 0; first < 150; first += piece.count) {
        piece.count = std::min(first == 0 ? kGramRun : 2 * kGramRun, 150 - first);
        piece.columns = g.columns + first;
        piece.upcoming = 150 - first - piece.count;
        piece.coefficients = g.coefficients + first;
        if (weighted) piece.weights = g.weights + first;
        gather_gram(table_, piece);
        piece.base = piece.c.data;
      }
      EXPECT_TRUE(same_bits(g.c, piece.c, Shape::lower)) << k;
      EXPECT_TRUE(same_bits(view(g.b, k, 1), view(piece.b, k, 1))) << k;
    }
  }
}

TEST_P(GatherGramTest, ReadsNothingBehindTheItemsAndTheLists) {
  Random random(94);
  for (const std::int64_t k : {1, 5, 17, 63, 64, 100}) {
    const PageEnd items(4 * k * 3), columns(4 * 40), weights(4 * 40), coefficients(4 * 40);
    for (std::int64_t i = 0; i < 3 * k; ++i) items.as<float>()[i] = 1;
    for (std::int64_t e = 0; e < 40; ++e) {
      columns.as<std::int32_t>()[e] = e % 3;
      weights.as<float>()[e] = 2;
      coefficients.as<float>()[e] = 3;
    }
    Problem p(k, 3, 40, true, random);
    GatherGram g = p.args(false);
    g.items = view(items.as<const float>(), k, 3);
    g.columns = columns.as<const std::int32_t>();
    g.weights = weights.as<const float>();
    g.coefficients = coefficients.as<const float>();
    std::fill(g.b, g.b + k, 0.0f);
    gather_gram(table_, g);
    EXPECT_EQ(g.c(k - 1, 0), 80) << k;
    EXPECT_EQ(g.b[k - 1], 120) << k;
  }
}

TEST_P(GatherGramTest, ANaNStaysInItsRowAndColumn) {
  Random random(95);
  Problem p(70, 10, 40, false, random);
  p.y(33, p.columns[12]) = kNaN<float>;
  const GatherGram g = p.args(false);
  gather_gram(table_, g);
  for (std::int64_t j = 0; j < 70; ++j) {
    for (std::int64_t i = j; i < 70; ++i) {
      EXPECT_EQ(std::isnan(g.c(i, j)), i == 33 || j == 33) << i << ", " << j;
    }
    EXPECT_EQ(std::isnan(g.b[j]), j == 33);
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
