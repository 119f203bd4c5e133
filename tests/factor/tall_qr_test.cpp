// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/tall/qr.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "factor/fixture.hpp"
#include "solvers/least_squares/exact_least_squares.hpp"

/// FP64 QR of tall matrices by blocks of rows: R and Q'B are those of A, with the same bits for any
/// number of threads and any storage of A, and dependent columns are found.
namespace stepwell::factor::test {
namespace {

using stepwell::test::abs_of;
using stepwell::test::ExactLeastSquares;
using stepwell::test::Quad;

struct Shape {
  std::int64_t m, n;
};

Dense<double> gaussian(std::int64_t m, std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  return kernels::test::gaussian(m, n, random);
}

std::vector<double> scale_of(const Dense<double>& a) {
  std::vector<double> col(static_cast<std::size_t>(a.cols), 1.0);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    double norm = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) norm = std::hypot(norm, a(i, j));
    if (norm > 0) col[j] = std::ldexp(1, -std::ilogb(norm));
  }
  return col;
}

TallQr run(const TallMatrix& a, const std::vector<double>& col, const std::vector<double>& tail,
           const Dense<double>& b, int threads = 2, Progress* progress = nullptr) {
  engine::ThreadPool pool(threads);
  core::RowReader reader(a);
  return tall_qr(pool, reader, col, tail, b.view(), progress);
}

TallQr run(const Dense<double>& a, const Dense<double>& b, const std::vector<double>& tail = {}) {
  return run(a.view(), scale_of(a), tail, b);
}

/// x for the independent columns, zero for the others.
Dense<double> solution(const TallQr& qr, const std::vector<double>& col, std::int64_t columns) {
  const auto n = static_cast<std::int64_t>(col.size());
  Dense<double> x(n, columns);
  for (std::int64_t c = 0; c < columns; ++c) {
    std::vector<double> y(qr.qb.data() + c * n, qr.qb.data() + c * n + qr.rank);
    for (std::int64_t k = qr.rank - 1; k >= 0; --k) {
      y[k] /= qr.r[k + k * n];
      for (std::int64_t i = 0; i < k; ++i) y[i] -= qr.r[i + k * n] * y[k];
      x(qr.order[k], c) = y[k] * col[qr.order[k]];
    }
  }
  return x;
}

/// R'R = P'D(A'A + T^2)DP: each column of Q R is one of A with an error of a small multiple of
/// sqrt(n) u (for Householder at worst n u), so each element of R'R has an error of twice that
/// times the norms of the two columns.
void expect_same_gram(const TallQr& qr, const Dense<double>& a, const std::vector<double>& col,
                      const std::vector<double>& tail) {
  const std::int64_t n = a.cols;
  std::vector<double> norm(n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i <= j; ++i) norm[j] = std::hypot(norm[j], qr.r[i + j * n]);
    for (std::int64_t i = j + 1; i < n; ++i) ASSERT_EQ(qr.r[i + j * n], 0) << "not a triangle";
  }
  const double bound = 8 * std::sqrt(static_cast<double>(n + 4)) * kU64;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j % 7; i <= j; i += 1 + i / 4) {  // a sample
      const std::int64_t p = qr.order[i], q = qr.order[j];
      Quad sum = i == j && !tail.empty() ? Quad(tail[p]) * tail[p] : Quad(0);
      for (std::int64_t k = 0; k < a.rows; ++k) {
        sum += Quad(a(k, p)) * col[p] * (Quad(a(k, q)) * col[q]);
      }
      for (std::int64_t k = 0; k <= i; ++k) sum -= Quad(qr.r[k + i * n]) * qr.r[k + j * n];
      ASSERT_TRUE(abs_of(sum) <= bound * norm[i] * norm[j])
          << "(" << i << ", " << j << ") off by " << static_cast<double>(sum) / kU64 << " u";
    }
  }
}

