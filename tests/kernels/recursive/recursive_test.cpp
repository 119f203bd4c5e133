// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/recursive.hpp"

#include <algorithm>
#include <limits>

#include "kernels/fixture/fixture.hpp"

/// The recursive factorization, solve and update of a diagonal tile, at every rung.
namespace stepwell::kernels::test {
namespace {

Layers layers_of(std::initializer_list<Rung> rungs) {
  Layers l;
  std::copy(rungs.begin(), rungs.end(), l.rung.begin());
  l.count = static_cast<int>(rungs.size());
  return l;
}

std::vector<Layers> all_layers() {
  std::vector<Layers> all;
  for (Rung r : mixable_rungs) all.push_back(uniform_layers(r));
  all.push_back(layers_of({Rung::bf16, Rung::bf16x2, Rung::fp32}));
  all.push_back(layers_of({Rung::fp16, Rung::fp32}));
  return all;
}

/// Bound of an element's error relative to |C| + |X||Y|', for an algorithm that computes C = X Y'
/// with products at these rungs and work in T: both operands are rounded to the lowest rung, some
/// products are dropped, and sums are in fp32 (in T if all rungs are). A term of the sum is rounded
/// to a rung once, at any depth of the recursion, so only the error of the sums grows with n.
template <class T>
double tree_error(const Layers& layers, std::int64_t n) {
  double rounding = 0, sums = kRoundoff<T>;
  for (int i = 0; i < layers.count; ++i) {
    const RungInfo r = info(layers.rung[i]);
    if (r.unit_roundoff <= kRoundoff<T>) continue;
    rounding = std::max(rounding, (2 * r.unit_roundoff + r.product_error) * (1 + 0x1p-7));
    sums = kU32;
  }
  return rounding + sums * static_cast<double>(2 * n + 16);
}

/// fp16 values below 2^-14 are rounded to multiples of 2^-24: n such errors times values up to
/// 'largest'.
double tiny_error(const Layers& layers, std::int64_t n, double largest) {
  for (int i = 0; i < layers.count; ++i) {
    if (layers.rung[i] == Rung::fp16) return 0x1p-24 * static_cast<double>(n) * largest;
  }
  return 0;
}

double largest(const Dense<double>& a) {
  double m = 0;
  for (double x : a.data) m = std::max(m, std::abs(x));
  return m;
}

/// Orders and the layers to try: all layers at small orders, some at each large one.
using Orders = std::vector<std::pair<std::int64_t, std::vector<Layers>>>;
Orders orders(bool plain_loops) {
  Orders list;
  if (kSanitized) {
    for (std::int64_t n : {1, 17, 65}) list.emplace_back(n, all_layers());
    return list;
  }
  for (std::int64_t n : {1, 2, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 70, 127, 128, 129, 192}) {
    list.emplace_back(n, all_layers());
  }
  if (plain_loops) return list;
  list.emplace_back(511, std::vector{uniform_layers(Rung::fp16)});
  list.emplace_back(512, std::vector{uniform_layers(Rung::bf16),
                                     layers_of({Rung::bf16, Rung::bf16x2, Rung::fp32})});
  list.emplace_back(513, std::vector{uniform_layers(Rung::bf16x3)});
  return list;
}

class TreeTest : public PerIsa {
 protected:
  template <class T, class F>
  void for_each_case(const F& test) {
    for (const auto& [n, list] : orders(GetParam() == core::Isa::reference)) {
      for (const Layers& layers : list) {
        std::string name;
        for (int i = 0; i < layers.count; ++i) {
          name += std::string(to_string(layers.rung[i])) + " ";
        }
        SCOPED_TRACE(::testing::Message() << "n " << n << " rungs " << name << sizeof(T)
                                          << " bytes, seed " << kSeed << "+" << n);
        test(n, layers);
        if (HasFatalFailure()) return;
      }
    }
  }

  template <class T>
  void expect_factor(std::int64_t n, const Layers& layers) {
    Random random(kSeed + n);
    const Dense<double> spd = definite(n, random);
    const Guarded<T> a(n, n, n % 3, n % 4, kNaN<T>);
    a.fill([&](auto i, auto j) { return spd(i, j); }, Shape::lower);
    const Dense<double> start = copy(a.view(), Shape::lower);
    const Scratch scratch(tree_scratch(n));
    const Pivot pivot = tree_potrf(table_, a.view(), layers, scratch.data());
    ASSERT_TRUE(pivot.ok()) << "pivot " << pivot.index << ": " << pivot.value;
    ASSERT_TRUE(a.untouched_outside(Shape::lower));
    ASSERT_TRUE(scratch.zones_untouched());
    const Dense<double> l = copy(a.view(), Shape::lower);
    const Product p = exact_product(l, l);
    const double error = tree_error<T>(layers, n), tiny = tiny_error(layers, n, 2 * largest(l));
    ASSERT_TRUE(within(
        start.view(), [&](auto i, auto j) { return p.value(i, j); },
        [&](auto i, auto j) { return error * (std::abs(start(i, j)) + p.magnitude(i, j)) + tiny; },
        Shape::lower));
  }

