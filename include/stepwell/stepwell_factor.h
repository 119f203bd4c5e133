// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#ifndef STEPWELL_STEPWELL_FACTOR_H
#define STEPWELL_STEPWELL_FACTOR_H

#include "stepwell/stepwell.h"

/// The C interface of factor.hpp: what the Cholesky factor A = L L' of a symmetric positive
/// definite matrix is used for apart from refined solves, at FP64 quality: without refinement and
/// certificate, as accurate as LAPACK's. Return codes, structs and threads as in stepwell.h. Costs
/// and workspace are in factor.hpp.

#ifdef __cplusplus
extern "C" {
#endif

/// A factor, which does not hold A.
typedef struct stepwell_factor stepwell_factor;

/// Options of stepwell_factor_create(), as FactorOptions in factor.hpp. A null pointer to this
/// struct means all defaults. The context and the progress must outlive the factor.
typedef struct stepwell_factor_options {
  size_t size;           ///< sizeof(stepwell_factor_options) of the caller
  int32_t triangle;      ///< stepwell_triangle that is read
  int32_t jitter_tries;  ///< amounts that may be added to the diagonal; default 0
  double jitter_start;   ///< the first one, relative to the mean of the diagonal; default 2^-40
  double jitter_factor;  ///< the next one relative to that before; default 10
  int64_t tile;          ///< order of a tile; 0: chosen by the library
  stepwell_context* context;
  stepwell_progress* progress;
} stepwell_factor_options;
STEPWELL_C_API void stepwell_factor_options_defaults(stepwell_factor_options* options, size_t size);

/// Factors A, n x n. Returns 0, or the outcome, STEPWELL_NOT_POSITIVE_DEFINITE, STEPWELL_NON_FINITE
/// or STEPWELL_CANCELLED, and then a null factor. 'pivot', if it is not null: the failing one, from
/// 0, or -1.
STEPWELL_C_API int stepwell_factor_create(int64_t n, const double* a, int64_t lda,
                                          const stepwell_factor_options* options,
                                          stepwell_factor** factor, int64_t* pivot);
STEPWELL_C_API void stepwell_factor_destroy(stepwell_factor* factor);

/// The factor at FP64 quality of a solver's matrix, which the first call computes unless solves use
/// one: Solver::cholesky_factor(). It is the solver's: it exists as long as that, and is not
/// destroyed. Returns 0, or the outcome and a null factor.
STEPWELL_C_API int stepwell_solver_cholesky(stepwell_solver* solver,
                                            const stepwell_factor** factor);

/// n. 0 for a null factor.
STEPWELL_C_API int64_t stepwell_factor_order(const stepwell_factor* factor);
/// What was added to each diagonal element of A; 0 unless options.jitter_tries allowed it.
STEPWELL_C_API double stepwell_factor_jitter(const stepwell_factor* factor);
/// log det A, and a bound on its rounding error: Factor::log_det() and Factor::log_det_error().
STEPWELL_C_API int stepwell_factor_log_det(const stepwell_factor* factor, double* log);
STEPWELL_C_API int stepwell_factor_log_det_error(const stepwell_factor* factor, double* error);
/// B <- A^-1 B: Factor::solve_unrefined().
STEPWELL_C_API int stepwell_factor_solve_unrefined(const stepwell_factor* factor, int64_t columns,
                                                   double* b, int64_t ldb);
/// B <- L^-1 B: Factor::half_solve().
STEPWELL_C_API int stepwell_factor_half_solve(const stepwell_factor* factor, int64_t columns,
                                              double* b, int64_t ldb);
/// forms[j] = b' A^-1 b of each column b of B: Factor::quadratic_forms().
STEPWELL_C_API int stepwell_factor_quadratic_forms(const stepwell_factor* factor, int64_t columns,
                                                   const double* b, int64_t ldb, double* forms);
/// B <- L B: Factor::multiply().
STEPWELL_C_API int stepwell_factor_multiply(const stepwell_factor* factor, int64_t columns,
                                            double* b, int64_t ldb);
/// inverse <- A^-1, n x n: Factor::inverse(). STEPWELL_CANCELLED: 'inverse' has anything.
STEPWELL_C_API int stepwell_factor_inverse(const stepwell_factor* factor, double* inverse,
                                           int64_t ld);
/// The n diagonal elements of A^-1: Factor::inverse_diagonal().
STEPWELL_C_API int stepwell_factor_inverse_diagonal(const stepwell_factor* factor,
                                                    double* diagonal);
/// trace(A^-1 S), S symmetric, of which the lower triangle is read:
/// Factor::trace_inverse_product().
STEPWELL_C_API int stepwell_factor_trace_inverse_product(const stepwell_factor* factor,
                                                         const double* s, int64_t lds,
                                                         double* trace);
/// Writes L to the lower triangle of l, and zeros above: Factor::copy_to().
STEPWELL_C_API int stepwell_factor_copy_to(const stepwell_factor* factor, double* l, int64_t ld);

/// Appends the last k rows of a matrix of order n + k, k x (n + k): Factor::append(). Returns 0, or
/// STEPWELL_NOT_POSITIVE_DEFINITE, and then the factor is as it was; so it is after an error.
STEPWELL_C_API int stepwell_factor_append(stepwell_factor* factor, int64_t k, const double* rows,
                                          int64_t ld);
/// Drops 'count' different rows and columns of A, from 0 to n - 1: Factor::drop().
STEPWELL_C_API int stepwell_factor_drop(stepwell_factor* factor, int64_t count,
                                        const int64_t* rows);
/// A <- A + V V', V n x k: Factor::update().
STEPWELL_C_API int stepwell_factor_update(stepwell_factor* factor, int64_t k, const double* v,
                                          int64_t ldv);
/// A <- A - V V': Factor::downdate(). Returns 0, or STEPWELL_NOT_POSITIVE_DEFINITE, and then the
/// factor is as it was.
STEPWELL_C_API int stepwell_factor_downdate(stepwell_factor* factor, int64_t k, const double* v,
                                            int64_t ldv);

#ifdef __cplusplus
}
#endif

#endif