/// |a_j'(b - A x)| is at most a few n u (||b|| + sum ||a_k|| |x_k|) ||a_j||: up to that, the
/// residual of a backward stable solution is orthogonal to A's columns.
void expect_orthogonal_residual(const Dense<double>& a, const double* b, const double* x) {
  std::vector<double> norm(a.cols);
  std::vector<Quad> r(b, b + a.rows);
  double size = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) size = std::hypot(size, b[i]);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      norm[j] = std::hypot(norm[j], a(i, j));
      r[i] -= Quad(a(i, j)) * x[j];
    }
    size += norm[j] * std::abs(x[j]);
  }
  for (std::int64_t j = 0; j < a.cols; ++j) {
    Quad sum = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) sum += a(i, j) * r[i];
    EXPECT_TRUE(abs_of(sum) <= 4 * static_cast<double>(a.cols) * kU64 * size * norm[j]) << j;
  }
}

TEST(TallQr, HasTheGramMatrixOfA) {
  for (const Shape s : {Shape{1, 1},
                        {7, 1},
                        {40000, 1},
                        {2, 2},
                        {9, 8},
                        {65, 65},
                        {200, 129},
                        {512, 64},
                        {513, 64},
                        {3000, 70},
                        {5000, 30},
                        {9000, 8},
                        {1600, 600}}) {
    SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n));
    const Dense<double> a = gaussian(s.m, s.n, 1);
    const std::vector<double> col = scale_of(a);
    const TallQr qr = run(a, Dense<double>(s.m, 0));
    ASSERT_TRUE(qr.finite);
    EXPECT_EQ(qr.rank, s.n);
    EXPECT_TRUE(qr.dependent.empty());
    expect_same_gram(qr, a, col, {});
  }
}

TEST(TallQr, SolvesLeastSquaresWithManyColumns) {
  for (const Shape s : {Shape{1, 1}, {60, 1}, {12, 12}, {90, 20}, {700, 5}, {1300, 16}}) {
    for (const std::int64_t columns : {1, 3, 40}) {
      SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n));
      const Dense<double> a = gaussian(s.m, s.n, 2), b = gaussian(s.m, columns, 3);
      const Dense<double> x = solution(run(a, b), scale_of(a), columns);
      const ExactLeastSquares exact(a.view());
      const Dense<double> expected = exact.solve(b.view());
      const double condition = exact.condition();
      for (std::int64_t c = 0; c < columns; ++c) {
        const double r = exact.residual_norm(&b(0, c), &expected(0, c));
        const double size = exact.size(&expected(0, c));
        const double sensitivity = condition * (1 + condition * r / (exact.norm() * size));
        EXPECT_LE(exact.difference(&x(0, c), &expected(0, c)),
                  4 * std::sqrt(static_cast<double>(s.n + 4)) * kU64 * sensitivity);
      }
    }
  }
}

TEST(TallQr, HasTheSameBitsForAnyThreadsAndAnyStorage) {
  for (const Shape s : {Shape{2500, 40}, {20000, 12}, {1100, 300}, {33, 33}}) {
    SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n));
    const Dense<double> a = gaussian(s.m, s.n, 4), b = gaussian(s.m, 3, 5);
    const Dense<double> rows = kernels::test::transposed(a);
    const std::vector<double> col = scale_of(a), tail(static_cast<std::size_t>(s.n), 0.125);
    const TallMatrix by_columns = a.view(), stored = by_rows(rows.data.data(), s.m, s.n);
    const TallMatrix given = from_function(s.m, s.n, [&](auto first, auto count, double* out) {
      std::copy_n(rows.data.data() + first * s.n, count * s.n, out);
    });
    const TallQr one = run(by_columns, col, tail, b, 1);
    for (const TallMatrix* const source : {&by_columns, &stored, &given}) {
      for (const int threads : {1, 2, 3, 4}) {
        const TallQr other = run(*source, col, tail, b, threads);
        ASSERT_TRUE(std::equal(one.r.begin(), one.r.end(), other.r.begin(), other.r.end()));
        ASSERT_TRUE(std::equal(one.qb.begin(), one.qb.end(), other.qb.begin(), other.qb.end()));
        ASSERT_EQ(one.order, other.order);
      }
    }
  }
}

