// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/fixture.hpp"

#include <algorithm>
#include <cmath>
#include <random>

extern "C" {
void dsyev_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
            double* work, const int* lwork, int* info);
void dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a,
             const int* lda, double* s, double* u, const int* ldu, double* vt, const int* ldvt,
             double* work, const int* lwork, int* info);
void dgeev_(const char* jobvl, const char* jobvr, const int* n, double* a, const int* lda,
            double* wr, double* wi, double* vl, const int* ldvl, double* vr, const int* ldvr,
            double* work, const int* lwork, int* info);
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work,
             const int* lwork, int* info);
void dorgqr_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau,
             double* work, const int* lwork, int* info);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
}

namespace stepwell::gallery::test {

Square::Square(std::int64_t n, std::int64_t padding)
    : n_(n),
      ld_(std::max<std::int64_t>(1, n + padding)),
      data(static_cast<std::size_t>(ld_ * n), kPadding) {}

Square::Square(std::int64_t n, const Recipe& recipe, int threads, std::int64_t padding)
    : Square(n, padding) {
  fill(view(), recipe, threads);
}

bool Square::padding_untouched() const {
  for (std::int64_t j = 0; j < n_; ++j) {
    for (std::int64_t i = n_; i < ld_; ++i) {
      if (!((*this)(i, j) == kPadding)) return false;
    }
  }
  return true;
}

std::vector<double> eigenvalues(Square a) {
  const int n = static_cast<int>(a.order());
  const int lwork = 64 * n + 64;
  int info = -1;
  std::vector<double> w(static_cast<std::size_t>(n)), work(static_cast<std::size_t>(lwork));
  dsyev_("N", "L", &n, a.data.data(), &n, w.data(), work.data(), &lwork, &info);
  EXPECT_EQ(info, 0);
  std::reverse(w.begin(), w.end());
  return w;
}

std::vector<double> singular_values(Square a) {
  const int n = static_cast<int>(a.order());
  const int lwork = 64 * n + 64;
  const int one = 1;
  int info = -1;
  double none = 0;
  std::vector<double> s(static_cast<std::size_t>(n)), work(static_cast<std::size_t>(lwork));
  dgesvd_("N", "N", &n, &n, a.data.data(), &n, s.data(), &none, &one, &none, &one, work.data(),
          &lwork, &info);
  EXPECT_EQ(info, 0);
  return s;
}

std::vector<std::complex<double>> complex_eigenvalues(Square a) {
  const int n = static_cast<int>(a.order());
  const int lwork = 64 * n + 64;
  const int one = 1;
  int info = -1;
  double none = 0;
  std::vector<double> re(static_cast<std::size_t>(n)), im(re),
      work(static_cast<std::size_t>(lwork));
  dgeev_("N", "N", &n, a.data.data(), &n, re.data(), im.data(), &none, &one, &none, &one,
         work.data(), &lwork, &info);
  EXPECT_EQ(info, 0);
  std::vector<std::complex<double>> lambda;
  for (std::size_t i = 0; i < re.size(); ++i) lambda.emplace_back(re[i], im[i]);
  return lambda;
}

Lu lu(Square a) {
  const auto largest = [](const std::vector<double>& x) {
    double most = 0;
    for (const double v : x) most = std::max(most, std::abs(v));
    return most;
  };
  const int n = static_cast<int>(a.order());
  const double before = largest(a.data);
  std::vector<int> pivots(static_cast<std::size_t>(n));
  Lu result;
  dgetrf_(&n, &n, a.data.data(), &n, pivots.data(), &result.info);
  result.growth = largest(a.data) / before;
  result.determinant = 1;
  for (int i = 0; i < n; ++i) {
    const double pivot = a(i, i);
    result.determinant *= pivots[static_cast<std::size_t>(i)] == i + 1 ? pivot : -pivot;
  }
  return result;
}

Square with_haar_basis(const std::vector<double>& d, std::uint64_t seed) {
  const auto order = static_cast<std::int64_t>(d.size());
  const int n = static_cast<int>(order);
  const int lwork = 64 * n;
  int info = -1;
  Square q(order);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> gaussian;
  for (double& x : q.data) x = gaussian(random);
  std::vector<double> tau(d.size()), work(static_cast<std::size_t>(lwork));
  dgeqrf_(&n, &n, q.data.data(), &n, tau.data(), work.data(), &lwork, &info);
  EXPECT_EQ(info, 0);
  dorgqr_(&n, &n, &n, q.data.data(), &n, tau.data(), work.data(), &lwork, &info);
  EXPECT_EQ(info, 0);
  // The signs of R's diagonal, which make Q Haar distributed, cancel in Q D Q'.
  Square scaled(q), a(order);
  for (std::int64_t j = 0; j < order; ++j) {
    for (std::int64_t i = 0; i < order; ++i) scaled(i, j) *= d[static_cast<std::size_t>(j)];
  }
  const double one = 1, zero = 0;
  dgemm_("N", "T", &n, &n, &n, &one, scaled.data.data(), &n, q.data.data(), &n, &zero,
         a.data.data(), &n);
  return a;
}

}  // namespace stepwell::gallery::test
