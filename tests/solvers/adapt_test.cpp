// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "solvers/fixture.hpp"
#include "stepwell/adapt/row_major.hpp"
#include "stepwell/adapt/span.hpp"
#include "stepwell/lstsq.hpp"

#if __has_include(<Eigen/Core>)
#include "stepwell/adapt/eigen.hpp"
#endif

/// Adaptors: the same elements at the same addresses, and the certificate in the caller's terms.
namespace stepwell::solvers::test {
namespace {

TEST(AdaptTest, RangesAreViewedInPlace) {
  std::vector<double> v = {1, 2, 3, 4, 5, 6};
  const std::vector<double>& read = v;
  const MatrixView<double> column = view(v);
  EXPECT_EQ(column.data, v.data());
  EXPECT_EQ(column.rows, 6);
  EXPECT_EQ(column.cols, 1);
  static_assert(std::is_same_v<decltype(view(read)), MatrixView<const double>>);
  const MatrixView<const double> matrix = view(std::span(read), 3, 2);
  EXPECT_EQ(matrix(0, 1), 4);
  std::array<double, 4> fixed = {1, 2, 3, 4};
  EXPECT_EQ(view(fixed, 2, 2)(1, 0), 2);
  EXPECT_EQ(view(std::vector<double>{}.empty() ? v : v).rows, 6);
  for (const auto& [rows, cols] : {std::pair{4, 2}, {-3, -2}, {0, 6}, {7, 1}}) {
    EXPECT_THROW((void)view(v, rows, cols), Error) << rows << " x " << cols;
  }
}

/// A general matrix by rows, with padding.
struct ByRows {
  explicit ByRows(std::int64_t order)
      : n(order), memory(static_cast<std::size_t>(n * (n + 3)), 0.0) {
    Random random(7);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) view()(i, j) = random.gaussian() + (i == j ? 4 * n : 0);
    }
  }
  RowMajorView<double> view() { return row_major(memory.data(), n, n, n + 3); }
  std::int64_t n;
  std::vector<double> memory;
};

double largest_residual(RowMajorView<const double> a, RowMajorView<const double> b,
                        RowMajorView<const double> x) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = 0; k < b.cols; ++k) {
      double sum = b(i, k);
      for (std::int64_t j = 0; j < a.cols; ++j) sum -= a(i, j) * x(j, k);
      largest = std::fmax(largest, std::fabs(sum));
    }
  }
  return largest;
}

TEST(AdaptTest, RowMajorSystemsAreSolvedAsTheyAre) {
  for (const std::int64_t n : {1, 40, 600}) {
    SCOPED_TRACE(n);
    ByRows a(n);
    std::vector<double> b(static_cast<std::size_t>(2 * n), 1.0), x(b.size());
    const auto right = row_major<const double>(b.data(), n, 2);
    const Certificate c = solve(a.view(), right, row_major(x.data(), n, 2));
    ASSERT_TRUE(c.ok()) << c.reason;
    const double size = 8 * static_cast<double>(n);
    EXPECT_LT(largest_residual(a.view(), right, row_major<const double>(x.data(), n, 2)),
              size * std::sqrt(static_cast<double>(n)) * 8 * kU64);
  }
}

TEST(AdaptTest, ACertificateNamesTheRowAndColumnOfTheCaller) {
  ByRows a(20);
  a.view()(3, 17) = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> b(20, 1.0);
  std::vector<double> x(20, 5.0);
  const Certificate c = solve(a.view(), view(b), view(x), {}, Structure::general);
  EXPECT_EQ(c.outcome, SolveOutcome::non_finite);
  EXPECT_EQ(c.row, 3);
  EXPECT_EQ(c.col, 17);
  EXPECT_NE(c.reason.find("(3, 17)"), std::string::npos) << c.reason;
  EXPECT_EQ(x[0], 5.0) << "nothing was solved";
}

TEST(AdaptTest, ASingularRowMajorMatrixIsExplainedByItsRows) {
  ByRows a(20);
  for (std::int64_t j = 0; j < 20; ++j) a.view()(11, j) = 0;
  const std::vector<double> b(20, 1.0);
  std::vector<double> x(20);
  const Certificate c = solve(a.view(), view(b), view(x), {}, Structure::general);
  EXPECT_EQ(c.outcome, SolveOutcome::singular);
  EXPECT_EQ(c.pivot, 11);
  EXPECT_NE(c.reason.find("row 11"), std::string::npos) << c.reason;
}

