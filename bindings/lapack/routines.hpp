// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// The routines for both integer widths. Arguments are LAPACK's, in its order, without the hidden
/// lengths of character arguments.
namespace stepwell::lapack {

/// Symmetric positive definite systems.
template <class Int>
struct Spd {
  static void dsposv(const char* uplo, const Int* n, const Int* nrhs, double* a, const Int* lda,
                     double* b, const Int* ldb, double* x, const Int* ldx, double* work,
                     float* swork, Int* iter, Int* info);
  static void dposv(const char* uplo, const Int* n, const Int* nrhs, double* a, const Int* lda,
                    double* b, const Int* ldb, Int* info);
  static void dpotrf(const char* uplo, const Int* n, double* a, const Int* lda, Int* info);
  static void dpotrs(const char* uplo, const Int* n, const Int* nrhs, const double* a,
                     const Int* lda, double* b, const Int* ldb, Int* info);
  static void dpocon(const char* uplo, const Int* n, const double* a, const Int* lda,
                     const double* anorm, double* rcond, double* work, Int* iwork, Int* info);
};

/// General systems.
template <class Int>
struct General {
  static void dsgesv(const Int* n, const Int* nrhs, double* a, const Int* lda, Int* ipiv, double* b,
                     const Int* ldb, double* x, const Int* ldx, double* work, float* swork,
                     Int* iter, Int* info);
  static void dgesv(const Int* n, const Int* nrhs, double* a, const Int* lda, Int* ipiv, double* b,
                    const Int* ldb, Int* info);
  static void dgetrs(const char* trans, const Int* n, const Int* nrhs, const double* a,
                     const Int* lda, const Int* ipiv, double* b, const Int* ldb, Int* info);
  static void dgecon(const char* norm, const Int* n, const double* a, const Int* lda,
                     const double* anorm, double* rcond, double* work, Int* iwork, Int* info);
};

/// Least squares.
template <class Int>
struct LeastSquares {
  static void dgels(const char* trans, const Int* m, const Int* n, const Int* nrhs, double* a,
                    const Int* lda, double* b, const Int* ldb, double* work, const Int* lwork,
                    Int* info);
};

}  // namespace stepwell::lapack