TEST(TallQr, FindsTheColumnsThatDependOnOthers) {
  for (const Shape s : {Shape{6, 5}, {40, 12}, {3000, 60}, {12, 12}}) {
    for (int kind = 0; kind < 4; ++kind) {
      SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n) + ", " + std::to_string(kind));
      Dense<double> a = gaussian(s.m, s.n, 6);
      const std::int64_t last = s.n - 1;
      // The columns of which one may be reported as dependent.
      std::vector<std::int64_t> group =
          kind == 0 ? std::vector<std::int64_t>{2} : std::vector<std::int64_t>{0, last};
      if (kind == 3) group = {0, 1, 3, last};
      for (std::int64_t i = 0; i < s.m; ++i) {
        if (kind == 0) a(i, 2) = 0;
        if (kind == 1) a(i, last) = a(i, 0);
        if (kind == 2) a(i, last) = 3 * a(i, 0);
        if (kind == 3) a(i, last) = a(i, 0) - 2 * a(i, 1) + 0.5 * a(i, 3);
      }
      const Dense<double> b = gaussian(s.m, 2, 7);
      const TallQr qr = run(a, b);
      ASSERT_TRUE(qr.finite);
      ASSERT_EQ(qr.rank, s.n - 1);
      ASSERT_EQ(qr.dependent.size(), 1u);
      EXPECT_NE(std::find(group.begin(), group.end(), qr.dependent[0]), group.end());
      EXPECT_EQ(qr.dependent[0], qr.order.back());
      expect_same_gram(qr, a, scale_of(a), {});
      // The other columns solve the problem: its residual is orthogonal to all columns.
      const Dense<double> x = solution(qr, scale_of(a), 2);
      EXPECT_EQ(x(qr.dependent[0], 1), 0);
      for (std::int64_t c = 0; c < 2; ++c) expect_orthogonal_residual(a, &b(0, c), &x(0, c));
    }
  }
}

TEST(TallQr, CountsTheRankOfProductsAndOfNothing) {
  for (const std::int64_t rank : {0, 1, 5, 20}) {
    const std::int64_t m = 900, n = 33;
    const Dense<double> u = gaussian(m, rank, 8), v = gaussian(n, rank, 9);
    Dense<double> a(m, n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t k = 0; k < rank; ++k) {
        for (std::int64_t i = 0; i < m; ++i) a(i, j) += u(i, k) * v(j, k);
      }
    }
    const TallQr qr = run(a, gaussian(m, 1, 1));
    EXPECT_EQ(qr.rank, rank);
    EXPECT_EQ(static_cast<std::int64_t>(qr.dependent.size()), n - rank);
    EXPECT_TRUE(std::is_sorted(qr.dependent.begin(), qr.dependent.end()));
  }
}

/// A column with an independent part of norm 'size' counts for the rank if 'size' is above the
/// threshold.
TEST(TallQr, DrawsTheLineAtTheThreshold) {
  for (const Shape s : {Shape{20, 4}, {2000, 50}}) {
    const double threshold = 2 * kU64 * static_cast<double>(s.m);
    for (const double size : {1e-3 * threshold, 0.1 * threshold, 20 * threshold, 1e4 * threshold}) {
      Dense<double> a = gaussian(s.m, s.n, 10);
      const Dense<double> e = gaussian(s.m, 1, 11);
      for (std::int64_t i = 0; i < s.m; ++i) a(i, 2) = a(i, 1) + size * e(i, 0);
      EXPECT_EQ(run(a, e).rank, size < threshold ? s.n - 1 : s.n) << size / threshold;
    }
  }
}

