// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batched/batch_fixture.hpp"
#include "sanitized.hpp"

/// Systems that are not definite or not finite, at random positions: exactly these are flagged,
/// with LAPACK's index, and the other systems are unaffected.
namespace stepwell::test {
namespace {

template <class T>
class BatchFailures : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BatchFailures, Types);

/// A spoiled matrix and its failing pivot.
struct Spoiled {
  std::int64_t matrix;
  std::int32_t pivot;
};

/// Spoils about one matrix in a hundred, but at least four, in both triangles.
template <class T>
std::vector<Spoiled> spoil(Plain<T>& a, std::mt19937_64& random) {
  const T infinity = std::numeric_limits<T>::infinity();
  const std::int64_t n = a.rows;
  const auto below = [&](std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random);
  };
  std::vector<std::int64_t> places(static_cast<std::size_t>(a.count));
  for (std::size_t m = 0; m < places.size(); ++m) places[m] = static_cast<std::int64_t>(m);
  std::shuffle(places.begin(), places.end(), random);
  places.resize(static_cast<std::size_t>(std::max<std::int64_t>(4, a.count / 100)));
  std::sort(places.begin(), places.end());
  std::vector<Spoiled> all;
  for (const std::int64_t m : places) {
    const std::int64_t i = below(n), j = below(i + 1);
    bool infinite_pivot = false;
    T bad = std::numeric_limits<T>::quiet_NaN();
    const std::int64_t kind = below(5);
    if (kind == 1) bad = infinity;
    if (kind == 2) bad = -infinity;
    if (kind >= 3) {  // not definite: zero, or negative
      a[m][i + i * n] = kind == 3 ? T{0} : -a[m][i + i * n];
    } else {
      a[m][i + j * n] = a[m][j + i * n] = bad;
      infinite_pivot = kind == 1 && i == j;
    }
    std::vector<T> copy(a[m], a[m] + n * n);
    const std::int32_t lapacks = lapack_factor(copy.data(), n);
    // LAPACK takes the square root of an infinite pivot and continues.
    all.push_back({m, infinite_pivot ? static_cast<std::int32_t>(i) : lapacks});
  }
  return all;
}

TYPED_TEST(BatchFailures, AreFlaggedAndUnchangedAndDoNotAffectOthers) {
  using T = TypeParam;
  std::mt19937_64 random(31);
  for (std::int64_t n = 1; n <= kBatchOrder; n += kSanitized ? 21 : 1) {
    const std::int64_t count = n <= 16 ? 1000 : 150;
    const Plain<T> a = definite<T>(count, n, static_cast<std::uint64_t>(n));
    const Plain<T> b = right_hand_sides<T>(count, n, 1, 7);
    Plain<T> good_factor = a, good_x = b, bad = a;
    ASSERT_TRUE(batch_factor_solve(good_factor.view(), good_x.view()).ok());
    const std::vector<Spoiled> spoiled = spoil(bad, random);

    const Layout layout = kLayouts[n % 4];
    BatchOptions options;
    options.triangle = n % 3 == 0 ? Triangle::upper : Triangle::lower;
    Stored<T> stored(layout, bad), right(layout, b);
    const std::vector<T> before = stored.memory();
    std::vector<std::int32_t> pivots(static_cast<std::size_t>(count), 99);
    std::vector<double> logs(pivots.size());
    BatchOutputs outputs;
    outputs.pivots = pivots;
    outputs.log_determinants = logs;
    const BatchReport report = batch_factor_solve(stored.view(), right.view(), options, outputs);

    std::vector<std::int32_t> expected(pivots.size(), -1);
    std::vector<std::int64_t> failures;
    for (const Spoiled& s : spoiled) {
      ASSERT_GE(s.pivot, 0) << "LAPACK accepts what was spoiled, n = " << n;
      expected[static_cast<std::size_t>(s.matrix)] = s.pivot;
      failures.push_back(s.matrix);
    }
    ASSERT_EQ(pivots, expected) << "n = " << n;
    ASSERT_EQ(report.failures, failures);
    ASSERT_FALSE(report.ok());
    const auto is_good = [&](std::int64_t m) { return expected[static_cast<std::size_t>(m)] < 0; };
    ASSERT_TRUE(stored.unchanged(
        before,
        [&](auto m, auto i, auto j) { return is_good(m) && inside(options.triangle, i, j); }))
        << "n = " << n;
    const Plain<T> factor = stored.plain(), x = right.plain();
    for (std::int64_t m = 0; m < count; ++m) {
      ASSERT_EQ(std::isnan(logs[static_cast<std::size_t>(m)]), !is_good(m)) << n;
      ASSERT_TRUE(same_bits(x[m], is_good(m) ? good_x[m] : b[m], n)) << n << ", system " << m;
      for (std::int64_t j = 0; is_good(m) && j < n; ++j) {
        for (std::int64_t i = j; i < n; ++i) {
          const T l = factor_element(factor, options.triangle, m, i, j);
          ASSERT_TRUE(same_bits(&l, &good_factor[m][i + j * n], 1)) << n << ", matrix " << m;
        }
      }
    }
  }
}

TYPED_TEST(BatchFailures, OfAllEntryPointsAreTheSame) {
  using T = TypeParam;
  std::mt19937_64 random(32);
  for (const std::int64_t n : {1, 6, 16, 40, 100}) {
    Plain<T> a = definite<T>(400, n, 33);
    const Plain<T> b = right_hand_sides<T>(400, n, 2, 34);
    std::vector<std::int64_t> failures;
    for (const Spoiled& s : spoil(a, random)) failures.push_back(s.matrix);
    Plain<T> x = b, y = b, factor = a, other = a;
    EXPECT_EQ(batch_solve(std::as_const(a).view(), x.view()).failures, failures);
    EXPECT_EQ(batch_cholesky(factor.view()).failures, failures);
    EXPECT_EQ(batch_factor_solve(other.view(), y.view()).failures, failures);
    EXPECT_TRUE(same_bits(x[0], y[0], 400 * n * 2)) << n;
  }
}

TYPED_TEST(BatchFailures, OfFactorsAreDiagonalsThatAreNone) {
  using T = TypeParam;
  Plain<T> factor = definite<T>(100, 9, 35);
  ASSERT_TRUE(batch_cholesky(factor.view()).ok());
  const T bad[] = {0, -1, std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()};
  std::vector<std::int32_t> expected(100, -1);
  for (std::int64_t i = 0; i < 4; ++i) {
    factor[20 * i + 3][(i + 2) * 10] = bad[i];
    expected[static_cast<std::size_t>(20 * i + 3)] = static_cast<std::int32_t>(i + 2);
  }
  std::vector<std::int32_t> pivots(100);
  BatchOutputs outputs;
  outputs.pivots = pivots;
  const Plain<T> b = right_hand_sides<T>(100, 9, 1, 36);
  Plain<T> x = b;
  const BatchReport report = batch_substitute(std::as_const(factor).view(), x.view(), {}, outputs);
  EXPECT_EQ(pivots, expected);
  EXPECT_EQ(report.failures, (std::vector<std::int64_t>{3, 23, 43, 63}));
  for (std::int64_t m = 0; m < 100; ++m) {
    EXPECT_EQ(same_bits(x[m], b[m], 9), expected[static_cast<std::size_t>(m)] >= 0) << m;
  }
}

}  // namespace
}  // namespace stepwell::test
