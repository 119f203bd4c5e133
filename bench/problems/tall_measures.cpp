// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/problems/tall_measures.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/baselines/lapack.hpp"
#include "core/row_block.hpp"
#include "engine/threads/thread_pool.hpp"
#include "factor/tall/gram.hpp"
#include "solvers/ladder/cost.hpp"
#include "stepwell/error.hpp"
#include "stepwell/factor.hpp"

namespace stepwell::bench {
namespace {

constexpr int kMostShift = 100;

core::Buffer<double> copy_of(MatrixView<const double> a) {
  core::Buffer<double> copy(a.rows * a.cols);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    std::copy(a.column(j), a.column(j) + a.rows, copy.data() + j * a.rows);
  }
  return copy;
}

double norm_of(const double* x, std::int64_t n) {
  return cblas_dnrm2(static_cast<int>(n), x, 1);
}

/// The Gram matrix as lstsq() forms it: diag(power) A'A diag(power).
factor::Gram gram_of(MatrixView<const double> a, Rung rung) {
  engine::ThreadPool pool(1);
  const TallMatrix tall = a;
  core::RowReader reader(tall);
  return factor::gram(pool, reader, rung, {}, nullptr);
}

/// The factor as lstsq() computes it, with the diagonal multiplied by 1 + c u.
Factor factor_of(const factor::Gram& gram, std::int64_t n, Rung rung, int shift) {
  const core::Buffer<double> c = copy_of(view<const double>(gram.c.data(), n, n));
  for (std::int64_t j = 0; j < n; ++j) c[j + j * n] *= 1 + shift * info(rung).unit_roundoff;
  FactorOptions options;
  options.map = uniform(solvers::gram_factor_rung(rung, n));
  options.climb = false;
  return cholesky(view<const double>(c.data(), n, n), options);
}

}  // namespace

std::vector<double> singular_values(MatrixView<const double> a) {
  const core::Buffer<double> copy = copy_of(a);
  const auto m = static_cast<int>(a.rows), n = static_cast<int>(a.cols);
  std::vector<double> values(static_cast<std::size_t>(std::min(m, n)));
  std::vector<double> work(static_cast<std::size_t>(8 * (m + n) + 64 * std::min(m, n)));
  const auto length = static_cast<int>(work.size());
  const int one = 1;
  int info = 0;
  dgesvd_("N", "N", &m, &n, copy.data(), &m, values.data(), nullptr, &one, nullptr, &one,
          work.data(), &length, &info, 1, 1);
  if (info != 0) {
    throw Error(ErrorCode::unsupported, fmt::format("dgesvd failed with info = {}", info));
  }
  return values;
}

double frobenius_error(MatrixView<const double> a, MatrixView<const double> b,
                       MatrixView<const double> x) {
  const std::int64_t m = a.rows, n = a.cols;
  std::vector<long double> sums(b.column(0), b.column(0) + m);
  for (std::int64_t j = 0; j < n; ++j) {
    const long double xj = x(j, 0);
    for (std::int64_t i = 0; i < m; ++i) sums[static_cast<std::size_t>(i)] -= a(i, j) * xj;
  }
  const std::vector<double> r(sums.begin(), sums.end());
  const double rs = norm_of(r.data(), m), xs = norm_of(x.column(0), n);
  // [A, phi (I - r r^+)]
  const double phi = rs / std::sqrt(1 + xs * xs);
  const core::Buffer<double> wide(m * (n + m));
  double squares = norm_of(b.column(0), m) * norm_of(b.column(0), m);
  for (std::int64_t j = 0; j < n; ++j) {
    std::copy(a.column(j), a.column(j) + m, wide.data() + j * m);
    squares += norm_of(a.column(j), m) * norm_of(a.column(j), m);
  }
  for (std::int64_t j = 0; j < m; ++j) {
    double* const column = wide.data() + (n + j) * m;
    const double share = rs > 0 ? r[static_cast<std::size_t>(j)] / rs : 0;
    for (std::int64_t i = 0; i < m; ++i) {
      const double other = rs > 0 ? r[static_cast<std::size_t>(i)] / rs : 0;
      column[i] = phi * ((i == j ? 1 : 0) - other * share);
    }
  }
  const double smallest = singular_values(view<const double>(wide.data(), m, n + m)).back();
  return std::min(phi, smallest) / std::sqrt(squares);
}

TallSolution dgels_solution(MatrixView<const double> a, MatrixView<const double> b) {
  const core::Buffer<double> copy = copy_of(a), right = copy_of(b);
  const auto m = static_cast<int>(a.rows), n = static_cast<int>(a.cols);
  const auto columns = static_cast<int>(b.cols);
  std::vector<double> work(static_cast<std::size_t>(64 * (n + m + columns)));
  const auto length = static_cast<int>(work.size());
  TallSolution s{0, core::Buffer<double>(a.cols * b.cols)};
  dgels_("N", &m, &n, &columns, copy.data(), &m, right.data(), &m, work.data(), &length, &s.info,
         1);
  for (std::int64_t c = 0; c < b.cols; ++c) {
    std::copy_n(right.data() + c * a.rows, a.cols, s.x.data() + c * a.cols);
  }
  return s;
}

int least_shift(MatrixView<const double> a, Rung rung) {
  const factor::Gram gram = gram_of(a, rung);
  for (int shift = 0; shift <= kMostShift; ++shift) {
    if (factor_of(gram, a.cols, rung, shift).ok()) return shift;
  }
  return -1;
}

double preconditioned_condition(MatrixView<const double> a, Rung rung) {
  const std::int64_t m = a.rows, n = a.cols;
  const int shift = least_shift(a, rung);
  if (shift < 0) return std::numeric_limits<double>::infinity();
  const factor::Gram gram = gram_of(a, rung);
  const core::Buffer<double> l(n * n), b = copy_of(a);
  factor_of(gram, n, rung, shift).copy_to(view(l.data(), n, n));
  for (std::int64_t j = 0; j < n; ++j) {
    cblas_dscal(static_cast<int>(m), gram.power[static_cast<std::size_t>(j)], b.data() + j * m, 1);
  }
  // The eigenvalues of M A'A are those of (B L^-T)'(B L^-T).
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, static_cast<int>(m),
              static_cast<int>(n), 1, l.data(), static_cast<int>(n), b.data(), static_cast<int>(m));
  const std::vector<double> values = singular_values(view<const double>(b.data(), m, n));
  const double ratio = values.front() / values.back();
  return ratio * ratio;
}

}  // namespace stepwell::bench
