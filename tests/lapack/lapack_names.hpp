// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// LAPACK's names as its users declare them. The hidden string lengths are omitted, as in most C
/// programs.
extern "C" {
void dsposv_(const char* uplo, const int* n, const int* nrhs, double* a, const int* lda, double* b,
             const int* ldb, double* x, const int* ldx, double* work, float* swork, int* iter,
             int* info);
void dposv_(const char* uplo, const int* n, const int* nrhs, double* a, const int* lda, double* b,
            const int* ldb, int* info);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda,
             double* b, const int* ldb, int* info);
void dpocon_(const char* uplo, const int* n, const double* a, const int* lda, const double* anorm,
             double* rcond, double* work, int* iwork, int* info);
void dsgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, double* b,
             const int* ldb, double* x, const int* ldx, double* work, float* swork, int* iter,
             int* info);
void dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, double* b,
            const int* ldb, int* info);
void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda,
             const int* ipiv, double* b, const int* ldb, int* info);
void dgecon_(const char* norm, const int* n, const double* a, const int* lda, const double* anorm,
             double* rcond, double* work, int* iwork, int* info);
void dgels_(const char* trans, const int* m, const int* n, const int* nrhs, double* a,
            const int* lda, double* b, const int* ldb, double* work, const int* lwork, int* info);
void dsposv_64_(const char* uplo, const std::int64_t* n, const std::int64_t* nrhs, double* a,
                const std::int64_t* lda, double* b, const std::int64_t* ldb, double* x,
                const std::int64_t* ldx, double* work, float* swork, std::int64_t* iter,
                std::int64_t* info);
void dposv_64_(const char* uplo, const std::int64_t* n, const std::int64_t* nrhs, double* a,
               const std::int64_t* lda, double* b, const std::int64_t* ldb, std::int64_t* info);
void dpotrf_64_(const char* uplo, const std::int64_t* n, double* a, const std::int64_t* lda,
                std::int64_t* info);
void dpotrs_64_(const char* uplo, const std::int64_t* n, const std::int64_t* nrhs, const double* a,
                const std::int64_t* lda, double* b, const std::int64_t* ldb, std::int64_t* info);
void dpocon_64_(const char* uplo, const std::int64_t* n, const double* a, const std::int64_t* lda,
                const double* anorm, double* rcond, double* work, std::int64_t* iwork,
                std::int64_t* info);
void dsgesv_64_(const std::int64_t* n, const std::int64_t* nrhs, double* a, const std::int64_t* lda,
                std::int64_t* ipiv, double* b, const std::int64_t* ldb, double* x,
                const std::int64_t* ldx, double* work, float* swork, std::int64_t* iter,
                std::int64_t* info);
void dgesv_64_(const std::int64_t* n, const std::int64_t* nrhs, double* a, const std::int64_t* lda,
               std::int64_t* ipiv, double* b, const std::int64_t* ldb, std::int64_t* info);
void dgetrs_64_(const char* trans, const std::int64_t* n, const std::int64_t* nrhs, const double* a,
                const std::int64_t* lda, const std::int64_t* ipiv, double* b,
                const std::int64_t* ldb, std::int64_t* info);
void dgecon_64_(const char* norm, const std::int64_t* n, const double* a, const std::int64_t* lda,
                const double* anorm, double* rcond, double* work, std::int64_t* iwork,
                std::int64_t* info);
void dgels_64_(const char* trans, const std::int64_t* m, const std::int64_t* n,
               const std::int64_t* nrhs, double* a, const std::int64_t* lda, double* b,
               const std::int64_t* ldb, double* work, const std::int64_t* lwork,
               std::int64_t* info);
int LAPACKE_dsposv(int layout, char uplo, int n, int nrhs, double* a, int lda, double* b, int ldb,
                   double* x, int ldx, int* iter);
int LAPACKE_dposv(int layout, char uplo, int n, int nrhs, double* a, int lda, double* b, int ldb);
int LAPACKE_dpotrf(int layout, char uplo, int n, double* a, int lda);
int LAPACKE_dpotrs(int layout, char uplo, int n, int nrhs, const double* a, int lda, double* b,
                   int ldb);
int LAPACKE_dpocon(int layout, char uplo, int n, const double* a, int lda, double anorm,
                   double* rcond);
int LAPACKE_dsgesv(int layout, int n, int nrhs, double* a, int lda, int* ipiv, double* b, int ldb,
                   double* x, int ldx, int* iter);
int LAPACKE_dgesv(int layout, int n, int nrhs, double* a, int lda, int* ipiv, double* b, int ldb);
int LAPACKE_dgetrs(int layout, char trans, int n, int nrhs, const double* a, int lda,
                   const int* ipiv, double* b, int ldb);
int LAPACKE_dgecon(int layout, char norm, int n, const double* a, int lda, double anorm,
                   double* rcond);
int LAPACKE_dgels(int layout, char trans, int m, int n, int nrhs, double* a, int lda, double* b,
                  int ldb);
std::int64_t LAPACKE_dposv_64(int layout, char uplo, std::int64_t n, std::int64_t nrhs, double* a,
                              std::int64_t lda, double* b, std::int64_t ldb);
std::int64_t LAPACKE_dsgesv_64(int layout, std::int64_t n, std::int64_t nrhs, double* a,
                               std::int64_t lda, std::int64_t* ipiv, double* b, std::int64_t ldb,
                               double* x, std::int64_t ldx, std::int64_t* iter);
std::int64_t LAPACKE_dgesv_64(int layout, std::int64_t n, std::int64_t nrhs, double* a,
                              std::int64_t lda, std::int64_t* ipiv, double* b, std::int64_t ldb);
std::int64_t LAPACKE_dgecon_64(int layout, char norm, std::int64_t n, const double* a,
                               std::int64_t lda, double anorm, double* rcond);
}
