// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/scan.hpp"
#include "kernels/vectors.hpp"

/// The pass that loads a tile: outputs have the same bits for every instruction set, sums are
/// within the roundoff of any order of summation.
namespace stepwell::kernels::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// |got - expected| <= terms u expected for sums of 'terms' nonnegative values; the same infinity
/// or NaN if that is expected.
::testing::AssertionResult same_sum(double got, double expected, std::int64_t terms) {
  const bool both_nan = std::isnan(got) && std::isnan(expected);
  const double bound = static_cast<double>(terms) * kU64 * expected;
  if (both_nan || got == expected || std::abs(got - expected) <= bound) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << got << " instead of " << expected;
}

void expect_same_scan(const Scan& got, const Scan& expected, std::int64_t terms) {
  EXPECT_EQ(got.max_abs, expected.max_abs);
  EXPECT_TRUE(same_sum(got.big, expected.big, terms));
  EXPECT_TRUE(same_sum(got.mid, expected.mid, terms));
  EXPECT_TRUE(same_sum(got.small, expected.small, terms));
  EXPECT_EQ(got.non_finite, expected.non_finite);
  EXPECT_EQ(got.bad_row, expected.bad_row);
  EXPECT_EQ(got.bad_col, expected.bad_col);
  EXPECT_EQ(got.asymmetry, expected.asymmetry);
  EXPECT_EQ(got.asymmetry_row, expected.asymmetry_row);
  EXPECT_EQ(got.asymmetry_col, expected.asymmetry_col);
}

/// The kind of elements in a tile.
enum class Content { gaussian, extreme, non_finite };

double draw(Content content, Random& random) {
  const std::int64_t kind = random.integer(0, 40);
  if (content == Content::non_finite && kind < 2) {
    return std::array{kInfinity, -kInfinity, kNaN<double>}[random.integer(0, 2)];
  }
  if (content != Content::gaussian && kind < 20) {
    return std::ldexp(random.gaussian(), static_cast<int>(random.integer(-1070, 1020)));
  }
  return kind == 20 ? 0.0 : random.gaussian();
}

struct Result {
  Guarded<float> out32;
  Guarded<double> out64;
  std::vector<double> row_sums, col_sums;
  Scan scan;
};

Result run(const Table& t, LoadArgs args) {
  const std::int64_t m = args.a.rows, n = args.a.cols;
  Result r{
      {m, n, 2, 1}, {m, n, 1, 1}, std::vector<double>(m, 0.5), std::vector<double>(n, 0.5), {}};
  r.out32.fill([](auto, auto) { return -1; });
  r.out64.fill([](auto, auto) { return -1; });
  args.out32 = r.out32.view();
  args.out64 = r.out64.view();
  args.row_sums = r.row_sums.data();
  args.col_sums = r.col_sums.data();
  load(t, args, r.scan);
  return r;
}

