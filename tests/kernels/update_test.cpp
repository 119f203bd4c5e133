// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "core/numeric/rounding.hpp"
#include "kernels/fixture/fixture.hpp"

/// C -= A B' on packed operands, at every rung with planes, for every instruction set.
namespace stepwell::kernels::test {
namespace {

class UpdateTest : public PerIsaAndRung {
 protected:
  void run(const Operand& a, const Operand& b, MatrixView<float> c, Shape shape = Shape::full,
           Write write = Write::assign) {
    update(table_, rung(), a.packed, b.packed, c, shape, write);
  }
  Operand left(const Dense<double>& x) { return make_operand(x, rung(), Order::pairs); }
  Operand right(const Dense<double>& x) { return make_operand(x, rung(), Order::rows); }
};
INSTANTIATE_TEST_SUITE_P(Kernels, UpdateTest, every_isa_and_packed_rung(), isa_rung_name);

TEST_P(UpdateTest, AgreesWithTheExactProductAndTheReferenceAndWritesNothingElse) {
  std::int64_t turn = 0;
  for (const auto& [m, n, k] : contract_sizes(isa() == core::Isa::reference)) {
    Random random(kSeed + turn);
    const Operand a = left(gaussian(m, k, random));
    const Operand b = right(gaussian(n, k, random));
    const Product p = exact_product(a.value, b.value);
    const Dense<double> start =
        Dense<double>::generate(m, n, [&] { return static_cast<float>(random.gaussian()); });
    for (Shape shape : {Shape::full, Shape::lower}) {
      for (Write write : {Write::subtract, Write::assign}) {
        constexpr std::array<std::int64_t, 3> pads = {0, 1, 7}, offsets = {0, 1, 3};
        const std::int64_t pad = pads[turn % 3], offset = offsets[turn / 3 % 3];
        ++turn;
        SCOPED_TRACE(::testing::Message()
                     << "m " << m << " n " << n << " k " << k << " lower " << int(shape)
                     << " assign " << int(write) << " pad " << pad << " offset " << offset
                     << " seed " << kSeed << "+" << turn);
        const bool assign = write == Write::assign;
        const auto c0 = [&](std::int64_t i, std::int64_t j) {
          return assign ? kNaN<double> : start(i, j);
        };
        const auto expected = [&](std::int64_t i, std::int64_t j) {
          return assign ? p.value(i, j) : start(i, j) - p.value(i, j);
        };
        const double error = update_error(rung(), k);
        const auto bound = [&](std::int64_t i, std::int64_t j) {
          return error * (p.magnitude(i, j) + (assign ? 0.0 : std::abs(start(i, j))));
        };
        const Guarded<float> c(m, n, pad, offset);
        c.fill(c0, shape);
        run(a, b, c.view(), shape, write);
        ASSERT_TRUE(within(c.view(), expected, bound, shape));
        ASSERT_TRUE(c.untouched_outside(shape));

        if (kSanitized && turn % 8 != 0) continue;  // the plain loops would take minutes
        // The reference loop is slow: of a large C it computes only the last corner, which contains
        // the tails.
        const bool whole = m * n * k <= 70 * 70 * 70;
        const std::int64_t i0 = whole ? 0 : (m - 1) / kPanel * kPanel;
        const std::int64_t j0 = whole || shape == Shape::lower ? 0 : (n - 1) / kPanel * kPanel;
        const std::int64_t columns = whole ? n : std::min(n - j0, kPanel);
        const Guarded<float> twin(m, n);
        twin.fill(c0);
        const MatrixView<float> corner = twin.view().block(i0, j0, m - i0, columns);
        update(reference_table(), rung(), a.packed.block(i0, 0, m - i0, k),
               b.packed.block(j0, 0, columns, k), corner, Shape::full, write);
        ASSERT_TRUE(within(
            c.view().block(i0, j0, m - i0, columns),
            [&](std::int64_t i, std::int64_t j) { return corner(i, j); },
            [&](std::int64_t i, std::int64_t j) { return 2 * bound(i0 + i, j0 + j); },
            whole ? shape : Shape::full))
            << "against the reference";
      }
    }
  }
}

TEST_P(UpdateTest, IsExactForIntegersThatNeedNoRounding) {
  // Largest |a|, |b| and the depth: every sum stays below 2^24. The larger operand needs the lower
  // terms, so every product of the rung must be computed. bf16x2 drops lo*lo: one operand has no
  // lo.
  struct Range {
    std::int64_t a, b, depth;
    std::vector<Rung> rungs;
  };
  const std::vector<Range> ranges = {
      {8, 8, 513, {Rung::bf16, Rung::bf16x2, Rung::bf16x3, Rung::fp16}},
      {1 << 11, 1 << 4, 256, {Rung::bf16x2, Rung::bf16x3, Rung::fp16}},
      {1 << 4, 1 << 11, 256, {Rung::bf16x2, Rung::bf16x3, Rung::fp16}},
      {1 << 10, 1 << 10, 8, {Rung::bf16x3, Rung::fp16}},
      {(1 << 20) - 1, 1, 8, {Rung::bf16x3}},
      {1, (1 << 20) - 1, 8, {Rung::bf16x3}}};
  Random random(kSeed);
  for (const Range& range : ranges) {
    if (std::find(range.rungs.begin(), range.rungs.end(), rung()) == range.rungs.end()) continue;
    for (std::int64_t k : {std::int64_t{1}, std::int64_t{7}, range.depth}) {
      SCOPED_TRACE(::testing::Message() << range.a << " x " << range.b << " k " << k);
      const auto integers = [&](std::int64_t rows, std::int64_t largest) {
        return Dense<double>::generate(rows, k, [&] { return random.integer(-largest, largest); });
      };
      const Operand a = left(integers(67, range.a)), b = right(integers(35, range.b));
      const Product p = exact_product(a.value, b.value);
      const Guarded<float> c(67, 35, 1);
      c.fill([](auto i, auto j) { return i - j; });
      run(a, b, c.view(), Shape::full, Write::subtract);
      EXPECT_TRUE(within(
          c.view(), [&](auto i, auto j) { return double(i - j) - p.value(i, j); },
          [](auto, auto) { return 0.0; }));
    }
  }
}

TEST_P(UpdateTest, TakesBlocksOfLargerOperands) {
  Random random(kSeed);
  const Dense<double> x = gaussian(161, 193, random), y = gaussian(131, 193, random);
  const Operand a = left(x), b = right(y);
  for (const auto& [row, depth, m, k] : {std::array<std::int64_t, 4>{32, 64, 64, 96},
                                         {96, 0, 65, 193},
                                         {0, 160, 161, 33},
                                         {128, 192, 33, 1}}) {
    for (std::int64_t n : {32, 64, 67}) {
      SCOPED_TRACE(::testing::Message() << row << " " << depth << " " << m << " " << n << " " << k);
      const std::int64_t column = n == 67 ? 64 : 32;
      const auto cut = [](const Dense<double>& from, auto i0, auto k0, auto rows, auto cols) {
        Dense<double> d(rows, cols);
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < cols; ++j) d(i, j) = from(i0 + i, k0 + j);
        }
        return d;
      };
      const Operand a_alone = left(cut(x, row, depth, m, k));
      const Operand b_alone = right(cut(y, column, depth, n, k));
      const Guarded<float> c(m, n, 1, 1), alone(m, n);
      update(table_, rung(), a.packed.block(row, depth, m, k), b.packed.block(column, depth, n, k),
             c.view(), Shape::full, Write::assign);
      run(a_alone, b_alone, alone.view());
      EXPECT_TRUE(same_bits(c.view(), alone.view()));
      EXPECT_TRUE(c.untouched_outside());
    }
  }
}