  template <class T>
  void expect_solve(std::int64_t n, const Layers& layers) {
    Random random(kSeed + n);
    const std::int64_t m = n % 2 == 0 && n < 200 ? n : n * 3 % 97 + 1;
    const Guarded<T> l(n, n, 1, 1, kNaN<T>), b(m, n, n % 3, n % 4);
    fill_triangle(l, random);
    b.fill([&](auto, auto) { return random.gaussian(); });
    const Dense<double> start = copy(b.view());
    const Scratch scratch(tree_scratch(std::max(m, n)));
    tree_trsm<T>(table_, l.view(), b.view(), layers, scratch.data());
    ASSERT_TRUE(l.untouched_outside(Shape::lower));
    ASSERT_TRUE(b.untouched_outside());
    ASSERT_TRUE(scratch.zones_untouched());
    const Dense<double> x = copy(b.view()), lower = copy(l.view(), Shape::lower);
    const Product p = exact_product(x, lower);
    const double error = tree_error<T>(layers, n);
    const double tiny = tiny_error(layers, n, largest(x) + largest(lower));
    ASSERT_TRUE(within(
        start.view(), [&](auto i, auto j) { return p.value(i, j); },
        [&](auto i, auto j) {
          return error * (std::abs(start(i, j)) + p.magnitude(i, j)) + tiny;
        }));
  }

  template <class T>
  void expect_update(std::int64_t n, const Layers& layers) {
    Random random(kSeed + n);
    const std::int64_t k = n % 2 == 0 && n < 200 ? n : n * 5 % 89 + 1;
    const Guarded<T> a(n, k, 1, 1, kNaN<T>), c(n, n, n % 3, n % 4, kNaN<T>);
    a.fill([&](auto, auto) { return random.gaussian(); });
    c.fill([&](auto, auto) { return random.gaussian(); }, Shape::lower);
    const Dense<double> start = copy(c.view(), Shape::lower), x = copy(a.view());
    const Scratch scratch(tree_scratch(std::max(n, k)));
    tree_syrk<T>(table_, a.view(), c.view(), layers, scratch.data());
    ASSERT_TRUE(c.untouched_outside(Shape::lower));
    ASSERT_TRUE(scratch.zones_untouched());
    const Product p = exact_product(x, x);
    const double error = tree_error<T>(layers, k);
    const double tiny = tiny_error(layers, k, 2 * largest(x));
    ASSERT_TRUE(within(
        c.view(), [&](auto i, auto j) { return start(i, j) - p.value(i, j); },
        [&](auto i, auto j) { return error * (std::abs(start(i, j)) + p.magnitude(i, j)) + tiny; },
        Shape::lower));
  }

  /// 'exact' is L L' with a sparse L of small integers and a unit diagonal: exact at every rung.
  template <class T>
  void expect_failing_pivot(const Dense<double>& exact, std::int64_t at, double planted,
                            const Layers& layers) {
    SCOPED_TRACE(::testing::Message() << "pivot " << at << " value " << planted << " first rung "
                                      << to_string(layers.rung[0]));
    const std::int64_t n = exact.rows;
    const Guarded<T> a(n, n, 1, 1, kNaN<T>);
    a.fill([&](auto i, auto j) { return exact(i, j); }, Shape::lower);
    a(at, at) = static_cast<T>(exact(at, at) - 1 + planted);
    const Scratch scratch(tree_scratch(n));
    const Pivot pivot = tree_potrf(table_, a.view(), layers, scratch.data());
    ASSERT_EQ(pivot.index, at);
    if (std::isnan(planted)) {
      ASSERT_TRUE(std::isnan(pivot.value)) << pivot.value;
    } else {
      ASSERT_EQ(pivot.value, planted);
    }
    ASSERT_TRUE(a.untouched_outside(Shape::lower));
    ASSERT_TRUE(scratch.zones_untouched());
  }

  /// ||A - L L'||_F / ||A||_F.
  double factor_error(const Layers& layers) {
    Random random(kSeed);
    const Dense<double> spd = definite(kOrder, random);
    const Guarded<float> a(kOrder, kOrder);
    a.fill([&](auto i, auto j) { return spd(i, j); });
    const Scratch scratch(tree_scratch(kOrder));
    EXPECT_TRUE(tree_potrf(table_, a.view(), layers, scratch.data()).ok());
    const Dense<double> l = copy(a.view(), Shape::lower);
    return relative_frobenius(exact_product(l, l).value.view(), spd);
  }

  /// ||B - X L'||_F / ||B||_F.
  double solve_error(const Layers& layers) {
    Random random(kSeed);
    const Guarded<float> l(kOrder, kOrder), b(64, kOrder);
    fill_triangle(l, random);
    b.fill([&](auto, auto) { return random.gaussian(); });
    const Dense<double> start = copy(b.view());
    const Scratch scratch(tree_scratch(kOrder));
    tree_trsm<float>(table_, l.view(), b.view(), layers, scratch.data());
    const Product p = exact_product(copy(b.view()), copy(l.view(), Shape::lower));
    return relative_frobenius(p.value.view(), start);
  }

