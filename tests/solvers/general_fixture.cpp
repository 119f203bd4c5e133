// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/general_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numeric/double_double.hpp"
#include "engine/runtime.hpp"

extern "C" void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv,
                        int* info);
extern "C" void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a,
                        const int* lda, const int* ipiv, double* b, const int* ldb, int* info);

namespace stepwell::solvers::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kNone = std::numeric_limits<int>::min();

/// The exponent of the largest element; kNone if all are zero.
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

namespace {

/// A times 2^-of_a, and its norm.
struct Scaled {
  Dense<double> a;
  int of_a = kNone;
  double norm = 0;

  Scaled(MatrixView<const double> from, bool transposed) : a(from.rows, from.cols) {
    const std::int64_t n = from.rows;
    std::vector<double> sums(n);
    for (std::int64_t j = 0; j < n; ++j) of_a = exponent_of(from.column(j), n, of_a);
    if (of_a == kNone) return;
    // In two steps: 2^-of_a alone may overflow.
    const double half = std::ldexp(1.0, -of_a / 2), rest = std::ldexp(1.0, -of_a - (-of_a / 2));
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        a(i, j) = from(i, j) * half * rest;
        sums[transposed ? j : i] += std::abs(a(i, j));
      }
    }
    norm = *std::max_element(sums.begin(), sums.end());
  }
};

double error_of(const Scaled& s, const double* b, const double* x, bool transposed) {
  const std::int64_t n = s.a.rows;
  const int of_a = s.of_a;
  for (std::int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) return kNaN;
  }
  const int of_x = exponent_of(x, n), of_b = exponent_of(b, n);
  if (of_b == kNone && of_x == kNone) return 0;
  if (of_a == kNone || of_x == kNone) return of_b == kNone ? 0 : 1;
  // A term is scaled by 2^-of_a, and by 2^(of_a - top) with x: everything is divided by 2^top.
  const int top = of_b == kNone ? of_a + of_x : std::max(of_a + of_x, of_b);
  const int shift = std::max(of_a - top, -2100 - of_x);
  std::vector<double> xs(n);
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
      core::DoubleDouble& to = r[transposed ? j : i];
      to = core::multiply_add(to, -s.a(i, j), xs[transposed ? i : j]);
    }
  }
  double residual = 0;
  for (const core::DoubleDouble& e : r) {
    if (!(std::abs(e.value()) <= residual)) residual = std::abs(e.value());
  }
  return residual / (s.norm * x_size + b_size);
}

}  // namespace

std::vector<double> general_errors(MatrixView<const double> a, MatrixView<const double> b,
                                   MatrixView<const double> x, bool transposed) {
  const Scaled scaled(a, transposed);
  std::vector<double> errors;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    errors.push_back(error_of(scaled, b.column(c), x.column(c), transposed));
  }
  return errors;
}

double general_error(MatrixView<const double> a, MatrixView<const double> b,
                     MatrixView<const double> x, bool transposed) {
  double worst = 0;
  for (const double error : general_errors(a, b, x, transposed)) {
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
  const engine::SingleThreadedBlas blas;  // which pivot is zero may depend on rounding
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
  EXPECT_EQ(s.certificate.structure, Structure::general);
  return s;
}

}  // namespace stepwell::solvers::test