TEST_P(UpdateTest, GivesABlockTheSameBitsAloneAndWithItsNeighbours) {
  Random random(kSeed);
  for (std::int64_t k : {1, 31, 32, 100, 513}) {
    if (k > 100 && isa() == core::Isa::reference) break;
    const Operand a = left(gaussian(129, k, random)), b = right(gaussian(150, k, random));
    const Guarded<float> whole(129, 150), lower(129, 150);
    run(a, b, whole.view());
    run(a, b, lower.view(), Shape::lower);
    EXPECT_TRUE(same_bits(lower.view(), whole.view(), Shape::lower)) << "lower, k " << k;
    for (std::int64_t i : {0, 32, 64, 128}) {
      for (std::int64_t j : {0, 32, 96, 128}) {
        for (std::int64_t size : {1, 15, 16, 17, 32, 33, 64, 150}) {
          if (kSanitized && size % 2 == 0 && size < 100) continue;
          const std::int64_t m = std::min(size, 129 - i), n = std::min(size, 150 - j);
          const Guarded<float> c(m, n, 7, 3);
          update(table_, rung(), a.packed.block(i, 0, m, k), b.packed.block(j, 0, n, k), c.view(),
                 Shape::full, Write::assign);
          ASSERT_TRUE(same_bits(c.view(), whole.view().block(i, j, m, n)))
              << "block " << m << " x " << n << " at " << i << ", " << j << ", k " << k;
        }
      }
    }
  }
}

