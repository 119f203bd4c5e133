// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "solvers/fixture.hpp"
#include "solvers/refused.hpp"
#include "stepwell/factor.hpp"

/// What a factor at fp64 is used for: solves without refinement, quadratic forms, samples, and a
/// bound on the error of its determinant.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;

/// The largest ||A x - b|| / (||A||_F ||x||) of the columns, in units of u.
double worst_residual(const Dense<double>& a, const Dense<double>& x, const Dense<double>& b) {
  long double norm = 0;
  for (const double e : a.data) norm += static_cast<long double>(e) * e;
  double worst = 0;
  for (std::int64_t c = 0; c < x.cols; ++c) {
    long double gap = 0, size = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      long double sum = -static_cast<long double>(b(i, c));
      for (std::int64_t k = 0; k < a.rows; ++k) sum += static_cast<long double>(a(i, k)) * x(k, c);
      gap += sum * sum;
      size += static_cast<long double>(x(i, c)) * x(i, c);
    }
    const auto ratio = static_cast<double>(std::sqrt(gap / (norm * size)) / kU64);
    if (!(ratio <= worst)) worst = ratio;  // a NaN stays
  }
  return worst;
}

/// The sizes have one tile, several, and a last one that is not full; the columns are a few and
/// more than are solved together.
TEST(WithoutRefinementTest, SolvesHaveTheResidualsOfLapacks) {
  for (const auto& [n, columns, tile] : {std::tuple{1, 3, 64}, {64, 1, 64}, {150, 1100, 64}}) {
    for (const bool spread : {false, true}) {
      SCOPED_TRACE(testing::Message() << n << " spread " << spread);
      const Dense<double> a = gallery_matrix(Kind::geometric, n, 1e6);
      const Dense<double> b = gaussian_columns(n, columns);
      Dense<double> x = b;
      cholesky(a.view(), factor_at_fp64(tile, spread)).solve_unrefined(x.view());
      const double ratio = worst_residual(a, x, b);
      EXPECT_TRUE(ratio <= static_cast<double>(n + 2)) << ratio;
    }
  }
}

TEST(WithoutRefinementTest, QuadraticFormsAreThoseOfHalfSolves) {
  for (const bool spread : {false, true}) {
    const std::int64_t n = 150, columns = 1100;
    const Dense<double> a = gallery_matrix(Kind::geometric, n, 1e6);
    const Dense<double> b = gaussian_columns(n, columns);
    const Factor factor = cholesky(a.view(), factor_at_fp64(64, spread));
    const Dense<double> kept = b;
    const std::vector<double> forms = factor.quadratic_forms(b.view());
    EXPECT_TRUE(b.data == kept.data);
    ASSERT_EQ(forms.size(), static_cast<std::size_t>(columns));
    Dense<double> z = b;
    factor.half_solve(z.view());
    for (std::int64_t c = 0; c < columns; ++c) {
      long double sum = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += static_cast<long double>(z(i, c)) * z(i, c);
      const double found = forms[static_cast<std::size_t>(c)];
      const auto expected = static_cast<double>(sum);
      EXPECT_TRUE(std::abs(found - expected) <= 2.0 * n * kU64 * expected) << c;
    }
  }
}

/// Rows of P' L have the norms sqrt(a_ii), so each element of a product is a sum of terms whose
/// sizes sum to at most sqrt(a_ii) ||z||.
TEST(WithoutRefinementTest, ProductsUndoHalfSolvesAndMultiplyByL) {
  for (const auto& [n, columns] : {std::pair{1, 2}, {64, 1}, {150, 5}, {150, 97}, {301, 1100}}) {
    for (const bool spread : {false, true}) {
      SCOPED_TRACE(testing::Message() << n << " x " << columns << " spread " << spread);
      const Dense<double> a = gallery_matrix(Kind::geometric, n, 100);
      const Factor factor = cholesky(a.view(), factor_at_fp64(64, spread));
      const Dense<double> z = gaussian_columns(n, columns);
      Dense<double> product = z, l(n, n);
      factor.multiply(product.view());
      factor.copy_to(l.view());
      const std::vector<std::int64_t>& order = factor.permutation();
      for (std::int64_t c = 0; c < columns; ++c) {
        double size = 0;
        for (std::int64_t i = 0; i < n; ++i) size = std::hypot(size, z(i, c));
        for (std::int64_t i = 0; i < n; ++i) {
          const std::int64_t place = order.empty() ? i : order[static_cast<std::size_t>(i)];
          long double sum = 0;
          for (std::int64_t k = 0; k <= i; ++k) sum += static_cast<long double>(l(i, k)) * z(k, c);
          const double gap = std::abs(product(place, c) - static_cast<double>(sum));
          const double bound = static_cast<double>(n + 2) * kU64 * size;
          ASSERT_TRUE(gap <= bound * std::sqrt(a(place, place))) << i << ' ' << c;
        }
      }
      factor.half_solve(product.view());
      for (std::size_t e = 0; e < z.data.size(); ++e) {
        ASSERT_TRUE(std::abs(product.data[e] - z.data[e]) <= 1e4 * n * kU64) << e;
      }
    }
  }
}

