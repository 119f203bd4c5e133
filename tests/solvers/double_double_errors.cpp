// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/double_double_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numeric/double_double.hpp"

namespace stepwell::solvers::test {
namespace {

using core::DoubleDouble;

constexpr int kNone = std::numeric_limits<int>::min();

/// The exponent of the largest element; kNone if all are zero.
int exponent_of(const double* x, std::int64_t n) {
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  return largest == 0 ? kNone : std::ilogb(largest);
}

/// r += column x, an element each, or for A' their sum to r.
[[gnu::always_inline]] inline void add_column(const double* column, std::int64_t n, bool transposed,
                                              const double* x, DoubleDouble* r) {
  for (std::int64_t i = 0; i < n; ++i) {
    DoubleDouble& to = transposed ? *r : r[i];
    to = core::multiply_add(to, column[i], transposed ? x[i] : *x);
  }
}

#ifdef __x86_64__
/// Without FMA instructions std::fma is a call of the C library, most of the time of many tests.
[[gnu::target("avx2,fma")]] void add_column_by_fma(const double* column, std::int64_t n,
                                                   bool transposed, const double* x,
                                                   DoubleDouble* r) {
  add_column(column, n, transposed, x, r);
}
#endif

void add_columns(const kernels::test::Dense<double>& a, bool transposed, const double* x,
                 DoubleDouble* r) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const double* const column = &a.data[j * a.rows];
    const double* const from = transposed ? x : x + j;
    DoubleDouble* const to = transposed ? r + j : r;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      add_column_by_fma(column, a.rows, transposed, from, to);
      continue;
    }
#endif
    add_column(column, a.rows, transposed, from, to);
  }
}

}  // namespace

ScaledMatrix::ScaledMatrix(MatrixView<const double> from, bool symmetric, bool transposed)
    : a(from.rows, from.cols) {
  const std::int64_t n = from.rows;
  int largest = kNone;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t first = symmetric ? j : 0;
    largest = std::max(largest, exponent_of(from.column(j) + first, n - first));
  }
  zero = largest == kNone;
  if (zero) return;
  exponent = largest;
  // In two steps: 2^-exponent alone may overflow.
  const double half = std::ldexp(1.0, -exponent / 2);
  const double rest = std::ldexp(1.0, -exponent - (-exponent / 2));
  std::vector<double> sums(n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = symmetric ? j : 0; i < n; ++i) {
      a(i, j) = from(i, j) * half * rest;
      if (symmetric) a(j, i) = a(i, j);
      sums[transposed ? j : i] += std::abs(a(i, j));
      if (symmetric && i != j) sums[j] += std::abs(a(i, j));
    }
  }
  norm = *std::max_element(sums.begin(), sums.end());
}

double backward_error(const ScaledMatrix& s, const double* b, const double* x, bool transposed) {
  const std::int64_t n = s.a.rows;
  for (std::int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) return std::numeric_limits<double>::quiet_NaN();
  }
  const int of_x = exponent_of(x, n), of_b = exponent_of(b, n);
  if (of_b == kNone && of_x == kNone) return 0;
  if (s.zero || of_x == kNone) return of_b == kNone ? 0 : 1;
  // Everything is divided by the larger of b and A x, 2^top; A is divided by 2^exponent already.
  const int size = s.exponent + of_x, top = of_b == kNone ? size : std::max(size, of_b);
  const int shift = std::max(s.exponent - top, -2100 - of_x);
  std::vector<double> minus_x(n);
  std::vector<DoubleDouble> r(n);
  double x_size = 0, b_size = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    minus_x[i] = x[i] == 0 ? 0 : -std::ldexp(x[i], shift);
    const double bs = b[i] == 0 ? 0 : std::ldexp(b[i], -top);
    x_size = std::max(x_size, std::abs(minus_x[i]));
    b_size = std::max(b_size, std::abs(bs));
    r[i] = {bs, 0};
  }
  add_columns(s.a, transposed, minus_x.data(), r.data());
  double residual = 0;
  for (const DoubleDouble& e : r) {
    if (!(std::abs(e.value()) <= residual)) residual = std::abs(e.value());
  }
  return residual / (s.norm * x_size + b_size);
}

}  // namespace stepwell::solvers::test