class LoadTest : public PerIsa {
 protected:
  void check(Content content, Shape shape) {
    Random random(kSeed);
    std::int64_t turn = 0;
    for (const auto& [m, n] : contract_pairs()) {
      SCOPED_TRACE(testing::Message() << m << " x " << n);
      const Guarded<double> a(m, n, m % 4, 1 + m % 2, kNaN<double>);
      a.fill([&](auto, auto) { return draw(content, random); }, shape);
      const Guarded<double> transposed(n, m, n % 3, 1, kNaN<double>);
      transposed.fill([&](auto j, auto i) {
        const bool read = shape == Shape::full || i >= j;
        if (!read) return kNaN<double>;
        return random.integer(0, 9) == 0 ? draw(content, random) : a(i, j);
      });
      std::vector<double> row(m), col(n);
      for (double& s : row) s = std::ldexp(1.0, static_cast<int>(random.integer(-9, 9)));
      for (double& s : col) s = random.gaussian();
      LoadArgs args;
      args.a = a.view();
      args.shape = shape;
      if (turn % 2 == 0) args.scales.row = row.data();
      if (turn % 3 == 0) args.scales.col = col.data();
      if (turn % 4 != 0) args.transposed = transposed.view();
      ++turn;
      const Result got = run(table_, args);
      const Result expected = run(reference_table(), args);
      ASSERT_TRUE(same_bits(got.out32.view(), expected.out32.view()));
      ASSERT_TRUE(same_bits(got.out64.view(), expected.out64.view()));
      ASSERT_TRUE(got.out32.untouched_outside());
      ASSERT_TRUE(got.out64.untouched_outside());
      for (std::int64_t i = 0; i < m; ++i) {
        ASSERT_TRUE(same_sum(got.row_sums[i], expected.row_sums[i], n + 1)) << "row " << i;
      }
      for (std::int64_t j = 0; j < n; ++j) {
        ASSERT_TRUE(same_sum(got.col_sums[j], expected.col_sums[j], m + 1)) << "column " << j;
      }
      expect_same_scan(got.scan, expected.scan, m * n);
      Scan alone;  // scan only, without outputs
      load(table_, {args.a, shape, {}, {}, {}, nullptr, nullptr, args.transposed}, alone);
      expect_same_scan(alone, expected.scan, m * n);
      if (HasFailure()) return;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, LoadTest, every_vector_isa(), isa_name);

TEST_P(LoadTest, OrdinaryElements) {
  check(Content::gaussian, Shape::full);
}
TEST_P(LoadTest, OrdinaryElementsLower) {
  check(Content::gaussian, Shape::lower);
}
TEST_P(LoadTest, HugeAndTinyElements) {
  check(Content::extreme, Shape::full);
}
TEST_P(LoadTest, HugeAndTinyElementsLower) {
  check(Content::extreme, Shape::lower);
}
TEST_P(LoadTest, NonFiniteElements) {
  check(Content::non_finite, Shape::full);
}
TEST_P(LoadTest, NonFiniteElementsLower) {
  check(Content::non_finite, Shape::lower);
}

TEST_P(LoadTest, EqualDifferencesAreReportedAtTheFirst) {
  const std::int64_t n = 70;
  Random random(kSeed);
  const Guarded<double> a(n, n), transposed(n, n);
  a.fill([&](auto, auto) { return random.integer(0, 3); });
  transposed.fill([&](auto, auto) { return random.integer(0, 3); });
  LoadArgs args;
  args.a = a.view();
  args.transposed = transposed.view();
  Scan got, expected;
  load(table_, args, got);
  load(reference_table(), args, expected);
  expect_same_scan(got, expected, n * n);
  EXPECT_EQ(got.asymmetry, 3);
}

TEST_P(LoadTest, ASymmetricTileEqualsItsTranspose) {
  const std::int64_t n = 45;
  Random random(kSeed);
  const Guarded<double> a(n, n, 1, 1);
  a.fill([&](auto, auto) { return random.gaussian(); });
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
  }
  LoadArgs args;
  args.a = a.view();
  args.shape = Shape::lower;
  args.transposed = a.view();
  Scan scan;
  load(table_, args, scan);
  EXPECT_EQ(scan.asymmetry, 0);
  EXPECT_EQ(scan.asymmetry_row, -1);
  a(3, 40) += 2;
  load(table_, args, scan);
  EXPECT_NEAR(scan.asymmetry, 2, 8 * kU64);
  EXPECT_EQ(scan.asymmetry_row, 40);
  EXPECT_EQ(scan.asymmetry_col, 3);
}

TEST_P(LoadTest, ReadsNothingPastTheEnd) {
  for (std::int64_t m = 1; m <= 40; ++m) {
    for (std::int64_t n : {1, 7, 33}) {
      const PageEnd a(8 * m * n), transposed(8 * m * n), out(4 * m * n), rows(8 * m);
      LoadArgs args;
      args.a = view<const double>(a.as<double>(), m, n);
      args.transposed = view<const double>(transposed.as<double>(), n, m);
      args.out32 = view(out.as<float>(), m, n);
      args.row_sums = rows.as<double>();
      args.scales.row = rows.as<double>();
      Scan scan;
      load(table_, args, scan);
    }
  }
}

TEST_P(LoadTest, AnEmptyTileAddsNothing) {
  Scan scan;
  scan.max_abs = 3;
  scan.bad_row = 7;
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{0, 4}, {4, 0}, {0, 0}}) {
    const Guarded<double> a(m, n, 0, 0, kNaN<double>);
    LoadArgs args;
    args.a = a.view();
    load(table_, args, scan);
  }
  EXPECT_EQ(scan.max_abs, 3);
  EXPECT_EQ(scan.mid, 0);
  EXPECT_EQ(scan.non_finite, 0);
}

TEST_P(LoadTest, FrobeniusNormNeitherOverflowsNorUnderflows) {
  for (double scale : {0x1p-1040, 0x1p-700, 0x1p-511, 1.0, 0x1p486, 0x1p700, 0x1p1018}) {
    const Guarded<double> a(4, 4, 0, 0, kNaN<double>);
    a.fill([&](auto, auto) { return 3 * scale; });
    LoadArgs args;
    args.a = a.view();
    Scan scan;
    load(table_, args, scan);
    EXPECT_EQ(frobenius(scan), 12 * scale);
  }
}

TEST(ScanTest, NormsOfElementsInAllRanges) {
  Scan scan;
  scan.mid = 9;          // 3
  scan.small = 0x1p100;  // 2^-487
  EXPECT_EQ(frobenius(scan), 3);
  scan.big = 0x1p-1000;  // 2^38
  EXPECT_EQ(frobenius(scan), 0x1p38);
}

TEST(ScanTest, CombineMovesPositionsAndKeepsTheFirst) {
  Scan total, tile;
  tile.max_abs = 2;
  tile.mid = 1;
  tile.non_finite = 3;
  tile.bad_row = 1;
  tile.bad_col = 2;
  tile.asymmetry = 0.5;
  tile.asymmetry_row = 3;
  tile.asymmetry_col = 0;
  combine(total, tile, 100, 200);
  EXPECT_EQ(total.bad_row, 101);
  EXPECT_EQ(total.bad_col, 202);
  EXPECT_EQ(total.asymmetry_row, 103);
  EXPECT_EQ(total.asymmetry_col, 200);
  combine(total, tile, 300, 200);  // the same column, further down
  EXPECT_EQ(total.bad_row, 101);
  combine(total, tile, 300, 100);  // an earlier column
  EXPECT_EQ(total.bad_row, 301);
  EXPECT_EQ(total.bad_col, 102);
  EXPECT_EQ(total.non_finite, 9);
  EXPECT_EQ(total.max_abs, 2);
  EXPECT_EQ(total.mid, 3);
  EXPECT_EQ(total.asymmetry_row, 103);
}

}  // namespace
}  // namespace stepwell::kernels::test