TEST(WithoutRefinementTest, TheBitsDoNotDependOnTheNumberOfThreads) {
  const std::int64_t n = 300, columns = 130;
  const Dense<double> a = gallery_matrix(Kind::geometric, n, 100);
  const Factor factor = cholesky(a.view(), factor_at_fp64(64));
  const Dense<double> b = gaussian_columns(n, columns);
  Context single(1), several(3);
  const auto both = [&](const auto& use) {
    Dense<double> one = b, three = b;
    use(one.view(), EngineOptions{&single, nullptr});
    use(three.view(), EngineOptions{&several, nullptr});
    EXPECT_TRUE(one.data == three.data);
  };
  both([&](MatrixView<double> x, const EngineOptions& with) { factor.multiply(x, with); });
  both([&](MatrixView<double> x, const EngineOptions& with) { factor.solve_unrefined(x, with); });
  EXPECT_TRUE(factor.quadratic_forms(b.view(), {&single, nullptr}) ==
              factor.quadratic_forms(b.view(), {&several, nullptr}));
  EXPECT_EQ(factor.log_det_error({&single, nullptr}), factor.log_det_error({&several, nullptr}));
}

/// In 64-bit arithmetic, which has an error 2^-11 times that of FP64. factor_attack has many more.
TEST(WithoutRefinementTest, DeterminantsAreWithinTheirBound) {
  for (const std::int64_t n : {1, 5, 64, 150, 301}) {
    for (const double condition : {1.0, 1e3, 1e8}) {
      SCOPED_TRACE(testing::Message() << n << ", condition " << condition);
      const Dense<double> a = gallery_matrix(Kind::geometric, n, condition);
      std::vector<long double> l(a.data.begin(), a.data.end());
      const auto at = [&](std::int64_t i, std::int64_t j) -> long double& {
        return l[static_cast<std::size_t>(j * n + i)];
      };
      long double expected = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t k = 0; k < j; ++k) {
          for (std::int64_t i = j; i < n; ++i) at(i, j) -= at(i, k) * at(j, k);
        }
        expected += std::log(at(j, j));
        const long double root = std::sqrt(at(j, j));
        for (std::int64_t i = j; i < n; ++i) at(i, j) /= root;
      }
      for (const Rung rung : {Rung::fp64, Rung::int8x14}) {
        FactorOptions options = factor_at_fp64(64);
        options.map = uniform(rung);
        const Factor factor = cholesky(a.view(), options);
        const auto error = static_cast<double>(std::abs(factor.log_det() - expected));
        const double bound = factor.log_det_error();
        EXPECT_TRUE(error <= bound) << error << " > " << bound;
        // n^2 rounding errors of a few units each, and the logarithms.
        const double most = 100 * static_cast<double>(n) * (condition + 1) * kU64;
        EXPECT_TRUE(bound <= most) << bound << " > " << most;
      }
    }
  }
}

TEST(WithoutRefinementTest, ANearlySingularMatrixHasNoBound) {
  const std::int64_t n = 40;
  Dense<double> a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = i == j ? 1 + 0x1p-52 : 1;
  }
  const Factor factor = cholesky(a.view(), factor_at_fp64(64));
  ASSERT_TRUE(factor.ok());
  EXPECT_TRUE(std::isinf(factor.log_det_error()));
}

TEST(WithoutRefinementTest, ASolverFactorsInFp64WhenAskedTo) {
  const std::int64_t n = 900;
  const Dense<double> a = gallery_matrix(Kind::geometric, n, 10);
  SolveOptions options;
  options.map = uniform(Rung::bf16);
  Solver solver(a.view(), options, Structure::spd);
  const Dense<double> b = gaussian_columns(n, 2);
  Dense<double> x(n, 2), y = b;
  ASSERT_TRUE(solver.solve(b.view(), x.view()).ok());
  const Factor& factor = solver.cholesky_factor();
  ASSERT_TRUE(factor.ok());
  EXPECT_TRUE(has_fp64_accuracy(factor.report().map.layers[0]));
  EXPECT_EQ(&solver.cholesky_factor(), &factor);
  factor.solve_unrefined(y.view());
  for (std::size_t e = 0; e < x.data.size(); ++e) {
    EXPECT_TRUE(std::abs(x.data[e] - y.data[e]) <= 1e-11) << e;
  }
  EXPECT_EQ(solver.log_det().log, factor.log_det());
}

TEST(WithoutRefinementTest, OtherShapesAreRefused) {
  const std::int64_t n = 100;
  const Dense<double> a = gallery_matrix(Kind::geometric, n, 5);
  const Factor good = cholesky(a.view(), factor_at_fp64(64));
  Dense<double> wrong(n + 1, 2), b(n, 2);
  const auto refuse = [](const auto& call, const char* what) {
    expect_refused(call, ErrorCode::invalid_argument, what);
  };
  refuse([&] { good.multiply(wrong.view()); }, "multiply: B is 101 x 2; it must have 100 rows");
  refuse([&] { good.solve_unrefined(wrong.view()); }, "101 x 2");
  refuse([&] { (void)good.quadratic_forms(wrong.view()); }, "101 x 2");
  refuse([&] { good.multiply({b.data.data(), n, 2, 7}); }, "leading dimension");
  refuse([&] { good.multiply({nullptr, n, 2, n}); }, "no data");
  FactorOptions options;
  options.map = uniform(Rung::bf16);
  const Factor coarse = cholesky(a.view(), options);
  expect_refused([&] { coarse.multiply(b.view()); }, ErrorCode::unsupported, "map fp64");
  expect_refused([&] { (void)coarse.log_det_error(); }, ErrorCode::unsupported, "map fp64");
  const Factor empty = cholesky({nullptr, 0, 0, 1}, factor_at_fp64(64));
  empty.multiply({nullptr, 0, 3, 1});
  empty.solve_unrefined({nullptr, 0, 0, 1});
  EXPECT_EQ(empty.quadratic_forms({nullptr, 0, 3, 1}).size(), 3U);
  EXPECT_EQ(empty.log_det_error(), 0);
}

}  // namespace
}  // namespace stepwell::solvers::test