  /// ||C - A A'||_F / ||A A'||_F over the lower triangle.
  double update_error(const Layers& layers) {
    Random random(kSeed);
    const Guarded<float> a(kOrder, 64), c(kOrder, kOrder);
    a.fill([&](auto, auto) { return random.gaussian(); });
    c.fill([](auto, auto) { return 0; });
    const Scratch scratch(tree_scratch(kOrder));
    tree_syrk<float>(table_, a.view(), c.view(), layers, scratch.data());
    Dense<double> exact = exact_product(copy(a.view()), copy(a.view())).value;
    for (std::int64_t j = 0; j < kOrder; ++j) {
      for (std::int64_t i = 0; i < kOrder; ++i) exact(i, j) *= i < j ? 0 : -1;
    }
    return relative_frobenius(c.view(), exact);
  }

  static constexpr std::int64_t kOrder = 320;  ///< has products at the second level, too
};
INSTANTIATE_TEST_SUITE_P(Kernels, TreeTest, every_isa(), isa_name);

TEST_P(TreeTest, TheFactorTimesItsTransposeIsTheMatrix) {
  for_each_case<float>([&](auto n, const Layers& layers) { expect_factor<float>(n, layers); });
  for_each_case<double>([&](auto n, const Layers& layers) { expect_factor<double>(n, layers); });
}

TEST_P(TreeTest, TheSolutionTimesTheTriangleIsTheRightHandSide) {
  for_each_case<float>([&](auto n, const Layers& layers) { expect_solve<float>(n, layers); });
  for_each_case<double>([&](auto n, const Layers& layers) { expect_solve<double>(n, layers); });
}

TEST_P(TreeTest, TheSymmetricUpdateIsTheLowerTriangleOfTheProduct) {
  for_each_case<float>([&](auto n, const Layers& layers) { expect_update<float>(n, layers); });
  for_each_case<double>([&](auto n, const Layers& layers) { expect_update<double>(n, layers); });
}

TEST_P(TreeTest, AFailingPivotIsReportedWithItsIndexAndValueWhereverItIs) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::int64_t n = 300;
  Random random(kSeed);
  Dense<double> l(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (int entry = 0; entry < 3 && i > 0; ++entry) l(i, random.integer(0, i - 1)) = 1;
    l(i, i) = 1;
  }
  const Dense<double> exact = exact_product(l, l).value;
  const std::vector<Layers> all = all_layers();
  std::size_t turn = 0;
  for (std::int64_t at : {0,   1,   31,  32,  33,  63,  64,  65,  127, 128, 129, 149, 150,
                          151, 159, 160, 161, 191, 192, 193, 255, 256, 257, 298, 299}) {
    for (double planted : {-1.0, 0.0, kNaN<double>, inf}) {
      expect_failing_pivot<float>(exact, at, planted, all[++turn % all.size()]);
      expect_failing_pivot<double>(exact, at, planted, all[(turn + 3) % all.size()]);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(TreeTest, AHigherRungMeansASmallerErrorAndEachRungIsTheOneAskedFor) {
  const auto expect_rungs = [](const char* name, const auto& error) {
    SCOPED_TRACE(name);
    const double bf16 = error(uniform_layers(Rung::bf16));
    const double fp16 = error(uniform_layers(Rung::fp16));
    const double bf16x2 = error(uniform_layers(Rung::bf16x2));
    const double bf16x3 = error(uniform_layers(Rung::bf16x3));
    const double fp32 = error(uniform_layers(Rung::fp32));
    // At most two decimal digits below the unit roundoff: the rung was used, and not replaced
    // silently.
    EXPECT_TRUE(bf16 <= 0x1p-8 && bf16 >= 0x1p-8 / 100) << bf16;
    EXPECT_TRUE(fp16 <= 0x1p-11 && fp16 >= 0x1p-11 / 100) << fp16;
    EXPECT_TRUE(bf16x2 <= 0x1p-15 && bf16x2 >= 0x1p-15 / 100) << bf16x2;
    EXPECT_TRUE(bf16x3 <= 0x1p-20) << bf16x3;
    EXPECT_TRUE(fp32 <= 0x1p-20) << fp32;
    // The products of the first level use the first rung, all others the second.
    const double first_low = error(layers_of({Rung::bf16, Rung::fp32}));
    const double rest_low = error(layers_of({Rung::fp32, Rung::bf16}));
    EXPECT_TRUE(10 * fp32 < first_low && first_low < bf16) << first_low << " " << bf16;
    EXPECT_TRUE(10 * fp32 < rest_low && rest_low < bf16) << rest_low << " " << bf16;
  };
  expect_rungs("factor", [&](const Layers& layers) { return factor_error(layers); });
  expect_rungs("solve", [&](const Layers& layers) { return solve_error(layers); });
  expect_rungs("update", [&](const Layers& layers) { return update_error(layers); });
}

}  // namespace
}  // namespace stepwell::kernels::test
