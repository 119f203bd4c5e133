// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cblas.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/blas/blas.hpp"
#include "kernels/reference/reference.hpp"

namespace stepwell::kernels {
namespace {

/// Largest order of the diagonal blocks of a lower update with different operands: their product
/// goes through a buffer on the stack (32 KiB in fp64), so that the elements above the diagonal
/// stay unchanged.
constexpr std::int64_t kDiagonal = 64;

void gemm(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
          float beta, float* c, int ldc) {
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, n, k, alpha, a, lda, b, ldb, beta, c,
              ldc);
}

void gemm(int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb,
          double beta, double* c, int ldc) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, n, k, alpha, a, lda, b, ldb, beta, c,
              ldc);
}

void syrk(int n, int k, float alpha, const float* a, int lda, float beta, float* c, int ldc) {
  cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, alpha, a, lda, beta, c, ldc);
}

void syrk(int n, int k, double alpha, const double* a, int lda, double beta, double* c, int ldc) {
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, alpha, a, lda, beta, c, ldc);
}

/// The reference loop, for sizes that CBLAS can't handle.
template <class T>
DenseUpdateFn<T>* reference_update() {
  static const Table t = [] {
    Table r;
    fill_reference_update(r);
    return r;
  }();
  if constexpr (std::is_same_v<T, float>) {
    return t.update_fp32.run;
  } else {
    return t.update_fp64.run;
  }
}

template <class T>
bool fits_int(MatrixView<T> a) {
  return std::max({a.rows, a.cols, a.ld}) <= std::numeric_limits<int>::max();
}

template <class T>
int ld_of(MatrixView<T> a) {
  return static_cast<int>(a.ld);
}

template <class T>
void full_update(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, Write write) {
  if (c.empty()) return;
  const bool assign = write == Write::assign;
  gemm(static_cast<int>(c.rows), static_cast<int>(c.cols), static_cast<int>(a.cols),
       assign ? T{1} : T{-1}, a.data, ld_of(a), b.data, ld_of(b), assign ? T{0} : T{1}, c.data,
       ld_of(c));
}

template <class T>
void diagonal_update(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, Write write) {
  alignas(64) T buffer[kDiagonal * kDiagonal];
  const MatrixView<T> p = view(buffer, c.rows, c.cols);
  full_update(a, b, p, Write::assign);
  for (std::int64_t j = 0; j < c.cols; ++j) {
    for (std::int64_t i = j; i < c.rows; ++i) {
      c(i, j) = write == Write::assign ? p(i, j) : c(i, j) - p(i, j);
    }
  }
}

/// Updates the lower triangle of a square C.
template <class T>
void lower_update(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, Write write) {
  const std::int64_t n = c.cols;
  const std::int64_t k = a.cols;
  if (a.data == b.data && a.ld == b.ld) {
    const bool assign = write == Write::assign;
    return syrk(static_cast<int>(n), static_cast<int>(k), assign ? T{1} : T{-1}, a.data, ld_of(a),
                assign ? T{0} : T{1}, c.data, ld_of(c));
  }
  if (n <= kDiagonal) return diagonal_update(a, b, c, write);
  const std::int64_t h = (n / 2 + kDiagonal - 1) / kDiagonal * kDiagonal;
  lower_update(a.block(0, 0, h, k), b.block(0, 0, h, k), c.block(0, 0, h, h), write);
  full_update(a.block(h, 0, n - h, k), b.block(0, 0, h, k), c.block(h, 0, n - h, h), write);
  lower_update(a.block(h, 0, n - h, k), b.block(h, 0, n - h, k), c.block(h, h, n - h, n - h),
               write);
}

template <class T>
void blas_update(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, Shape shape,
                 Write write) noexcept {
  const bool nothing_to_add = a.cols == 0;  // CBLAS libraries differ in what they do with k = 0
  if (nothing_to_add || !fits_int(a) || !fits_int(b) || !fits_int(c)) {
    return reference_update<T>()(a, b, c, shape, write);
  }
  if (c.empty()) return;
  if (shape == Shape::full) return full_update(a, b, c, write);
  const std::int64_t n = std::min(c.rows, c.cols);
  const std::int64_t k = a.cols;
  lower_update(a.block(0, 0, n, k), b.block(0, 0, n, k), c.block(0, 0, n, n), write);
  full_update(a.block(n, 0, c.rows - n, k), b.block(0, 0, n, k), c.block(n, 0, c.rows - n, n),
              write);
}

}  // namespace

void fill_blas_update(Table& t) {
  t.update_fp32 = {&blas_update<float>, "update_fp32_cblas", core::Isa::baseline};
  t.update_fp64 = {&blas_update<double>, "update_fp64_cblas", core::Isa::baseline};
}

}  // namespace stepwell::kernels
