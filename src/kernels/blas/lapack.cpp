// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/blas/lapack.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "stepwell/error.hpp"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info,
             std::size_t uplo_length);
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);
void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda,
             const int* ipiv, double* b, const int* ldb, int* info, std::size_t trans_length);
}

namespace stepwell::kernels {

int as_int(std::int64_t size) {
  if (size > std::numeric_limits<int>::max()) {
    throw Error(ErrorCode::too_large,
                "a matrix of order " + std::to_string(size) + " is too large for LAPACK's int");
  }
  return static_cast<int>(size);
}

std::int64_t potrf(MatrixView<double> a) {
  const int n = as_int(a.rows);
  const int ld = as_int(a.ld);
  int info = 0;
  dpotrf_("L", &n, a.data, &ld, &info, 1);
  return info - 1;
}

std::int64_t getrf(MatrixView<double> a, int* pivots) {
  const int m = as_int(a.rows);
  const int n = as_int(a.cols);
  const int ld = as_int(a.ld);
  int info = 0;
  dgetrf_(&m, &n, a.data, &ld, pivots, &info);
  return info - 1;
}

void getrs(MatrixView<const double> lu, const int* pivots, bool transposed, MatrixView<double> b) {
  const int n = as_int(lu.rows);
  const int ld = as_int(lu.ld);
  const int columns = as_int(b.cols);
  const int ldb = as_int(b.ld);
  int info = 0;
  dgetrs_(transposed ? "T" : "N", &n, &columns, lu.data, &ld, pivots, b.data, &ldb, &info, 1);
}

void solve_unit_lower(MatrixView<const double> l, MatrixView<double> b) {
  if (b.empty()) return;
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, as_int(b.rows),
              as_int(b.cols), 1, l.data, as_int(l.ld), b.data, as_int(b.ld));
}

void solve_upper(MatrixView<const double> r, bool transposed, MatrixView<double> b) {
  if (b.empty()) return;
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, transposed ? CblasTrans : CblasNoTrans,
              CblasNonUnit, as_int(b.rows), as_int(b.cols), 1, r.data, as_int(r.ld), b.data,
              as_int(b.ld));
}

void solve_triangle(MatrixView<const double> t, Triangle triangle, MatrixView<double> b) {
  constexpr std::int64_t kBlock = 64;
  if (b.empty()) return;
  const auto [upper, transposed, unit] = triangle;
  const bool forward = upper == transposed;
  const std::int64_t n = t.rows, blocks = (n + kBlock - 1) / kBlock;
  for (std::int64_t k = 0; k < blocks; ++k) {
    const std::int64_t i = (forward ? k : blocks - 1 - k) * kBlock;
    const std::int64_t m = std::min(kBlock, n - i);
    const MatrixView<double> bi = b.block(i, 0, m, b.cols);
    // The rows that have been solved.
    const std::int64_t first = forward ? 0 : i + m, count = forward ? i : n - i - m;
    subtract_product(transposed ? t.block(first, i, count, m) : t.block(i, first, m, count),
                     b.block(first, 0, count, b.cols), bi, {transposed, false});
    cblas_dtrsm(CblasColMajor, CblasLeft, upper ? CblasUpper : CblasLower,
                transposed ? CblasTrans : CblasNoTrans, unit ? CblasUnit : CblasNonUnit, as_int(m),
                as_int(b.cols), 1, t.data + i + i * t.ld, as_int(t.ld), bi.data, as_int(bi.ld));
  }
}

void subtract_product(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c,
                      Transposed transposed) {
  const std::int64_t depth = transposed.a ? a.rows : a.cols;
  if (c.empty() || depth == 0) return;
  cblas_dgemm(CblasColMajor, transposed.a ? CblasTrans : CblasNoTrans,
              transposed.b ? CblasTrans : CblasNoTrans, as_int(c.rows), as_int(c.cols),
              as_int(depth), -1, a.data, as_int(a.ld), b.data, as_int(b.ld), 1, c.data,
              as_int(c.ld));
}

}  // namespace stepwell::kernels