TEST_P(UpdateTest, IgnoresTermsBelowItsRung) {
  if (rung() != Rung::bf16 && rung() != Rung::bf16x2) GTEST_SKIP() << "has no rung above it";
  Random random(kSeed);
  const Dense<double> x = gaussian(70, 129, random), y = gaussian(50, 129, random);
  const Operand a = left(x), b = right(y);
  const Operand a3 = make_operand(x, Rung::bf16x3, Order::pairs);
  const Operand b3 = make_operand(y, Rung::bf16x3, Order::rows);
  const Guarded<float> own(70, 50), both(70, 50), left_only(70, 50), right_only(70, 50);
  run(a, b, own.view());
  run(a3, b3, both.view());
  run(a3, b, left_only.view());
  run(a, b3, right_only.view());
  EXPECT_TRUE(same_bits(both.view(), own.view()));
  EXPECT_TRUE(same_bits(left_only.view(), own.view()));
  EXPECT_TRUE(same_bits(right_only.view(), own.view()));
}

TEST_P(UpdateTest, GivesTheSameBitsWhateverItIsToldToFetchNext) {
  Random random(kSeed);
  const Operand a = left(gaussian(128, 200, random)), b = right(gaussian(96, 200, random));
  // Hints of smaller and larger depth and row counts than the call's operands have no effect.
  const Operand small = left(gaussian(5, 3, random)), large = right(gaussian(300, 700, random));
  const Guarded<float> expected(128, 96), c(128, 96);
  run(a, b, expected.view());
  for (const Next& hint :
       {Next{a.packed, {}}, Next{{}, b.packed}, Next{small.packed, large.packed},
        Next{large.packed, small.packed}, Next{large.packed.block(0, 0, 0, 700), b.packed},
        Next{a.packed, large.packed.block(0, 0, 300, 0)}}) {
    c.fill([](auto, auto) { return kNaN<float>; });
    update(table_, rung(), a.packed, b.packed, c.view(), Shape::full, Write::assign, hint);
    EXPECT_TRUE(same_bits(c.view(), expected.view()));
  }
}

TEST_P(UpdateTest, DoesNothingWithoutRowsOrColumnsAndTakesAnEmptySumAsZero) {
  Random random(kSeed);
  const Operand a = left(gaussian(40, 33, random)), b = right(gaussian(40, 33, random));
  const Operand a0 = left(Dense<double>(40, 0)), b0 = right(Dense<double>(40, 0));
  const Guarded<float> c(40, 40, 1);
  for (Write write : {Write::subtract, Write::assign}) {
    for (Shape shape : {Shape::full, Shape::lower}) {
      c.fill([](auto i, auto j) { return i + 100 * j; });
      const auto before = [](auto i, auto j) { return double(i + 100 * j); };
      const auto zero = [](auto, auto) { return 0.0; };
      update(table_, rung(), a.packed.block(0, 0, 0, 33), b.packed, c.view().block(0, 0, 0, 40),
             shape, write);
      update(table_, rung(), a.packed, b.packed.block(0, 0, 0, 33), c.view().block(0, 0, 40, 0),
             shape, write);
      EXPECT_TRUE(within(c.view(), before, zero));
      run(a0, b0, c.view(), shape, write);
      const auto after = [&](auto i, auto j) {
        return write == Write::assign ? 0.0 : before(i, j);
      };
      EXPECT_TRUE(within(c.view(), after, zero, shape));
      EXPECT_TRUE(c.untouched_outside());
    }
  }
}

TEST_P(UpdateTest, KeepsNonFiniteElementsInTheirRowsAndColumns) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  Random random(kSeed);
  const std::int64_t m = 70, n = 45, k = 67;
  const Dense<double> x = gaussian(m, k, random), y = gaussian(n, k, random);
  const Guarded<float> clean(m, n);
  run(left(x), right(y), clean.view());
  for (double bad : {inf, -inf, kNaN<double>, 1e39, -1e308}) {
    for (std::int64_t at : {0, 1, 31, 32, 66}) {
      const std::int64_t row = (at * 5) % m, column = (at * 7) % n;
      Dense<double> x_bad = x, y_bad = y;
      x_bad(row, at) = bad;
      y_bad(column, k - 1 - at) = bad;
      const Guarded<float> c(m, n, 1, 1);
      run(left(x_bad), right(y_bad), c.view());
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < m; ++i) {
          if (i == row || j == column) {
            ASSERT_FALSE(std::isfinite(c(i, j))) << bad << " lost at " << i << ", " << j;
          } else {
            ASSERT_EQ(c(i, j), clean(i, j)) << bad << " leaked to " << i << ", " << j;
          }
        }
      }
      EXPECT_TRUE(c.untouched_outside());
    }
  }
}

