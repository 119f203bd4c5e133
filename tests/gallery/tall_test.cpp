// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/tall.hpp"

#include <algorithm>
#include <cmath>

#include "gallery/fixture.hpp"
#include "stepwell/error.hpp"

extern "C" void dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a,
                        const int* lda, double* s, double* u, const int* ldu, double* vt,
                        const int* ldvt, double* work, const int* lwork, int* info, std::size_t,
                        std::size_t);

/// Tall matrices have the requested singular values, and the problems have the stated solution.
namespace stepwell::gallery::test {
namespace {

/// In decreasing order; 'a' is m x n, m >= n, column-major without padding.
std::vector<double> tall_singular_values(std::vector<double> a, int m, int n) {
  std::vector<double> s(static_cast<std::size_t>(n)),
      work(static_cast<std::size_t>(6 * m + 64 * n));
  const int length = static_cast<int>(work.size()), one = 1;
  int info = 0;
  dgesvd_("N", "N", &m, &n, a.data(), &m, s.data(), nullptr, &one, nullptr, &one, work.data(),
          &length, &info, 1, 1);
  EXPECT_EQ(info, 0);
  return s;
}

struct Tall {
  Tall(std::int64_t m, std::int64_t n, const TallRecipe& recipe, int threads = 1)
      : rows(m), cols(n), data(static_cast<std::size_t>(m * n)) {
    engine::ThreadPool pool(threads);
    fill_tall(view(), recipe, pool);
  }
  MatrixView<double> view() { return stepwell::view(data.data(), rows, cols); }

