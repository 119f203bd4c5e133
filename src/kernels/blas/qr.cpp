// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/blas/qr.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/blas/lapack.hpp"

extern "C" {
void dgeqrt_(const int* m, const int* n, const int* nb, double* a, const int* lda, double* t,
             const int* ldt, double* work, int* info);
void dgemqrt_(const char* side, const char* trans, const int* m, const int* n, const int* k,
              const int* nb, const double* v, const int* ldv, const double* t, const int* ldt,
              double* c, const int* ldc, double* work, int* info, std::size_t, std::size_t);
void dtpqrt2_(const int* m, const int* n, const int* l, double* a, const int* lda, double* b,
              const int* ldb, double* t, const int* ldt, int* info);
void dtrcon_(const char* norm, const char* uplo, const char* diag, const int* n, const double* a,
             const int* lda, double* rcond, double* work, int* iwork, int* info, std::size_t,
             std::size_t, std::size_t);
void dgeqp3_(const int* m, const int* n, double* a, const int* lda, int* jpvt, double* tau,
             double* work, const int* lwork, int* info);
void dormqr_(const char* side, const char* trans, const int* m, const int* n, const int* k,
             const double* a, const int* lda, const double* tau, double* c, const int* ldc,
             double* work, const int* lwork, int* info, std::size_t, std::size_t);
void dtzrzf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work,
             const int* lwork, int* info);
void dormrz_(const char* side, const char* trans, const int* m, const int* n, const int* k,
             const int* l, const double* a, const int* lda, const double* tau, double* c,
             const int* ldc, double* work, const int* lwork, int* info, std::size_t, std::size_t);
void dgelsy_(const int* m, const int* n, const int* nrhs, double* a, const int* lda, double* b,
             const int* ldb, int* jpvt, const double* rcond, int* rank, double* work,
             const int* lwork, int* info);
}

namespace stepwell::kernels {
namespace {

constexpr std::int64_t kPanel = 64;  ///< columns of a panel: the fastest of 32 .. 192
constexpr std::int64_t kLeaf = 8;    ///< columns that are eliminated one by one

using Matrix = MatrixView<double>;

/// Q = I - [I; V] T [I; V]': the block reflector of some columns of R and B.
struct Reflections {
  Matrix v, t;

  /// [R; B] <- Q' [R; B]
  void apply(Matrix r, Matrix b, double* scratch) const {
    if (r.empty()) return;
    const int k = as_int(t.cols), h = as_int(v.rows), columns = as_int(r.cols);
    const Matrix w{scratch, t.cols, r.cols, t.cols};
    for (std::int64_t j = 0; j < r.cols; ++j) std::copy_n(r.column(j), r.rows, w.column(j));
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, columns, h, 1, v.data, as_int(v.ld),
                b.data, as_int(b.ld), 1, w.data, k);
    cblas_dtrmm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, k, columns, 1,
                t.data, as_int(t.ld), w.data, k);
    for (std::int64_t j = 0; j < r.cols; ++j) {
      for (std::int64_t i = 0; i < r.rows; ++i) r(i, j) -= w(i, j);
    }
    subtract_product(v, w, b);
  }
};

/// Eliminates B below R, k x k; leaves V in B and writes T (Elmroth & Gustavson's recursion).
void eliminate(Matrix r, Matrix b, Matrix t, double* scratch) {
  const std::int64_t k = r.cols;
  if (k <= kLeaf) {
    const int rows = as_int(b.rows), cols = as_int(k), none = 0;
    const int ldr = as_int(r.ld), ldb = as_int(b.ld), ldt = as_int(t.ld);
    int info = 0;
    dtpqrt2_(&rows, &cols, &none, r.data, &ldr, b.data, &ldb, t.data, &ldt, &info);
    return;
  }
  const std::int64_t k1 = (k / 2 + kLeaf - 1) / kLeaf * kLeaf, k2 = k - k1;
  const Matrix v1 = b.block(0, 0, b.rows, k1), v2 = b.block(0, k1, b.rows, k2);
  const Matrix t1 = t.block(0, 0, k1, k1), t2 = t.block(k1, k1, k2, k2);
  eliminate(r.block(0, 0, k1, k1), v1, t1, scratch);
  Reflections{v1, t1}.apply(r.block(0, k1, k1, k2), v2, scratch);
  eliminate(r.block(k1, k1, k2, k2), v2, t2, scratch);
  // Combine the two halves: T12 = -T1 (V1'V2) T2.
  const Matrix t12 = t.block(0, k1, k1, k2);
  const int m = as_int(k1), n = as_int(k2), ld = as_int(t.ld);
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, m, n, as_int(b.rows), 1, v1.data,
              as_int(b.ld), v2.data, as_int(b.ld), 0, t12.data, ld);
  cblas_dtrmm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, m, n, -1, t1.data,
              ld, t12.data, ld);
  cblas_dtrmm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, m, n, 1, t2.data,
              ld, t12.data, ld);
}

}  // namespace

std::int64_t qr_scratch(std::int64_t n, std::int64_t width) {
  return kPanel * (n + width);
}

