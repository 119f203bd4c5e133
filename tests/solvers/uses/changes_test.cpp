// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "solvers/fixture.hpp"
#include "solvers/refused.hpp"
#include "solvers/uses/changed_matrix.hpp"

/// A factor that is changed stays that of the changed matrix, to the backward accuracy of FP64.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;
using stepwell::test::ChangedMatrix;

void expect_factor_of(const ChangedMatrix& a, const Factor& factor) {
  const double ratio = a.error(factor) / a.allowance();
  EXPECT_TRUE(ratio <= 1) << ratio;
}

constexpr std::int64_t kTile = 64;

/// The sizes have one tile, and a last tile that is full, or not; those of the change stay in it,
/// fill it, or begin more.
TEST(ChangesTest, AppendedRowsGiveTheFactorOfTheLargerMatrix) {
  for (const std::int64_t n : {1, 63, 64, 150, 320}) {
    for (const std::int64_t k : {1, 2, 42, 130}) {
      for (const bool spread : {false, true}) {
        SCOPED_TRACE(testing::Message() << n << " + " << k << " spread " << spread);
        const Dense<double> all = gallery_matrix(Kind::geometric, n + k, 1e6);
        Factor factor = cholesky(all.view().block(0, 0, n, n), factor_at_fp64(kTile, spread));
        ASSERT_TRUE(factor.append(all.view().block(n, 0, k, n + k)));
        ASSERT_EQ(factor.order(), n + k);
        expect_factor_of(ChangedMatrix(all.view()), factor);
      }
    }
  }
}

/// From nothing, and from one small tile, which grows.
TEST(ChangesTest, AFactorGrowsRowByRow) {
  const std::int64_t n = 300;
  const Dense<double> all = gallery_matrix(Kind::geometric, n, 1e6);
  Factor factor;
  for (std::int64_t k = 0; k < n; ++k) {
    ASSERT_TRUE(factor.append(all.view().block(k, 0, 1, k + 1)));
  }
  expect_factor_of(ChangedMatrix(all.view()), factor);
  EXPECT_EQ(factor.report().tile, 256);
  EXPECT_EQ(factor.report().tiles[static_cast<std::size_t>(Rung::fp64)], 3);
}

TEST(ChangesTest, RankKUpdatesAndDowndates) {
  for (const std::int64_t n : {1, 63, 150, 320}) {
    for (const std::int64_t k : {1, 3, 64, 70}) {
      for (const bool spread : {false, true}) {
        SCOPED_TRACE(testing::Message() << n << " and " << k << " columns, spread " << spread);
        const Dense<double> all = gallery_matrix(Kind::geometric, n, 1e6);
        const Dense<double> v = gaussian_columns(n, k);
        const Dense<double> kept = v;
        ChangedMatrix a(all.view());
        Factor factor = cholesky(all.view(), factor_at_fp64(kTile, spread));
        factor.update(v.view());
        a.add(v.view(), 1);
        expect_factor_of(a, factor);
        ASSERT_TRUE(factor.downdate(v.view()));
        a.add(v.view(), -1);
        expect_factor_of(a, factor);
        EXPECT_TRUE(v.data == kept.data);
      }
    }
  }
}

/// Columns that begin with zeros leave the rows above as they were.
TEST(ChangesTest, LeadingZerosOfAnUpdateKeepTheRowsAbove) {
  const std::int64_t n = 150, zeros = 100;
  const Dense<double> all = gallery_matrix(Kind::geometric, n, 100);
  Factor factor = cholesky(all.view(), factor_at_fp64(kTile));
  Dense<double> before(n, n), after(n, n), v = gaussian_columns(n, 2);
  factor.copy_to(before.view());
  for (std::int64_t i = 0; i < zeros; ++i) v(i, 0) = v(i, 1) = 0;
  factor.update(v.view());
  factor.copy_to(after.view());
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < zeros; ++i) ASSERT_EQ(before(i, j), after(i, j));
  }
  EXPECT_NE(before(zeros, zeros), after(zeros, zeros));
}

