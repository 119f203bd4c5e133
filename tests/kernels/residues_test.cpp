// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numeric>
#include <random>

#include "core/buffer.hpp"
#include "kernels/fixture/fixture.hpp"
#include "kernels/kernels.hpp"
#include "kernels/residue_constants.hpp"

/// Products of residues are exact, and all versions of the kernels have the same bits.
namespace stepwell::kernels::test {
namespace {

__extension__ using Integer = __int128;
using core::Buffer;

class Residues : public PerIsa {
 protected:
  void SetUp() override {
    PerIsa::SetUp();
    if (!IsSkipped() && table_.residues.update.isa != GetParam()) {
      GTEST_SKIP() << "has no kernels of its own";
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, Residues, every_isa(), isa_name);

/// Numbers in residues, in both orders.
struct ResidueOperand {
  ResidueOperand(const Table& t, MatrixView<double> x, int planes, Shape shape = Shape::full)
      : bytes(residue_bytes(x.rows, x.cols, planes)), reordered(bytes.size()) {
    quads = residues(bytes.data(), x.rows, x.cols, planes, ResidueOrder::quads);
    rows = residues(reordered.data(), x.rows, x.cols, planes, ResidueOrder::rows);
    t.residues.convert.run(x, shape, quads);
    reorder(t, quads, rows);
  }
  Buffer<std::int8_t> bytes, reordered;
  ResiduesOut quads, rows;
};

/// Values whose rows have a norm of at most sqrt(kLargestDiagonal), some of them zero or at the end
/// of the range.
std::vector<double> random_rows(std::int64_t rows, std::int64_t cols, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<double> x(static_cast<std::size_t>(rows * cols));
  const double size = std::sqrt(kLargestDiagonal / static_cast<double>(cols));
  for (double& v : x) v = size * value(random);
  for (std::int64_t i = 0; i < rows; i += 5) {  // one element has the whole norm
    for (std::int64_t k = 0; k < cols; ++k) x[static_cast<std::size_t>(k * rows + i)] = 0;
    x[static_cast<std::size_t>((i % cols) * rows + i)] =
        i % 2 == 0 ? std::sqrt(kLargestDiagonal) : -1;
  }
  return x;
}

std::int64_t number(double x) {
  return std::llrint(0x1p54 * x);
}

TEST(ResidueConstants, AnyIntegerIsReducedToItsSmallestResidue) {
  for (int p = 0; p < kVerifiedPlanes; ++p) {
    const ModulusConstants c = modulus_constants(p);
    const int m = kModuli[static_cast<std::size_t>(p)];
    for (std::int32_t f = -(1 << 19); f <= 1 << 19; ++f) {
      const auto q = static_cast<std::int32_t>(
          std::fma(static_cast<float>(f), c.inverse, 0x1.8p23F) - 0x1.8p23F);
      const auto r = static_cast<std::int8_t>(f + q * static_cast<std::int32_t>(c.complement));
      ASSERT_EQ(r, residue(f, m)) << f << " modulo " << m;
    }
  }
}

TEST(ResidueConstants, ModuliArePairwiseCoprimeAndLargeEnough) {
  double product = 1;
  for (std::size_t a = 0; a < kModuli.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) EXPECT_EQ(std::gcd(kModuli[a], kModuli[b]), 1);
    product *= kModuli[a];
    const auto planes = static_cast<int>(a) + 1;
    if (planes == kNumberPlanes) {
      EXPECT_GT(product / 2, std::ldexp(1.5, kFractionBits));
    }
    if (planes == kResiduePlanes) {
      EXPECT_GT(product / 2, std::ldexp(kLargestSum, 2 * kFractionBits) * (1 + 0x1p-10));
    }
    if (planes == kWidePlanes) {
      EXPECT_GT(product / 2,
                std::ldexp(kLargestSum, 2 * (kFractionBits + kWideBits)) * (1 + 0x1p-10));
    }
    // A wrong residue moves a sum by d M / m: out of its range, or by less than the redundant
    // modulus.
    if (planes == kResiduePlanes) {
      EXPECT_LT(256 * 2 * std::ldexp(kLargestSum, 2 * kFractionBits) / product,
                kModuli[kResiduePlanes]);
    }
  }
  EXPECT_LT(128.0 * 128 * kResidueChunk, 0x1p31);  // int32 sums
}

TEST_P(Residues, NumbersAreRoundedToFixedPointAndRestored) {
  for (const std::int64_t rows : {1, 16, 31, 100}) {
    for (const std::int64_t cols : {1, 3, 64, 70}) {
      std::vector<double> x = random_rows(rows, cols, 7);
      const std::vector<double> before = x;
      const ResidueOperand a(table_, view(x.data(), rows, cols), kVerifiedPlanes);
      std::vector<double> back(x.size(), 77);
      table_.residues.restore.run(a.quads, view(back.data(), rows, cols));
      for (std::size_t e = 0; e < x.size(); ++e) {
        ASSERT_EQ(x[e], 0x1p-54 * static_cast<double>(number(before[e])));
        ASSERT_EQ(back[e], x[e]);
      }
      for (std::int64_t i = 0; i < a.quads.panels() * 32; ++i) {
        for (std::int64_t k = 0; k < a.quads.depth_blocks() * 64; ++k) {
          const bool inside = i < rows && k < cols;
          const std::int64_t exact = inside ? number(x[static_cast<std::size_t>(k * rows + i)]) : 0;
          for (int p = 0; p < kVerifiedPlanes; ++p) {
            const std::int64_t r = residue(exact, kModuli[static_cast<std::size_t>(p)]);
            ASSERT_EQ(a.quads.at(p, 0, 0)[a.quads.offset(i, k)], r) << i << ' ' << k << ' ' << p;
            ASSERT_EQ(a.rows.at(p, 0, 0)[a.rows.offset(i, k)], r) << i << ' ' << k << ' ' << p;
          }
        }
      }
    }
  }
}

TEST_P(Residues, TheUpperPartOfALowerTriangleIsZero) {
  const std::int64_t n = 70;
  std::vector<double> x = random_rows(n, n, 8);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < j; ++i) x[static_cast<std::size_t>(j * n + i)] = NAN;
  }
  const ResidueOperand a(table_, view(x.data(), n, n), kResiduePlanes, Shape::lower);
  std::vector<double> back(x.size());
  table_.residues.restore.run(a.quads, view(back.data(), n, n));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto e = static_cast<std::size_t>(j * n + i);
      EXPECT_EQ(std::isnan(x[e]), i < j) << "must not be written";
      EXPECT_EQ(back[e], i < j ? 0 : x[e]);
    }
  }
}

