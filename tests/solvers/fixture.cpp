// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/fixture.hpp"

#include <algorithm>
#include <cmath>

#include "factor/scaling.hpp"
#include "solvers/double_double_errors.hpp"

extern "C" void dposv_(const char* uplo, const int* n, const int* nrhs, double* a, const int* lda,
                       double* b, const int* ldb, int* info);
extern "C" void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

namespace stepwell::solvers::test {
namespace {

Dense<double> lower_copy(MatrixView<const double> a) {
  Dense<double> copy(a.rows, a.cols);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = j; i < a.rows; ++i) copy(i, j) = a(i, j);
  }
  return copy;
}

}  // namespace

Padded::Padded(std::int64_t rows, std::int64_t cols, std::int64_t pad)
    : rows_(rows),
      cols_(cols),
      ld_(std::max<std::int64_t>(1, rows + pad)),
      memory_(static_cast<std::size_t>(ld_ * cols), kNaN<double>) {}

bool Padded::padding_unchanged() const {
  for (std::int64_t j = 0; j < cols_; ++j) {
    const std::int64_t at = rows_ + j * ld_;
    if (std::memcmp(&memory_[at], &sealed_[at], (ld_ - rows_) * sizeof(double)) != 0) return false;
  }
  return true;
}

double backward_error(MatrixView<const double> a, const double* b, const double* x) {
  return backward_error(ScaledMatrix(a, true), b, x);
}

double backward_error(MatrixView<const double> a, MatrixView<const double> b,
                      MatrixView<const double> x) {
  const ScaledMatrix scaled(a, true);
  double worst = 0;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    const double error = backward_error(scaled, b.column(c), x.column(c));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

bool lapack_solve(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> x) {
  Dense<double> l = lower_copy(a);
  for (std::int64_t c = 0; c < b.cols; ++c) std::copy_n(b.column(c), b.rows, x.column(c));
  const int n = static_cast<int>(a.rows), columns = static_cast<int>(b.cols);
  const int ld = static_cast<int>(x.ld);
  int info = 0;
  dposv_("L", &n, &columns, l.data.data(), &n, x.data, &ld, &info);
  return info == 0;
}

std::int64_t lapack_pivot(MatrixView<const double> a) {
  Dense<double> l = lower_copy(a);
  const int n = static_cast<int>(a.rows);
  int info = 0;
  dpotrf_("L", &n, l.data.data(), &n, &info);
  return info - 1;
}

Dense<double> scaled(MatrixView<const double> a, Scaling scaling) {
  const factor::Scale scale = factor::scale_factors(factor::read_diagonal(a), scaling);
  Dense<double> h(a.rows, a.cols);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      h(i, j) =
          scale.row[static_cast<std::size_t>(i)] * a(i, j) * scale.col[static_cast<std::size_t>(j)];
    }
  }
  return h;
}

Dense<double> gallery_matrix(gallery::Kind kind, std::int64_t n, double condition,
                             std::uint64_t seed) {
  Dense<double> a(n, n);
  gallery::Recipe recipe;
  recipe.kind = kind;
  recipe.condition = condition;
  recipe.seed = seed;
  gallery::fill(a.view(), recipe);
  return a;
}

Dense<double> gaussian_columns(std::int64_t n, std::int64_t columns, std::uint64_t seed) {
  Random random(seed + 1000);
  return kernels::test::gaussian(n, columns, random);
}

Dense<double> times(const Dense<double>& x, int power) {
  Dense<double> y(x);
  for (double& e : y.data) e = std::ldexp(e, power);
  return y;
}

SolveOptions with_map(const std::string& map) {
  SolveOptions options;
  if (map != "default") options.map = parse_map(map);
  return options;
}

SolveOptions at_fp64(std::int64_t tile) {
  SolveOptions options;
  options.map = uniform(Rung::fp64);
  options.tile = tile;
  return options;
}

FactorOptions factor_at_fp64(std::int64_t tile, bool spread) {
  FactorOptions options;
  options.map = uniform(Rung::fp64);
  options.tile = tile;
  options.spread = spread;
  return options;
}

void PrintTo(const Path& p, std::ostream* out) {
  *out << p.map << " n " << p.n;
}

Solved solve(const Dense<double>& a, const Dense<double>& b, const SolveOptions& options) {
  Solved s{Dense<double>(b.rows, b.cols), {}};
  s.certificate = solve_spd(a.view(), b.view(), s.x.view(), options);
  EXPECT_TRUE(consistent(s.certificate, b.cols));
  return s;
}

void expect_same_path(const Solved& got, const Solved& expected, int power) {
  const Certificate &c = got.certificate, &e = expected.certificate;
  EXPECT_EQ(c.outcome, e.outcome);
  EXPECT_EQ(c.iterations, e.iterations);
  EXPECT_EQ(map_text(c.method), map_text(e.method));
  EXPECT_EQ(c.backward_error, e.backward_error);
  EXPECT_EQ(c.condition, e.condition);
  EXPECT_EQ(c.shift, e.shift);
  ASSERT_EQ(c.rungs.size(), e.rungs.size());
  for (std::size_t k = 0; k < c.rungs.size(); ++k) {
    EXPECT_EQ(map_text(c.rungs[k].method), map_text(e.rungs[k].method));
    EXPECT_EQ(c.rungs[k].iterations, e.rungs[k].iterations);
    EXPECT_EQ(c.rungs[k].reason, e.rungs[k].reason);
  }
  ASSERT_EQ(c.columns.size(), e.columns.size());
  for (std::size_t k = 0; k < c.columns.size(); ++k) {
    EXPECT_EQ(c.columns[k].history, e.columns[k].history);
    EXPECT_EQ(c.columns[k].proven_backward_error, e.columns[k].proven_backward_error);
  }
  EXPECT_TRUE(same_bits(got.x.view(), times(expected.x, power).view()));
}

::testing::AssertionResult consistent(const Certificate& c, std::int64_t columns) {
  const auto wrong = [](const char* what) { return ::testing::AssertionFailure() << what; };
  if (static_cast<std::int64_t>(c.columns.size()) != columns) return wrong("columns are missing");
  if (c.ok() != c.reason.empty()) return wrong("a reason, or none, against the outcome");
  if (!(c.tolerance > 0)) return wrong("no tolerance");
  double worst = 0;
  for (const ColumnCertificate& column : c.columns) {
    if (c.ok() && column.outcome != SolveOutcome::converged) return wrong("a column failed");
    if (c.ok() && !(column.backward_error <= c.tolerance)) return wrong("above the tolerance");
    if (!(column.backward_error <= worst)) worst = column.backward_error;
  }
  if (c.ok() && c.backward_error != worst) return wrong("not the worst column's error");
  if (c.ok() && columns > 0 && !c.method.refiner) return wrong("found with what?");
  for (std::size_t k = 0; k < c.rungs.size(); ++k) {
    if (map_text(c.rungs[k].method).empty()) return wrong("a rung without a name");
    if (k + 1 < c.rungs.size() && c.rungs[k].reason.empty())
      return wrong("a rung left for nothing");
  }
  if (c.ok() && !c.rungs.empty() && !c.rungs.back().reason.empty()) {
    return wrong("the last rung was left");
  }
  return ::testing::AssertionSuccess();
}

}  // namespace stepwell::solvers::test
