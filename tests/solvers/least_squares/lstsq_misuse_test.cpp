// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "solvers/least_squares/lstsq_fixture.hpp"

/// Misuse of least squares is refused with an error that names the entry point and the argument;
/// unusual but valid arguments work.
namespace stepwell::solvers::test {
namespace {

class LeastSquaresMisuse : public ::testing::Test {
 protected:
  /// Expects an error that begins with 'entry' and contains 'word'.
  template <class F>
  void refused(const std::string& entry, const std::string& word, F&& call) {
    const std::string text = message_of(ErrorCode::invalid_argument, call);
    EXPECT_EQ(text.rfind(entry + ": ", 0), 0u) << text;
    EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in: " << text;
  }
  void refused(const std::string& word, const TallMatrix& a, MatrixView<const double> b,
               MatrixView<double> x, const LeastSquaresOptions& options = {}) {
    refused("lstsq", word, [&] { (void)lstsq(a, b, x, options); });
  }
  void refused(const std::string& word, const LeastSquaresOptions& options) {
    refused(word, a_.view(), b_.view(), x_.view(), options);
    refused("plan_lstsq", word, [&] { (void)plan_lstsq(m_, n_, 2, options); });
  }

  std::int64_t m_ = 30, n_ = 10;
  Dense<double> a_ = tall_matrix(m_, n_, 10);
  Dense<double> b_ = right_hand_sides(a_, 2, 0.1);
  Dense<double> x_{n_, 2};
};

TEST_F(LeastSquaresMisuse, OfShapesIsRefused) {
  const MatrixView<const double> a = a_.view(), b = b_.view();
  const MatrixView<double> x = x_.view();
  refused("A", a.block(0, 0, n_ - 1, n_), b.block(0, 0, n_ - 1, 2), x);
  refused("B", a, b.block(0, 0, m_ - 1, 2), x);
  refused("X", a, b, x.block(0, 0, n_, 1));
  refused("X", a, b, x.block(0, 0, n_ - 1, 2));
  refused("X", a, b, view(x.data, 2, n_));
}

TEST_F(LeastSquaresMisuse, OfViewsIsRefused) {
  const MatrixView<const double> a = a_.view(), b = b_.view();
  const MatrixView<double> x = x_.view();
  refused("A", MatrixView<const double>{a.data, m_, n_, m_ - 1}, b, x);
  refused("A", by_rows(a.data, m_, n_, n_ - 1), b, x);
  refused("A", MatrixView<const double>{a.data, -1, n_, m_}, b, x);
  refused("A", MatrixView<const double>{a.data, m_, -1, m_}, b, x);
  refused("B", a, {b.data, m_, 2, m_ - 1}, x);
  refused("B", a, {nullptr, m_, 2, m_}, x);
  refused("B", a, {b.data, m_, -2, m_}, x);
  refused("X", a, b, {x.data, n_, 2, n_ - 1});
  refused("X", a, b, {nullptr, n_, 2, n_});
  TallMatrix neither = a;
  neither.data = nullptr;
  refused("A", neither, b, x);
  TallMatrix strided = a;
  strided.row_stride = 2;
  strided.col_stride = 2 * m_;
  refused("A", strided, b, x);
  strided = a;
  strided.row_stride = -1;
  refused("A", strided, b, x);
}

TEST_F(LeastSquaresMisuse, OfOverlapIsRefused) {
  std::vector<double> memory(static_cast<std::size_t>(m_ * n_ + m_ * 2 + n_ * 2));
  std::copy(a_.data.begin(), a_.data.end(), memory.begin());
  std::copy(b_.data.begin(), b_.data.end(), memory.begin() + m_ * n_);
  const std::vector<double> before(memory);
  double* const data = memory.data();
  const auto a = view<const double>(data, m_, n_);
  const auto b = view<const double>(data + m_ * n_, m_, 2);
  refused("X overlaps A", a, b, view(data, n_, 2));
  refused("X overlaps A", a, b, view(data + m_ * n_ - 1, n_, 2));
  refused("X overlaps A", by_rows(data, m_, n_), b_.view(), view(data + m_ * n_ - 1, n_, 2));
  refused("X overlaps B", a, b, view(data + m_ * n_, n_, 2));
  refused("X overlaps B", a, b, view(data + m_ * n_ + 2 * m_ - 1, n_, 2));
  EXPECT_EQ(memory, before);
  EXPECT_TRUE(lstsq(a, b, view(data + m_ * n_ + 2 * m_, n_, 2)).ok())
      << "adjacent memory is no overlap";
}

TEST_F(LeastSquaresMisuse, OfOptionsIsRefused) {
  for (const double tolerance : {-1e-16, 1.0, HUGE_VAL, kNaN<double>}) {
    LeastSquaresOptions options;
    options.tolerance = tolerance;
    refused("tolerance", options);
  }
  LeastSquaresOptions iterations;
  iterations.refine.iterations = -1;
  refused("iterations", iterations);
  LeastSquaresOptions both = at_rung(Rung::bf16);
  both.qr = true;
  refused("qr", both);
  for (const Rung rung : {Rung::int8x14, Rung::int8x15}) {
    LeastSquaresOptions options;
    options.map = uniform(rung);
    refused(std::string(to_string(rung)), options);
  }
  for (const double lambda : {-1e-300, -1.0, HUGE_VAL, kNaN<double>}) {
    LeastSquaresOptions options;
    options.lambda = lambda;
    refused("lambda", options);
    refused("ridge", "lambda",
            [&] { (void)ridge(a_.view(), b_.view(), x_.view(), lambda, LeastSquaresOptions{}); });
  }
}

TEST_F(LeastSquaresMisuse, OfWeightsIsRefused) {
  LeastSquaresOptions options;
  options.lambda = 1;
  options.weights.assign(static_cast<std::size_t>(n_ - 1), 1.0);
  refused("weights", options);
  for (const double bad : {-1.0, HUGE_VAL, kNaN<double>}) {
    options.weights.assign(static_cast<std::size_t>(n_), 1.0);
    options.weights[3] = bad;
    refused("weight 3", options);
    refused("ridge", "weight 3", [&] { (void)ridge(a_.view(), b_.view(), x_.view(), 1, options); });
  }
}

TEST_F(LeastSquaresMisuse, WithFewRowsNeedsAllColumnsPenalised) {
  const Dense<double> a = tall_matrix(5, n_, 10), b = gaussian_columns(5, 2);
  refused("A", a.view(), b.view(), x_.view());
  LeastSquaresOptions options;
  options.lambda = 1;
  options.weights.assign(static_cast<std::size_t>(n_), 1.0);
  options.weights[0] = 0;
  refused("A", a.view(), b.view(), x_.view(), options);
  options.weights[0] = 1;
  EXPECT_TRUE(lstsq(a.view(), b.view(), x_.view(), options).ok());
  EXPECT_TRUE(ridge(a.view(), b.view(), x_.view(), 0.5).ok());
}

TEST_F(LeastSquaresMisuse, OfSizesIsRefused) {
  refused("plan_lstsq", "", [] { (void)plan_lstsq(-1, 1, 1); });
  refused("plan_lstsq", "", [] { (void)plan_lstsq(10, -1, 1); });
  refused("plan_lstsq", "", [] { (void)plan_lstsq(10, 1, -1); });
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  const auto too_large = [](const auto& call) { return message_of(ErrorCode::too_large, call); };
  EXPECT_NE(too_large([] { (void)plan_lstsq(huge, std::int64_t{1} << 40, 1); }), "");
  EXPECT_NE(too_large([] { (void)plan_lstsq(huge, 10, huge); }), "");
}

TEST(LeastSquaresCorners, NothingToSolveIsSolved) {
  for (const bool qr : {false, true}) {
    LeastSquaresOptions options;
    options.qr = qr;
    const Dense<double> b = gaussian_columns(5, 2), a = tall_matrix(5, 3, 2);
    double nothing = 0;
    Certificate c =
        lstsq(view<const double>(&nothing, 5, 0), b.view(), view(&nothing, 0, 2), options);
    EXPECT_TRUE(c.ok()) << c.reason;
    EXPECT_EQ(c.columns.size(), 2u);
    c = lstsq(a.view(), b.view().block(0, 0, 5, 0), view(&nothing, 3, 0), options);
    EXPECT_TRUE(c.ok()) << c.reason;
    EXPECT_TRUE(c.columns.empty());
    c = lstsq(view<const double>(&nothing, 0, 0), view<const double>(&nothing, 0, 1),
              view(&nothing, 0, 1), options);
    EXPECT_TRUE(c.ok()) << c.reason;
  }
}

TEST(LeastSquaresCorners, OneUnknownIsAQuotient) {
  Random random(4);
  for (int k = 0; k < 300; ++k) {
    const std::int64_t m = 1 + k % 5;
    const Dense<double> a = kernels::test::gaussian(m, 1, random);
    const Dense<double> b = kernels::test::gaussian(m, 1, random);
    LeastSquaresOptions options;
    options.tolerance = 2 * kU64;  // x itself is rounded by one u, and the error is a bound
    if (k % 3 == 1) options.map = uniform(Rung::bf16);
    options.qr = k % 3 == 2;
    const Solved s = lstsq_of(a, b, options);
    ASSERT_TRUE(s.certificate.ok()) << path_of(s.certificate);
    double top = 0, bottom = 0, size = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      top += a(i, 0) * b(i, 0);
      size += std::abs(a(i, 0) * b(i, 0));
      bottom += a(i, 0) * a(i, 0);
    }
    ASSERT_NEAR(s.x(0, 0), top / bottom, 16 * kU64 * size / bottom);
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