/// The exact sum of products of numbers, in 128-bit integers.
Integer integer_sum(const std::vector<double>& a, std::int64_t rows, std::int64_t i,
                    const std::vector<double>& b, std::int64_t cols, std::int64_t j,
                    std::int64_t depth) {
  Integer sum = 0;
  for (std::int64_t k = 0; k < depth; ++k) {
    sum += static_cast<Integer>(number(a[static_cast<std::size_t>(k * rows + i)])) *
           number(b[static_cast<std::size_t>(k * cols + j)]);
  }
  return sum;
}

/// h - sum 2^-108, rounded once: 2^108 h is an integer for the h of these tests.
double exact_difference(double h, Integer sum) {
  const Integer whole = static_cast<Integer>(0x1p54 * h) * (Integer{1} << 54);
  return static_cast<double>(whole - sum) * 0x1p-108;
}

TEST_P(Residues, SumsAreExact) {
  struct Case {
    std::int64_t rows, cols, depth;
    int planes;
    Shape shape;
  };
  for (const Case& c : {Case{1, 1, 1, 14, Shape::full}, Case{33, 35, 64, 14, Shape::full},
                        Case{70, 70, 200, 15, Shape::lower}, Case{64, 32, 1024, 15, Shape::full}}) {
    std::vector<double> a = random_rows(c.rows, c.depth, 1), b = random_rows(c.cols, c.depth, 2);
    // Two calls, the second with two products.
    const std::int64_t cut = c.depth / 2 / 64 * 64;
    const ResidueOperand left(table_, view(a.data(), c.rows, c.depth), c.planes);
    const ResidueOperand right(table_, view(b.data(), c.cols, c.depth), c.planes);
    const auto part = [&](std::int64_t k0, std::int64_t k1) -> ResidueFactors {
      return {left.quads.block(0, k0, c.rows, k1 - k0), right.rows.block(0, k0, c.cols, k1 - k0)};
    };
    const ResidueFactors early[] = {part(0, cut)};
    const ResidueFactors late[] = {part(cut, cut), part(cut, c.depth)};
    Buffer<std::int8_t> memory(residue_sums_bytes(c.rows, c.cols, c.planes));
    const ResidueSums sums = residue_sums(memory.data(), c.rows, c.cols, c.planes);
    for (int p = 0; p < c.planes; ++p) {
      if (cut > 0) table_.residues.update.run({p, early, sums, c.shape, true, p, late});
      table_.residues.update.run({p, late, sums, c.shape, cut == 0, 0, {}});
    }
    // The exact sums as fp64 numbers leave differences of all sizes.
    std::vector<double> t(static_cast<std::size_t>(c.rows * c.cols)), h = t;
    for (std::int64_t j = 0; j < c.cols; ++j) {
      for (std::int64_t i = 0; i < c.rows; ++i) {
        const auto e = static_cast<std::size_t>(j * c.rows + i);
        const auto sum = static_cast<double>(integer_sum(a, c.rows, i, b, c.cols, j, c.depth));
        h[e] = (i + j) % 3 == 0 ? 0 : 0x1p-54 * std::nearbyint(0x1p-54 * sum);
      }
    }
    t = h;
    const MatrixView<double> out = view(t.data(), c.rows, c.cols);
    EXPECT_EQ(table_.residues.subtract.run(sums, c.shape, {}, out), 0);
    for (std::int64_t j = 0; j < c.cols; ++j) {
      for (std::int64_t i = 0; i < c.rows; ++i) {
        const auto e = static_cast<std::size_t>(j * c.rows + i);
        if (c.shape == Shape::lower && i < j) {
          EXPECT_EQ(t[e], h[e]);
          continue;
        }
        const double exact =
            exact_difference(h[e], integer_sum(a, c.rows, i, b, c.cols, j, c.depth));
        const double bound = 3 * 0x1p-53 * std::fabs(exact) + 0x1p-80;
        EXPECT_TRUE(std::fabs(t[e] - exact) <= bound)
            << i << ' ' << j << ": " << t[e] << " for " << exact;
      }
    }
  }
}