TEST(TallQr, AddsTheRidge) {
  for (const Shape s : {Shape{3, 10}, {0, 4}, {10, 10}, {200, 24}, {4000, 9}}) {
    SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n));
    const Dense<double> a = gaussian(s.m, s.n, 12), b = gaussian(s.m, 2, 13);
    const std::vector<double> col(static_cast<std::size_t>(s.n), 0.5);
    std::vector<double> tail, unscaled;
    for (std::int64_t j = 0; j < s.n; ++j) {
      unscaled.push_back(0.25 + static_cast<double>(j));
      tail.push_back(0.5 * unscaled.back());
    }
    const TallQr qr = run(a.view(), col, tail, b);
    ASSERT_EQ(qr.rank, s.n);
    expect_same_gram(qr, a, col, tail);
    const ExactLeastSquares exact(a.view(), unscaled);
    const Dense<double> x = solution(qr, col, 2), expected = exact.solve(b.view());
    const double condition = exact.condition();
    for (std::int64_t c = 0; c < 2; ++c) {
      EXPECT_LE(exact.difference(&x(0, c), &expected(0, c)),
                20 * static_cast<double>(s.n) * kU64 * condition * condition);
    }
  }
}

TEST(TallQr, IsTheSameForAnyScaleOfTheColumns) {
  const Dense<double> a = gaussian(700, 11, 14), b = gaussian(700, 1, 15);
  Dense<double> scaled = a;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      scaled(i, j) = std::ldexp(a(i, j), j % 2 == 0 ? 498 : -498);  // 10^+-150
    }
  }
  const TallQr plain = run(a, b), other = run(scaled, b);
  EXPECT_TRUE(std::equal(plain.r.begin(), plain.r.end(), other.r.begin(), other.r.end()));
  EXPECT_TRUE(std::equal(plain.qb.begin(), plain.qb.end(), other.qb.begin(), other.qb.end()));
  EXPECT_EQ(other.rank, a.cols);
}

TEST(TallQr, StopsWhenItIsToldToAndThrowsWhatTheFunctionThrows) {
  const std::int64_t m = 30000, n = 20;
  const std::vector<double> col(static_cast<std::size_t>(n), 1.0);
  const Dense<double> b(m, 1);
  for (const int threads : {1, 2, 4}) {
    Progress progress;
    std::int64_t calls = 0;
    const TallMatrix a = from_function(m, n, [&](auto, auto count, double* out) {
      std::fill_n(out, count * n, 1.0);
      if (++calls == 60) progress.cancel = true;
    });
    EXPECT_TRUE(run(a, col, {}, b, threads, &progress).cancelled);
    EXPECT_LT(calls, m / 64);
    EXPECT_EQ(progress.phase, Phase::factor);
    EXPECT_LT(progress.done, progress.total);

    const TallMatrix bad = from_function(m, n, [&](auto first, auto count, double* out) {
      std::fill_n(out, count * n, 1.0);
      if (first > 5000) throw std::runtime_error("the disk is gone");
    });
    EXPECT_THROW(run(bad, col, {}, b, threads), std::runtime_error);
  }
  Progress progress;
  const Dense<double> a = gaussian(m, n, 16);
  EXPECT_FALSE(run(a.view(), col, {}, b, 2, &progress).cancelled);
  EXPECT_EQ(progress.done, progress.total);
  EXPECT_GT(progress.total, 10);
}

TEST(TallQr, SaysWhenElementsAreNotFinite) {
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    Dense<double> a = gaussian(600, 9, 17), b = gaussian(600, 2, 18);
    const std::vector<double> col = scale_of(a);
    a(577, 3) = bad;
    EXPECT_FALSE(run(a.view(), col, {}, b).finite);
    a(577, 3) = 1;
    b(0, 1) = bad;
    EXPECT_FALSE(run(a.view(), col, {}, b).finite);
  }
}

TEST(TallQr, TakesMemoryThatDoesNotGrowWithTheRows) {
  const std::int64_t n = 500;
  const std::int64_t large = tall_qr_bytes(3'000'000, n, 1);
  EXPECT_EQ(tall_qr_bytes(3'000'000'000, n, 1), large);
  EXPECT_LT(large, 200'000'000);
  EXPECT_GE(tall_qr_bytes(1000, n, 1), 3 * n * n * 8);
}

}  // namespace
}  // namespace stepwell::factor::test