  std::int64_t rows, cols;
  std::vector<double> data;
};

constexpr std::pair<int, int> kShapes[] = {{1, 1},   {2, 1},     {9, 1},   {3, 2},
                                           {8, 8},   {17, 16},   {100, 7}, {200, 33},
                                           {256, 9}, {130, 129}, {999, 5}, {640, 100}};

TEST(Tall, HasTheSingularValuesThatWereAskedFor) {
  for (const auto& [m, n] : kShapes) {
    for (const double condition : {1.0, 10.0, 1e6, 1e12}) {
      for (const bool one_small : {false, true}) {
        Tall a(m, n, {condition, one_small, 5});
        const std::vector<double> s = tall_singular_values(a.data, m, n);
        // The norm is 1; LAPACK's own error is also within m u.
        const double bound = (8.0 * m + 32) * kU64;
        EXPECT_LT(std::abs(s.front() - 1), bound) << m << " " << n;
        if (n == 1) continue;
        EXPECT_LT(std::abs(s.back() - 1 / condition), bound) << m << " " << n;
        const double second =
            one_small ? (n == 2 ? 1 / condition : 1) : std::pow(condition, -1.0 / (n - 1));
        EXPECT_LT(std::abs(s[1] - second), bound) << m << " " << n << " " << condition;
      }
    }
  }
}

TEST(Tall, HasTheSameBitsForAnyNumberOfThreads) {
  const Tall one(300, 41, {1e3, false, 2});
  EXPECT_EQ(one.data, Tall(300, 41, {1e3, false, 2}, 3).data);
  EXPECT_NE(one.data, Tall(300, 41, {1e3, false, 3}).data);
  EXPECT_NE(one.data, Tall(300, 41, {1e3, true, 2}).data);
}

TEST(Tall, MixesAllRows) {
  const std::int64_t m = 777, n = 50;
  Tall a(m, n, {1, false, 4});
  // With equal singular values the mean square of all elements is 1 / m.
  const double largest = *std::max_element(
      a.data.begin(), a.data.end(), [](double x, double y) { return std::abs(x) < std::abs(y); });
  EXPECT_LT(std::abs(largest), 7 / std::sqrt(static_cast<double>(m)));
  for (std::int64_t i = 0; i < m; ++i) {
    double squares = 0;
    for (std::int64_t j = 0; j < n; ++j) squares += a.view()(i, j) * a.view()(i, j);
    EXPECT_GT(squares, 0.2 * static_cast<double>(n) / static_cast<double>(m)) << i;
    EXPECT_LT(squares, 4 * static_cast<double>(n) / static_cast<double>(m)) << i;
  }
}

TEST(Tall, ProblemHasTheKnownAnswer) {
  for (const auto& [m, n] : kShapes) {
    for (const double residual : {0.0, 1.0, 100.0}) {
      const TallRecipe recipe{1e2, false, 8};
      Tall a(m, n, recipe);
      std::vector<double> x(static_cast<std::size_t>(2 * n)), b(static_cast<std::size_t>(2 * m));
      engine::ThreadPool pool(2);
      fill_problem(a.view(), recipe, residual, view(x.data(), n, 2), view(b.data(), m, 2), pool);
      for (std::int64_t c = 0; c < 2; ++c) {
        double squares = 0, fitted = 0;
        std::vector<double> r(static_cast<std::size_t>(m));
        for (std::int64_t i = 0; i < m; ++i) {
          double sum = 0;
          for (std::int64_t j = 0; j < n; ++j)
            sum += a.view()(i, j) * x[static_cast<std::size_t>(c * n + j)];
          const double left = b[static_cast<std::size_t>(c * m + i)] - sum;
          r[static_cast<std::size_t>(i)] = left;
          squares += left * left;
          fitted += sum * sum;
        }
        const double expected = m == n ? 0 : residual * std::sqrt(fitted);
        const double size = std::sqrt(fitted) * (1 + residual);
        EXPECT_LT(std::abs(std::sqrt(squares) - expected), 100 * n * kU64 * size) << m << " " << n;
        for (std::int64_t j = 0; j < n; ++j) {  // A'r = 0
          double sum = 0;
          for (std::int64_t i = 0; i < m; ++i)
            sum += a.view()(i, j) * r[static_cast<std::size_t>(i)];
          EXPECT_LT(std::abs(sum), 100 * n * kU64 * size) << m << " " << n << " " << j;
        }
      }
    }
  }
}

TEST(TallRows, AreTheSameForAnyCut) {
  for (const std::int64_t n : {1, 2, 7, 64, 100}) {
    const TallRows rows(n, {1e2, false, 6});
    std::vector<double> whole(static_cast<std::size_t>(50 * n)), part(whole.size());
    rows.fill(1000, 50, whole.data());
    for (const std::int64_t step : {1, 3, 8, 13}) {
      for (std::int64_t i = 0; i < 50; i += step) {
        rows.fill(1000 + i, std::min(step, 50 - i), part.data() + i * n);
      }
      EXPECT_EQ(part, whole) << n << " " << step;
    }
    TallRows(n, {1e2, false, 7}).fill(1000, 50, part.data());
    EXPECT_NE(part, whole);
  }
}

TEST(TallRows, OfManyHaveTheConditionNumber) {
  const int m = 8000, n = 20;
  for (const double condition : {1.0, 10.0, 1e5, 1e9}) {
    for (const bool one_small : {false, true}) {
      const TallRows rows(n, {condition, one_small, 9});
      std::vector<double> by_rows(static_cast<std::size_t>(m) * n), a(by_rows.size());
      rows.fill(0, m, by_rows.data());
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) a[i + j * m] = by_rows[i * n + j];
      }
      const std::vector<double> s = tall_singular_values(a, m, n);
      // A factor 1 +- sqrt(n / m) for each of the two singular values, and a margin for chance.
      const double spread = 1.3 * (1 + std::sqrt(20.0 / 8000)) / (1 - std::sqrt(20.0 / 8000));
      EXPECT_LT(s.front() / s.back(), spread * condition);
      EXPECT_GT(s.front() / s.back(), condition / spread);
      EXPECT_LT(std::abs(s.front() / std::sqrt(static_cast<double>(m)) - 1), 0.2);
    }
  }
}

TEST(Tall, RefusesWhatMakesNoSense) {
  std::vector<double> data(100);
  engine::ThreadPool pool(1);
  const auto code_of = [&](MatrixView<double> a, const TallRecipe& recipe) {
    try {
      fill_tall(a, recipe, pool);
    } catch (const Error& e) {
      return e.code();
    }
    return ErrorCode::internal;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(code_of(view(data.data(), 3, 4), {}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({data.data(), 5, 2, 4}, {}), ErrorCode::invalid_argument);
  for (const double condition : {0.5, -1.0, infinity, std::nan("")}) {
    EXPECT_EQ(code_of(view(data.data(), 4, 3), {condition, false, 1}), ErrorCode::invalid_argument);
  }
  EXPECT_THROW(TallRows(0, {}), Error);
  EXPECT_THROW(TallRows(3, {0.5, false, 1}), Error);
  EXPECT_EQ(data, std::vector<double>(100));
}

}  // namespace
}  // namespace stepwell::gallery::test
