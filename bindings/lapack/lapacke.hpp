// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// LAPACKE's functions on top of Spd, General and LeastSquares. They check the same arguments in
/// the same order as LAPACKE.
namespace stepwell::lapack {

template <class Int>
struct LapackeSpd {
  static Int dsposv(int layout, char uplo, Int n, Int nrhs, double* a, Int lda, double* b, Int ldb,
                    double* x, Int ldx, Int* iter);
  static Int dsposv_work(int layout, char uplo, Int n, Int nrhs, double* a, Int lda, double* b,
                         Int ldb, double* x, Int ldx, double* work, float* swork, Int* iter);
  static Int dposv(int layout, char uplo, Int n, Int nrhs, double* a, Int lda, double* b, Int ldb);
  static Int dposv_work(int layout, char uplo, Int n, Int nrhs, double* a, Int lda, double* b,
                        Int ldb);
  static Int dpotrf(int layout, char uplo, Int n, double* a, Int lda);
  static Int dpotrf_work(int layout, char uplo, Int n, double* a, Int lda);
  static Int dpotrs(int layout, char uplo, Int n, Int nrhs, const double* a, Int lda, double* b,
                    Int ldb);
  static Int dpotrs_work(int layout, char uplo, Int n, Int nrhs, const double* a, Int lda,
                         double* b, Int ldb);
  static Int dpocon(int layout, char uplo, Int n, const double* a, Int lda, double anorm,
                    double* rcond);
  static Int dpocon_work(int layout, char uplo, Int n, const double* a, Int lda, double anorm,
                         double* rcond, double* work, Int* iwork);
};

template <class Int>
struct LapackeGeneral {
  static Int dsgesv(int layout, Int n, Int nrhs, double* a, Int lda, Int* ipiv, double* b, Int ldb,
                    double* x, Int ldx, Int* iter);
  static Int dsgesv_work(int layout, Int n, Int nrhs, double* a, Int lda, Int* ipiv, double* b,
                         Int ldb, double* x, Int ldx, double* work, float* swork, Int* iter);
  static Int dgesv(int layout, Int n, Int nrhs, double* a, Int lda, Int* ipiv, double* b, Int ldb);
  static Int dgesv_work(int layout, Int n, Int nrhs, double* a, Int lda, Int* ipiv, double* b,
                        Int ldb);
  static Int dgetrs(int layout, char trans, Int n, Int nrhs, const double* a, Int lda,
                    const Int* ipiv, double* b, Int ldb);
  static Int dgetrs_work(int layout, char trans, Int n, Int nrhs, const double* a, Int lda,
                         const Int* ipiv, double* b, Int ldb);
  static Int dgecon(int layout, char norm, Int n, const double* a, Int lda, double anorm,
                    double* rcond);
  static Int dgecon_work(int layout, char norm, Int n, const double* a, Int lda, double anorm,
                         double* rcond, double* work, Int* iwork);

  static Int dgels(int layout, char trans, Int m, Int n, Int nrhs, double* a, Int lda, double* b,
                   Int ldb);
  static Int dgels_work(int layout, char trans, Int m, Int n, Int nrhs, double* a, Int lda,
                        double* b, Int ldb, double* work, Int lwork);
};

}  // namespace stepwell::lapack