TEST(ChangesTest, DroppedRowsGiveTheFactorOfTheSmallerMatrix) {
  const std::int64_t n = 320;
  std::vector<std::int64_t> half;
  for (std::int64_t i = 0; i < n; i += 2) half.push_back(i);
  for (const std::vector<std::int64_t>& rows :
       {std::vector<std::int64_t>{0}, {n - 1}, {100, 7, 200}, half, {}}) {
    for (const bool spread : {false, true}) {
      SCOPED_TRACE(testing::Message() << rows.size() << " rows, spread " << spread);
      const Dense<double> all = gallery_matrix(Kind::geometric, n, 1e6);
      ChangedMatrix a(all.view());
      Factor factor = cholesky(all.view(), factor_at_fp64(kTile, spread));
      factor.drop(rows);
      a.drop(rows);
      ASSERT_EQ(factor.order(), a.order());
      expect_factor_of(a, factor);
    }
  }
}

TEST(ChangesTest, EveryRowCanBeDropped) {
  const Dense<double> all = gallery_matrix(Kind::geometric, 3, 10);
  Factor factor = cholesky(all.view(), factor_at_fp64(kTile));
  factor.drop(std::vector<std::int64_t>{2, 0, 1});
  EXPECT_EQ(factor.order(), 0);
  EXPECT_EQ(factor.log_det(), 0);
  ASSERT_TRUE(factor.append(all.view()));
  expect_factor_of(ChangedMatrix(all.view()), factor);
}

/// A solve with the changed matrix finds no other one in the factor.
TEST(ChangesTest, AChangedFactorSolvesWithACertificate) {
  const std::int64_t n = 200;
  const Dense<double> all = gallery_matrix(Kind::geometric, n, 1e6);
  const Dense<double> b = gaussian_columns(n, 1);
  Factor factor = cholesky(all.view().block(0, 0, n - 10, n - 10), factor_at_fp64(kTile));
  ASSERT_TRUE(factor.append(all.view().block(n - 10, 0, 10, n)));
  Dense<double> x(n, 1);
  const Certificate certificate = factor.solve(all.view(), b.view(), x.view());
  EXPECT_TRUE(certificate.ok()) << certificate.reason;
}

/// The factor after a refusal, to the bit.
class Unchanged {
 public:
  explicit Unchanged(const Factor& factor) : factor_(factor), l_(factor.order(), factor.order()) {
    factor.copy_to(l_.view());
  }
  ~Unchanged() {
    EXPECT_EQ(factor_.order(), l_.rows);
    if (factor_.order() != l_.rows) return;
    Dense<double> now(l_.rows, l_.rows);
    factor_.copy_to(now.view());
    EXPECT_TRUE(now.data == l_.data);
  }
  Unchanged(const Unchanged&) = delete;
  Unchanged& operator=(const Unchanged&) = delete;

 private:
  const Factor& factor_;
  Dense<double> l_;
};

TEST(ChangesTest, ALossOfDefinitenessIsRefused) {
  const std::int64_t n = 150;
  const Dense<double> all = gallery_matrix(Kind::geometric, n, 100);
  Factor factor = cholesky(all.view(), factor_at_fp64(kTile));
  const Unchanged unchanged(factor);
  Dense<double> l(n, n);
  factor.copy_to(l.view());
  for (const double share : {1.0, 1 + 0x1p-30, 2.0}) {  // A - share l l' with a column l of L
    Dense<double> v(n, 65);
    for (std::int64_t i = 0; i < n; ++i) v(i, 64) = std::sqrt(share) * l(i, 70);
    EXPECT_FALSE(factor.downdate(v.view())) << share;
  }
  Dense<double> rows(2, n + 2);
  for (std::int64_t j = 0; j < n; ++j) rows(0, j) = rows(1, j) = all(n - 1, j);
  rows(0, n) = rows(1, n) = 2 * all(n - 1, n - 1);
  rows(1, n + 1) = 0.5 * all(n - 1, n - 1);
  EXPECT_FALSE(factor.append(rows.view()));
  rows(1, n + 1) = 0;
  EXPECT_FALSE(factor.append(rows.view()));
  rows(1, n + 1) = -1;
  EXPECT_FALSE(factor.append(rows.view()));
}