TEST_P(UpdateTest, OverflowsToInfinityInsteadOfWrapping) {
  if (rung() == Rung::fp16) GTEST_SKIP() << "products of fp16 numbers can't overflow fp32";
  const Dense<double> x = Dense<double>::generate(3, 1, [] { return 0x1p100; });
  const Guarded<float> c(3, 3);
  run(left(x), right(x), c.view());
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(c(i, i), std::numeric_limits<float>::infinity());
}

TEST_P(UpdateTest, ReadsAndWritesNothingPastTheEndOfItsOperands) {
  Random random(kSeed);
  for (const auto& [m, n, k] : {Sizes{1, 1, 1}, {33, 31, 33}, {64, 64, 64}, {47, 90, 100}}) {
    const Operand a = left(gaussian(m, k, random)), b = right(gaussian(n, k, random));
    const PageEnd a_end(a.memory.size() * 2), b_end(b.memory.size() * 2), c_end(m * n * 4);
    std::copy(a.memory.begin(), a.memory.end(), a_end.as<std::uint16_t>());
    std::copy(b.memory.begin(), b.memory.end(), b_end.as<std::uint16_t>());
    PackedIn pa = a.packed, pb = b.packed;
    pa.data = a_end.as<std::uint16_t>();
    pb.data = b_end.as<std::uint16_t>();
    const MatrixView<float> c = view(c_end.as<float>(), m, n);
    const Guarded<float> expected(m, n);
    run(a, b, expected.view());
    update(table_, rung(), pa, pb, c, Shape::full, Write::assign);
    EXPECT_TRUE(same_bits(c, expected.view()));
  }
}

class Fp16UpdateTest : public PerIsa {};
INSTANTIATE_TEST_SUITE_P(Kernels, Fp16UpdateTest, every_isa(), isa_name);

TEST_P(Fp16UpdateTest, MultipliesEveryKindOfFp16NumberExactly) {
  Random random(kSeed);
  // Finite fp16 values of every exponent: zero, subnormals, the largest; and values that need
  // rounding.
  std::vector<double> values = {0.0,    -0.0,  0x1p-24, -0x1p-24,  0x3ffp-24, 0x1p-14, 65504,
                                -65504, 65519, 0x1p-25, 0x1.8p-25, 1.0 / 3,   2049,    1 + 0x1p-11};
  while (values.size() < 512) {
    const fp16 x{static_cast<std::uint16_t>(random.bits())};
    if ((x.bits & 0x7c00U) != 0x7c00U) values.push_back(core::to_double(x));
  }
  const auto rounded = [](double x) { return core::to_float(core::to_fp16(x)); };
  const std::int64_t n = static_cast<std::int64_t>(values.size());
  Dense<double> x(n, 1);
  x.data = values;
  const Operand a = make_operand(x, Rung::fp16, Order::pairs);
  const Operand b = make_operand(x, Rung::fp16, Order::rows);
  const Guarded<float> c(n, n, 1);
  update(table_, Rung::fp16, a.packed, b.packed, c.view(), Shape::full, Write::assign);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      // 11 bits times 11 bits are exact in fp32. A zero may have either sign: sums start from zero.
      ASSERT_EQ(c(i, j), rounded(values[i]) * rounded(values[j]))
          << values[i] << " * " << values[j];
    }
  }
}

TEST_P(Fp16UpdateTest, OverflowsWhereFp16Does) {
  Dense<double> x(3, 1);
  x.data = {65519, 65520, -65520};  // 65520 is the smallest value that rounds to infinity
  const Operand a = make_operand(x, Rung::fp16, Order::pairs);
  const Operand one =
      make_operand(Dense<double>::generate(1, 1, [] { return 1.0; }), Rung::fp16, Order::rows);
  const Guarded<float> c(3, 1);
  update(table_, Rung::fp16, a.packed, one.packed, c.view(), Shape::full, Write::assign);
  EXPECT_EQ(c(0, 0), 65504.0F);
  EXPECT_FALSE(std::isfinite(c(1, 0)));
  EXPECT_FALSE(std::isfinite(c(2, 0)));
}

}  // namespace
}  // namespace stepwell::kernels::test