TEST(AdaptTest, RowMajorTrianglesAreTheCallers) {
  const std::int64_t n = 60;
  ByRows a(n);  // symmetric positive definite in one triangle, NaN in the other
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const bool read = triangle == Triangle::lower ? i >= j : i <= j;
        const double value = i == j ? 2 : std::abs(i - j) == 1 ? -1 : 0;
        a.view()(i, j) = read ? value : std::numeric_limits<double>::quiet_NaN();
      }
    }
    const std::vector<double> b(static_cast<std::size_t>(n), 1.0);
    std::vector<double> x(b.size());
    SolveOptions options;
    options.triangle = triangle;
    const Certificate c = solve(a.view(), view(b), view(x), options, Structure::spd);
    ASSERT_TRUE(c.ok()) << c.reason;
    // -u'' = 1 with u(0) = u(n + 1) = 0.
    const auto exact = static_cast<double>(30 * 31) / 2;
    EXPECT_NEAR(x[29], exact, 1e-9);
  }
}

TEST(AdaptTest, LeastSquaresReadRowMajorMatrices) {
  const std::vector<double> a = {1, 0, 1, 1, 1, 2};  // a line through (0, 1), (1, 3), (2, 5)
  const std::vector<double> b = {1, 3, 5};
  std::vector<double> x(2);
  const Certificate c = lstsq(row_major(a.data(), 3, 2), view(b), view(x));
  ASSERT_TRUE(c.ok()) << c.reason;
  EXPECT_NEAR(x[0], 1, 1e-14);
  EXPECT_NEAR(x[1], 2, 1e-14);
}

#if __has_include(<Eigen/Core>)

template <class T>
concept HasView = requires(T&& t) {
  stepwell::view(std::forward<T>(t));
};

TEST(AdaptTest, EigenIsViewedInPlace) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Random(5, 4);
  const Eigen::MatrixXd& read = m;
  static_assert(std::is_same_v<decltype(view(m)), MatrixView<double>>);
  static_assert(std::is_same_v<decltype(view(read)), MatrixView<const double>>);
  EXPECT_EQ(view(m).data, m.data());
  const MatrixView<double> block = view(m.block(1, 2, 3, 2));
  EXPECT_EQ(&block(2, 1), &m(3, 3));
  EXPECT_EQ(block.ld, 5);
  const MatrixView<double> column = view(m.col(3));
  EXPECT_EQ(&column(4, 0), &m(4, 3));
  Eigen::VectorXd v = Eigen::VectorXd::Ones(7);
  EXPECT_EQ(view(v).rows, 7);
  EXPECT_EQ(view(v.segment(2, 3)).data, v.data() + 2);
  Eigen::Ref<Eigen::MatrixXd> ref = m;
  EXPECT_EQ(view(ref).data, m.data());
  const Eigen::Map<const Eigen::MatrixXd> map(m.data(), 4, 5);
  static_assert(std::is_same_v<decltype(view(map)), MatrixView<const double>>);
  using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMatrix rows = RowMatrix::Random(3, 6);
  static_assert(std::is_same_v<decltype(view(rows)), RowMajorView<double>>);
  EXPECT_EQ(&view(rows)(2, 4), &rows(2, 4));
  EXPECT_THROW((void)view(m.row(1)), Error) << "its elements are not adjacent";
  static_assert(!HasView<decltype(m + m)>);
}

TEST(AdaptTest, EigenUsersGetEigensAnswer) {
  const Eigen::Index n = 300;
  const Eigen::MatrixXd m = Eigen::MatrixXd::Random(n, n);
  const Eigen::MatrixXd a = m * m.transpose() + n * Eigen::MatrixXd::Identity(n, n);
  const Eigen::VectorXd b = Eigen::VectorXd::Random(n);
  Eigen::VectorXd x(n);
  const Certificate c = solve(view(a), view(b), view(x));
  ASSERT_TRUE(c.ok()) << c.reason;
  EXPECT_LT((a * x - b).norm(), 16 * std::sqrt(double(n)) * kU64 * a.norm() * x.norm());
}

#endif

}  // namespace
}  // namespace stepwell::solvers::test