void qr_block(MatrixView<double> a, std::int64_t n, double* scratch) {
  if (n == 0) return;
  const int m = as_int(a.rows), cols = as_int(n), ld = as_int(a.ld);
  const int nb = static_cast<int>(std::min(kPanel, n));
  double* const t = scratch;
  double* const work = scratch + kPanel * n;
  int info = 0;
  dgeqrt_(&m, &cols, &nb, a.data, &ld, t, &nb, work, &info);
  const int rest = as_int(a.cols - n);
  if (rest == 0) return;
  dgemqrt_("L", "T", &m, &rest, &cols, &nb, a.data, &ld, t, &nb, a.column(n), &ld, work, &info, 1,
           1);
}

void qr_fold(MatrixView<double> r, MatrixView<double> b, Below below, double* scratch) {
  const std::int64_t n = r.rows;
  double* const work = scratch + kPanel * std::min(kPanel, n);
  for (std::int64_t j = 0; j < n; j += kPanel) {
    const std::int64_t k = std::min(kPanel, n - j), rest = r.cols - j - k;
    const std::int64_t rows = below == Below::triangle ? std::min(b.rows, j + k) : b.rows;
    const Matrix v = b.block(0, j, rows, k), t{scratch, k, k, kPanel};
    eliminate(r.block(j, j, k, k), v, t, work);
    Reflections{v, t}.apply(r.block(j, j + k, k, rest), b.block(0, j + k, rows, rest), work);
  }
}

double reciprocal_condition(MatrixView<const double> r, double* scratch, int* iwork) {
  const int n = as_int(r.rows), ld = as_int(r.ld);
  double estimate = 0;
  int info = 0;
  dtrcon_("1", "U", "N", &n, r.data, &ld, &estimate, scratch, iwork, &info, 1, 1, 1);
  return estimate;
}

void pivoted_qr(MatrixView<double> r, int* pivots, MatrixView<double> c, double* scratch) {
  const int n = as_int(r.rows), ld = as_int(r.ld), columns = as_int(c.cols), ldc = as_int(c.ld);
  if (n == 0) return;
  std::fill_n(pivots, n, 0);  // all columns are free to be permuted
  double* const work = scratch + r.rows;
  const int size = as_int(qr_scratch(r.rows, r.rows + c.cols) - r.rows);
  int info = 0;
  dgeqp3_(&n, &n, r.data, &ld, pivots, scratch, work, &size, &info);
  if (columns > 0) {
    dormqr_("L", "T", &n, &columns, &n, r.data, &ld, scratch, c.data, &ldc, work, &size, &info, 1,
            1);
  }
  for (std::int64_t j = 0; j < n; ++j) std::fill(r.column(j) + j + 1, r.column(j) + n, 0.0);
}

void least_norm(MatrixView<double> t, MatrixView<double> x) {
  const int r = as_int(t.rows), n = as_int(t.cols), ld = as_int(t.ld);
  const int columns = as_int(x.cols), ldx = as_int(x.ld), rest = n - r;
  if (r == 0 || columns == 0) return;
  constexpr std::int64_t kBlock = 64;
  const int size = as_int(kBlock * std::max({t.rows, x.cols, kBlock}) + kBlock * kBlock);
  std::vector<double> tau(static_cast<std::size_t>(r)), work(static_cast<std::size_t>(size));
  int info = 0;
  if (rest > 0) dtzrzf_(&r, &n, t.data, &ld, tau.data(), work.data(), &size, &info);
  solve_upper(t.block(0, 0, t.rows, t.rows), false, x.block(0, 0, t.rows, x.cols));
  for (std::int64_t c = 0; c < x.cols; ++c) std::fill(x.column(c) + r, x.column(c) + n, 0.0);
  if (rest == 0) return;
  dormrz_("L", "T", &n, &columns, &r, &rest, t.data, &ld, tau.data(), x.data, &ldx, work.data(),
          &size, &info, 1, 1);
}

std::int64_t minimum_norm(MatrixView<double> a, MatrixView<double> x, double smallest,
                          int* pivots) {
  const int m = as_int(a.rows), n = as_int(a.cols), ld = as_int(a.ld);
  const int columns = as_int(x.cols), ldx = as_int(x.ld);
  if (m == 0 || n == 0 || columns == 0) {
    for (std::int64_t c = 0; c < x.cols; ++c) std::fill_n(x.column(c), a.cols, 0.0);
    return 0;
  }
  std::fill_n(pivots, n, 0);  // all columns are free to be permuted
  int rank = 0, info = 0, size = -1;
  double best = 0;
  dgelsy_(&m, &n, &columns, a.data, &ld, x.data, &ldx, pivots, &smallest, &rank, &best, &size,
          &info);
  std::vector<double> work(static_cast<std::size_t>(best));
  size = as_int(static_cast<std::int64_t>(work.size()));
  dgelsy_(&m, &n, &columns, a.data, &ld, x.data, &ldx, pivots, &smallest, &rank, work.data(), &size,
          &info);
  return rank;
}

}  // namespace stepwell::kernels