TEST_P(Residues, ScaledRowsAndColumnsAreRead) {
  for (const std::int64_t rows : {1, 16, 31, 100}) {
    for (const std::int64_t cols : {1, 3, 64, 70, 130}) {
      const std::vector<double> x = random_rows(rows, cols, 11);
      const MatrixView<const double> a = view(x.data(), rows, cols);
      for (const ResidueOrder order : {ResidueOrder::quads, ResidueOrder::rows}) {
        // The operand's rows are the rows of x, or its columns.
        const bool by_rows = order == ResidueOrder::quads;
        const std::int64_t lines = by_rows ? rows : cols, depth = by_rows ? cols : rows;
        std::vector<double> scale(static_cast<std::size_t>(lines));
        for (std::size_t i = 0; i < scale.size(); ++i) scale[i] = std::ldexp(1, -int(i % 40));
        const std::int64_t bytes = residue_bytes(lines, depth, kVerifiedPlanes);
        const Buffer<std::int8_t> memory(bytes), ones(bytes);
        std::fill_n(memory.data(), bytes, std::int8_t{77});  // padding has to be written
        const ResiduesOut out = residues(memory.data(), lines, depth, kVerifiedPlanes, order);
        const ResiduesOut plain = residues(ones.data(), lines, depth, kVerifiedPlanes, order);
        table_.residues.convert_scaled.run(a, scale.data(), out);
        table_.residues.convert_scaled.run(a, nullptr, plain);
        for (std::int64_t i = 0; i < out.panels() * 32; ++i) {
          for (std::int64_t k = 0; k < out.depth_blocks() * 64; ++k) {
            const bool inside = i < lines && k < depth;
            const double element = !inside ? 0 : by_rows ? a(i, k) : a(k, i);
            const double s = inside ? scale[static_cast<std::size_t>(i)] : 1;
            for (int p = 0; p < kVerifiedPlanes; ++p) {
              const int m = kModuli[static_cast<std::size_t>(p)];
              ASSERT_EQ(out.at(p, 0, 0)[out.offset(i, k)], residue(number(element * s), m))
                  << i << ' ' << k << ' ' << p << (by_rows ? " rows" : " columns");
              ASSERT_EQ(plain.at(p, 0, 0)[out.offset(i, k)], residue(number(element), m));
            }
          }
        }
      }
    }
  }
}

