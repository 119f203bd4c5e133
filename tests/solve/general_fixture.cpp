// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solve/general_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/double_double.hpp"

extern "C" void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv,
                        int* info);
extern "C" void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a,
                        const int* lda, const int* ipiv, double* b, const int* ldb, int* info);

namespace stepwell::driver::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kNone = std::numeric_limits<int>::min();

/// The power of two that the largest element has; kNone: all are zero.
int exponent_of(const double* x, std::int64_t n, int before = kNone) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (x[i] != 0) before = std::max(before, std::ilogb(x[i]));
  }
  return before;
}

}  // namespace

Dense<double> transpose(const Dense<double>& a) {
  Dense<double> t(a.cols, a.rows);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) t(j, i) = a(i, j);
  }
  return t;
}

double general_error(MatrixView<const double> a, const double* b, const double* x,
                     bool transposed) {
  const std::int64_t n = a.rows;
  for (std::int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) return kNaN;
  }
  int of_a = kNone;
  for (std::int64_t j = 0; j < n; ++j) of_a = exponent_of(a.column(j), n, of_a);
  const int of_x = exponent_of(x, n), of_b = exponent_of(b, n);
  if (of_b == kNone && of_x == kNone) return 0;
  if (of_a == kNone || of_x == kNone) return of_b == kNone ? 0 : 1;
  // A term is scaled by 2^-of_a, and by 2^(of_a - top) with x: everything is divided by 2^top.
  const int top = of_b == kNone ? of_a + of_x : std::max(of_a + of_x, of_b);
  const int shift = std::max(of_a - top, -2100 - of_x);
  std::vector<double> sums(n), xs(n);
  std::vector<core::DoubleDouble> r(n);
  double x_size = 0, b_size = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    xs[i] = x[i] == 0 ? 0 : std::ldexp(x[i], shift);
    const double bs = b[i] == 0 ? 0 : std::ldexp(b[i], -top);
    x_size = std::max(x_size, std::abs(xs[i]));
    b_size = std::max(b_size, std::abs(bs));
    r[i] = {bs, 0};
  }
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double e = std::ldexp(a(i, j), -of_a);
      sums[transposed ? j : i] += std::abs(e);
      if (transposed) {
        r[j] = core::multiply_add(r[j], -e, xs[i]);
      } else {
        r[i] = core::multiply_add(r[i], -e, xs[j]);
      }
    }
  }
  double residual = 0;
  for (const core::DoubleDouble& e : r) {
    if (!(std::abs(e.value()) <= residual)) residual = std::abs(e.value());
  }
  return residual / (*std::max_element(sums.begin(), sums.end()) * x_size + b_size);
}

double general_error(MatrixView<const double> a, MatrixView<const double> b,
                     MatrixView<const double> x, bool transposed) {
  double worst = 0;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    const double error = general_error(a, b.column(c), x.column(c), transposed);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

std::int64_t lapack_general(MatrixView<const double> a, MatrixView<const double> b,
                            MatrixView<double> x, bool transposed) {
  Dense<double> lu(a.rows, a.cols);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    std::copy_n(a.column(j), a.rows, lu.view().column(j));
  }
  for (std::int64_t c = 0; c < b.cols; ++c) std::copy_n(b.column(c), b.rows, x.column(c));
  const int n = static_cast<int>(a.rows), columns = static_cast<int>(b.cols);
  const int ld = static_cast<int>(x.ld);
  std::vector<int> pivots(static_cast<std::size_t>(n));
  int info = 0, none = 0;
  dgetrf_(&n, &n, lu.data.data(), &n, pivots.data(), &info);
  if (info == 0) {
    dgetrs_(transposed ? "T" : "N", &n, &columns, lu.data.data(), &n, pivots.data(), x.data, &ld,
            &none);
  }
  return info - 1;
}

Solved solve_general(const Dense<double>& a, const Dense<double>& b, const SolveOptions& options) {
  Solved s{Dense<double>(b.rows, b.cols), {}};
  s.certificate = stepwell::solve_general(a.view(), b.view(), s.x.view(), options);
  EXPECT_TRUE(consistent(s.certificate, b.cols)) << s.certificate.reason;
  EXPECT_EQ(s.certificate.structure, "general");
  return s;
}

}  // namespace stepwell::driver::test
