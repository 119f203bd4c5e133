// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "stepwell/error.hpp"

/// LAPACK's factorizations and solvers, used as baselines.
extern "C" {
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info, std::size_t);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, std::size_t);
void dposv_(const char* uplo, const int* n, const int* nrhs, double* a, const int* lda, double* b,
            const int* ldb, int* info, std::size_t);
void dsposv_(const char* uplo, const int* n, const int* nrhs, double* a, const int* lda,
             const double* b, const int* ldb, double* x, const int* ldx, double* work, float* swork,
             int* iter, int* info, std::size_t);
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);
void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda,
             const int* ipiv, double* b, const int* ldb, int* info, std::size_t);
void dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, double* b,
            const int* ldb, int* info);
void dsgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, const double* b,
             const int* ldb, double* x, const int* ldx, double* work, float* swork, int* iter,
             int* info);
void dgels_(const char* trans, const int* m, const int* n, const int* nrhs, double* a,
            const int* lda, double* b, const int* ldb, double* work, const int* lwork, int* info,
            std::size_t);
void dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a,
             const int* lda, double* s, double* u, const int* ldu, double* vt, const int* ldvt,
             double* work, const int* lwork, int* info, std::size_t, std::size_t);
}

namespace stepwell::bench {

/// Factors the lower triangle of the n x n matrix in place; returns LAPACK's info.
inline int potrf(float* a, std::int64_t n) {
  const auto order = static_cast<int>(n);
  int failed = 0;
  spotrf_("L", &order, a, &order, &failed, 1);
  return failed;
}
inline int potrf(double* a, std::int64_t n) {
  const auto order = static_cast<int>(n);
  int failed = 0;
  dpotrf_("L", &order, a, &order, &failed, 1);
  return failed;
}

/// Solves A X = B; both are overwritten, B by X. Returns LAPACK's info.
inline int posv(double* a, std::int64_t n, double* b, std::int64_t columns) {
  const auto order = static_cast<int>(n);
  const auto nrhs = static_cast<int>(columns);
  int failed = 0;
  dposv_("L", &order, &nrhs, a, &order, b, &order, &failed, 1);
  return failed;
}

/// The same with an fp32 factorization and refinement. work: n x columns; narrow: n x (n +
/// columns).
inline int sposv(double* a, std::int64_t n, const double* b, std::int64_t columns, double* x,
                 double* work, float* narrow, int* iterations) {
  const auto order = static_cast<int>(n);
  const auto nrhs = static_cast<int>(columns);
  int failed = 0;
  dsposv_("L", &order, &nrhs, a, &order, b, &order, x, &order, work, narrow, iterations, &failed,
          1);
  return failed;
}

/// The same for a general matrix; getrs() solves with getrf()'s factor. pivots has n elements.
inline int getrf(double* a, std::int64_t n, int* pivots) {
  const auto order = static_cast<int>(n);
  int failed = 0;
  dgetrf_(&order, &order, a, &order, pivots, &failed);
  return failed;
}
inline int getrs(const double* factor, std::int64_t n, const int* pivots, double* b) {
  const auto order = static_cast<int>(n);
  const int one = 1;
  int failed = 0;
  dgetrs_("N", &order, &one, factor, &order, pivots, b, &order, &failed, 1);
  return failed;
}
inline int gesv(double* a, std::int64_t n, int* pivots, double* b, std::int64_t columns) {
  const auto order = static_cast<int>(n);
  const auto nrhs = static_cast<int>(columns);
  int failed = 0;
  dgesv_(&order, &nrhs, a, &order, pivots, b, &order, &failed);
  return failed;
}
inline int sgesv(double* a, std::int64_t n, int* pivots, const double* b, std::int64_t columns,
                 double* x, double* work, float* narrow, int* iterations) {
  const auto order = static_cast<int>(n);
  const auto nrhs = static_cast<int>(columns);
  int failed = 0;
  dsgesv_(&order, &nrhs, a, &order, pivots, b, &order, x, &order, work, narrow, iterations,
          &failed);
  return failed;
}

}  // namespace stepwell::bench