TEST_P(Residues, SumsAreScaledExactly) {
  const std::int64_t rows = 50, cols = 37, depth = 100;
  std::vector<double> a = random_rows(rows, depth, 12), b = random_rows(cols, depth, 13);
  const ResidueOperand left(table_, view(a.data(), rows, depth), kVerifiedPlanes);
  const ResidueOperand right(table_, view(b.data(), cols, depth), kVerifiedPlanes);
  Buffer<std::int8_t> memory(residue_sums_bytes(rows, cols, kVerifiedPlanes));
  const ResidueSums sums = residue_sums(memory.data(), rows, cols, kVerifiedPlanes);
  const ResidueFactors whole[] = {{left.quads, right.rows}};
  for (int p = 0; p < kVerifiedPlanes; ++p) {
    table_.residues.update.run({p, whole, sums, Shape::full, true, 0, {}});
  }
  std::vector<double> of_rows(static_cast<std::size_t>(rows)), of_cols;
  for (std::size_t i = 0; i < of_rows.size(); ++i) of_rows[i] = std::ldexp(1, int(i % 60) - 30);
  for (std::int64_t j = 0; j < cols; ++j) of_cols.push_back(std::ldexp(1, int(j % 20) - 400));
  of_rows[7] = NAN;
  of_cols[5] = NAN;
  for (const int planes : {kResiduePlanes, kVerifiedPlanes}) {
    ResidueSums used = sums;
    used.planes = planes;
    std::vector<double> plain(static_cast<std::size_t>(rows * cols)), scaled = plain;
    table_.residues.subtract.run(used, Shape::full, {}, view(plain.data(), rows, cols));
    table_.residues.subtract.run(used, Shape::full, {of_rows.data(), of_cols.data()},
                                 view(scaled.data(), rows, cols));
    for (std::int64_t j = 0; j < cols; ++j) {
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto e = static_cast<std::size_t>(j * rows + i);
        const double s =
            of_rows[static_cast<std::size_t>(i)] * of_cols[static_cast<std::size_t>(j)];
        if (std::isnan(s)) {
          EXPECT_TRUE(std::isnan(scaled[e]));
        } else {
          EXPECT_EQ(scaled[e], plain[e] * s) << i << ' ' << j;
        }
      }
    }
  }
}