TEST(ChangesTest, WhatCannotBeAChangeIsRefused) {
  const std::int64_t n = 70;
  const Dense<double> all = gallery_matrix(Kind::geometric, n, 100);
  Factor factor = cholesky(all.view(), factor_at_fp64(kTile));
  const Unchanged unchanged(factor);
  using I = std::vector<std::int64_t>;
  expect_refused([&] { factor.drop(I{-1}); }, ErrorCode::invalid_argument,
                 "drop: there is no row -1 in a factor of order 70");
  expect_refused(
      [&] {
        factor.drop(I{0, n});
      },
      ErrorCode::invalid_argument, "drop: there is no row 70");
  expect_refused(
      [&] {
        factor.drop(I{5, 6, 5});
      },
      ErrorCode::invalid_argument, "drop: row 5 is named twice");
  Dense<double> v(n, 2), rows(2, n + 2);
  v(17, 1) = std::numeric_limits<double>::quiet_NaN();
  expect_refused([&] { factor.update(v.view()); }, ErrorCode::invalid_argument,
                 "update: row 17 of V");
  v(17, 1) = 1e200;
  expect_refused([&] { (void)factor.downdate(v.view()); }, ErrorCode::invalid_argument,
                 "downdate: row 17 of V");
  expect_refused([&] { factor.update(v.view().block(0, 0, n - 1, 2)); },
                 ErrorCode::invalid_argument, "update: V is 69 x 2; it must have 70 rows");
  rows(1, 3) = std::numeric_limits<double>::infinity();
  expect_refused([&] { (void)factor.append(rows.view()); }, ErrorCode::invalid_argument,
                 "append: element (1, 3) is not finite");
  expect_refused([&] { (void)factor.append(rows.view().block(0, 0, 2, n)); },
                 ErrorCode::invalid_argument, "append: the rows");
}

TEST(ChangesTest, ACoarserFactorCannotBeChanged) {
  const std::int64_t n = 70;
  const Dense<double> all = gallery_matrix(Kind::geometric, n, 100), v = gaussian_columns(n, 1);
  FactorOptions options = factor_at_fp64(kTile);
  options.map = uniform(Rung::bf16);
  Factor factor = cholesky(all.view(), options);
  expect_refused([&] { factor.update(v.view()); }, ErrorCode::unsupported,
                 "update: the factor has tiles at bf16");
}

TEST(ChangesTest, TheBitsDoNotDependOnTheNumberOfThreads) {
  const std::int64_t n = 300;
  const Dense<double> all = gallery_matrix(Kind::geometric, n + 20, 100);
  const Dense<double> v = gaussian_columns(n + 20, 70);
  std::vector<Dense<double>> found;
  for (const int threads : {1, 3}) {
    Context context(threads);
    EngineOptions with;
    with.context = &context;
    Factor factor = cholesky(all.view().block(0, 0, n, n), factor_at_fp64(kTile));
    ASSERT_TRUE(factor.append(all.view().block(n, 0, 20, n + 20), with));
    factor.update(v.view(), with);
    ASSERT_TRUE(factor.downdate(v.view().block(0, 0, n + 20, 66), with));
    factor.drop(std::vector<std::int64_t>{3, 90}, with);
    Dense<double> l(n + 18, n + 18);
    factor.copy_to(l.view());
    found.push_back(l);
  }
  EXPECT_TRUE(found[0].data == found[1].data);
}

/// The bound on the error of a determinant knows what a downdate has cancelled.
TEST(ChangesTest, TheDeterminantsBoundHoldsAfterADowndate) {
  const std::int64_t n = 150;
  const Dense<double> all = gallery_matrix(Kind::geometric, n, 100);
  Factor factor = cholesky(all.view(), factor_at_fp64(kTile));
  const double expected = factor.log_det(), bound = factor.log_det_error();
  Dense<double> v = gaussian_columns(n, 3);
  for (double& e : v.data) e *= 1e3;
  factor.update(v.view());
  ASSERT_TRUE(factor.downdate(v.view()));
  const double later = factor.log_det_error();
  EXPECT_TRUE(std::abs(factor.log_det() - expected) <= bound + later) << later;
  EXPECT_TRUE(later > 1e3 * bound) << later << ' ' << bound;
}

}  // namespace
}  // namespace stepwell::solvers::test