TEST_P(Residues, WideSumsAreExact) {
  // In each row the norm is the largest that is allowed.
  const std::int64_t rows = 40, cols = 35, depth = 130;
  std::vector<double> a = random_rows(rows, depth, 14), b = random_rows(cols, depth, 15);
  for (double& x : a) x *= 1 << kWideBits;
  for (double& x : b) x *= 1 << kWideBits;
  const std::int64_t of_a = residue_bytes(rows, depth, kWidePlanes);
  const std::int64_t of_b = residue_bytes(cols, depth, kWidePlanes);
  const Buffer<std::int8_t> left(of_a), right(of_b), order(of_b);
  const ResiduesOut qa = residues(left.data(), rows, depth, kWidePlanes, ResidueOrder::quads);
  const ResiduesOut qb = residues(order.data(), cols, depth, kWidePlanes, ResidueOrder::quads);
  const ResiduesOut rb = residues(right.data(), cols, depth, kWidePlanes, ResidueOrder::rows);
  table_.residues.convert_scaled.run(view<const double>(a.data(), rows, depth), nullptr, qa);
  table_.residues.convert_scaled.run(view<const double>(b.data(), cols, depth), nullptr, qb);
  reorder(table_, qb, rb);
  Buffer<std::int8_t> memory(residue_sums_bytes(rows, cols, kWidePlanes));
  const ResidueSums sums = residue_sums(memory.data(), rows, cols, kWidePlanes);
  const ResidueFactors whole[] = {{qa, rb}};
  for (int p = 0; p < kWidePlanes; ++p) {
    table_.residues.update.run({p, whole, sums, Shape::full, true, 0, {}});
  }
  std::vector<double> t(static_cast<std::size_t>(rows * cols));
  table_.residues.subtract.run(sums, Shape::full, {nullptr, nullptr, true},
                               view(t.data(), rows, cols));
  double largest = 0;
  for (std::int64_t j = 0; j < cols; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const double exact = exact_difference(0, integer_sum(a, rows, i, b, cols, j, depth));
      const double off = std::fabs(t[static_cast<std::size_t>(j * rows + i)] - exact);
      EXPECT_TRUE(off <= 3 * 0x1p-53 * std::fabs(exact) + 0x1p-72) << i << ' ' << j;
      largest = std::max(largest, std::fabs(exact));
    }
  }
  EXPECT_GT(largest, kLargestSum * 8) << "sums that need the wide range";
}

TEST_P(Residues, HaveTheBitsOfTheReference) {
  const Table& reference = reference_table();
  const std::int64_t n = 96, depth = 192;
  std::vector<double> a = random_rows(n, depth, 3), b = random_rows(n, depth, 4);
  std::vector<double> results[2];
  for (const Table* t : {&reference, static_cast<const Table*>(&table_)}) {
    const ResidueOperand left(*t, view(a.data(), n, depth), kVerifiedPlanes);
    const ResidueOperand right(*t, view(b.data(), n, depth), kVerifiedPlanes);
    Buffer<std::int8_t> memory(residue_sums_bytes(n, n, kVerifiedPlanes));
    const ResidueSums sums = residue_sums(memory.data(), n, n, kVerifiedPlanes);
    const ResidueFactors whole[] = {{left.quads, right.rows}};
    for (int p = 0; p < kVerifiedPlanes; ++p) {
      t->residues.update.run({p, whole, sums, Shape::full, true, 0, {}});
    }
    std::vector<double>& out = results[t == &table_ ? 1 : 0];
    out.assign(static_cast<std::size_t>(n * n), 0x1.23456789abcdep-3);
    t->residues.subtract.run(sums, Shape::full, {}, view(out.data(), n, n));
    std::vector<double> fourteen(out.size(), 0x1.23456789abcdep-3);
    ResidueSums fewer = sums;
    fewer.planes = kResiduePlanes;
    t->residues.subtract.run(fewer, Shape::full, {}, view(fourteen.data(), n, n));
    out.insert(out.end(), fourteen.begin(), fourteen.end());
  }
  for (std::size_t e = 0; e < results[0].size(); ++e) EXPECT_EQ(results[0][e], results[1][e]) << e;
}

TEST_P(Residues, TheRedundantPlaneFindsAnyWrongResidue) {
  const std::int64_t n = 32, depth = 64;
  std::vector<double> a = random_rows(n, depth, 5), b = random_rows(n, depth, 6);
  const ResidueOperand left(table_, view(a.data(), n, depth), kVerifiedPlanes);
  const ResidueOperand right(table_, view(b.data(), n, depth), kVerifiedPlanes);
  Buffer<std::int8_t> memory(residue_sums_bytes(n, n, kVerifiedPlanes));
  const ResidueSums sums = residue_sums(memory.data(), n, n, kVerifiedPlanes);
  const ResidueFactors whole[] = {{left.quads, right.rows}};
  for (int p = 0; p < kVerifiedPlanes; ++p) {
    table_.residues.update.run({p, whole, sums, Shape::full, true, 0, {}});
  }
  std::vector<double> t(static_cast<std::size_t>(n * n));
  std::mt19937_64 random(9);
  for (int run = 0; run < 200; ++run) {
    const int p = static_cast<int>(random() % kVerifiedPlanes);
    std::int8_t& r = sums.at(p, 0, 0)[random() % static_cast<unsigned>(n * n)];
    const std::int8_t right_one = r;
    r = static_cast<std::int8_t>(r ^ (1 << random() % 8));
    const int m = kModuli[static_cast<std::size_t>(p)];
    const bool harmless = (r - right_one) % m == 0;
    EXPECT_EQ(table_.residues.subtract.run(sums, Shape::full, {}, view(t.data(), n, n)),
              harmless ? 0 : 1);
    r = right_one;
  }
}

/// As a wrong residue of a left operand makes them: here 2 too much and 1 too little, whose weights
/// are 1 and 2.
TEST_P(Residues, TwoWrongSumsOfARowOfALowerTriangleCannotCancel) {
  const std::int64_t n = 32;
  Buffer<std::int8_t> memory(residue_sums_bytes(n, n, kVerifiedPlanes), core::Contents::zeros);
  const ResidueSums sums = residue_sums(memory.data(), n, n, kVerifiedPlanes);
  std::vector<double> t(static_cast<std::size_t>(n * n));
  for (const std::int64_t row : {3, 17, 31}) {
    std::int8_t* const plane = sums.at(kResiduePlanes, 0, 0);
    plane[sums.offset(row, 0)] = 2;
    plane[sums.offset(row, 1)] = -1;
    const auto wrong = [&](Shape shape) {
      return table_.residues.subtract.run(sums, shape, {}, view(t.data(), n, n));
    };
    EXPECT_EQ(wrong(Shape::lower), 1) << row;
    EXPECT_EQ(wrong(Shape::full), 0) << row;
    plane[sums.offset(row, 0)] = plane[sums.offset(row, 1)] = 0;
    EXPECT_EQ(wrong(Shape::lower), 0) << row;
  }
}

TEST_P(Residues, TheOtherPlanesFindAnyWrongResidueOfANumber) {
  const std::int64_t rows = 50, cols = 70;
  std::vector<double> x = random_rows(rows, cols, 16);
  const ResidueOperand a(table_, view(x.data(), rows, cols), kVerifiedPlanes);
  std::vector<double> back(x.size());
  const MatrixView<double> out = view(back.data(), rows, cols);
  EXPECT_EQ(table_.residues.restore.run(a.quads, out), 0);
  std::mt19937_64 random(17);
  for (int run = 0; run < 300; ++run) {
    const int p = static_cast<int>(random() % kVerifiedPlanes);
    const auto i = static_cast<std::int64_t>(random() % static_cast<unsigned>(rows));
    const auto k = static_cast<std::int64_t>(random() % static_cast<unsigned>(cols));
    std::int8_t& r = a.quads.at(p, 0, 0)[a.quads.offset(i, k)];
    const std::int8_t right_one = r;
    r = static_cast<std::int8_t>(r ^ (1 << random() % 8));
    EXPECT_EQ(table_.residues.restore.run(a.quads, out), 1) << p << ' ' << i << ' ' << k;
    r = right_one;
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
