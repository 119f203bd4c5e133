// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#ifndef STEPWELL_STEPWELL_BATCH_H
#define STEPWELL_STEPWELL_BATCH_H

#include "stepwell/stepwell.h"

/// The C interface of batch.hpp and als.hpp: batches of small symmetric positive definite systems,
/// and a half step of alternating least squares. Return codes, structs and threads as in
/// stepwell.h.

#ifdef __cplusplus
extern "C" {
#endif

/// 'count' column-major matrices of the same shape, as BatchView in batch.hpp: strided in 'data',
/// at the addresses 'pointers', or interleaved in groups of 'lanes'.
typedef struct stepwell_batch {
  int32_t format;  ///< stepwell_format
  int32_t reserved;
  void* data;
  void* const* pointers;  ///< null: 'data' is used
  int64_t count;
  int64_t rows;
  int64_t cols;
  int64_t ld;
  int64_t stride;
  int64_t lanes;  ///< 0: not interleaved
} stepwell_batch;

/// Options of the batch functions, as BatchOptions in batch.hpp.
typedef struct stepwell_batch_options {
  size_t size;             ///< sizeof(stepwell_batch_options) of the caller
  int32_t triangle;        ///< stepwell_triangle that is read and holds the factor
  int32_t both_triangles;  ///< also write the transpose of the factor
  int32_t mixed;           ///< stepwell_batch_solve() only: factor in fp32, refine in fp64
  int32_t fast;            ///< approximate square roots
  double tolerance;        ///< for 'mixed': backward error
  stepwell_context* context;
  stepwell_progress* progress;
} stepwell_batch_options;
STEPWELL_C_API void stepwell_batch_options_defaults(stepwell_batch_options* options, size_t size);

/// Results of a batch call: optional arrays, each null or with an element per system, and the
/// summary of all systems, as BatchOutputs and BatchReport in batch.hpp.
typedef struct stepwell_batch_report {
  size_t size;               ///< in: sizeof(stepwell_batch_report) of the caller
  int32_t* pivots;           ///< in: array for the failing pivot, from 0; -1: none
  double* log_determinants;  ///< in: array; NaN where a pivot fails
  double* backward_errors;   ///< in: array; NaN where a pivot fails
  int32_t* iterations;       ///< in: array, for 'mixed'
  int64_t failures;          ///< out: number of systems that failed
  int64_t first_failure;     ///< out: the first system that failed; -1: none
  int64_t solved_in_fp64;
  double backward_error;
  int32_t threads;
  int32_t reserved;
} stepwell_batch_report;
STEPWELL_C_API void stepwell_batch_report_defaults(stepwell_batch_report* report, size_t size);

/// batch_cholesky(), batch_solve(), batch_factor_solve() and batch_substitute() of batch.hpp:
/// factor A; solve A X = B without writing A; factor and solve; solve with existing factors. X
/// overwrites B. The functions return 0 if all systems succeeded, and STEPWELL_FAILURES if some
/// failed; the matrices of those are unchanged. options and report may be null.
STEPWELL_C_API int stepwell_batch_cholesky(const stepwell_batch* a,
                                           const stepwell_batch_options* options,
                                           stepwell_batch_report* report);
STEPWELL_C_API int stepwell_batch_solve(const stepwell_batch* a, const stepwell_batch* b,
                                        const stepwell_batch_options* options,
                                        stepwell_batch_report* report);
STEPWELL_C_API int stepwell_batch_factor_solve(const stepwell_batch* a, const stepwell_batch* b,
                                               const stepwell_batch_options* options,
                                               stepwell_batch_report* report);
STEPWELL_C_API int stepwell_batch_substitute(const stepwell_batch* factor, const stepwell_batch* b,
                                             const stepwell_batch_options* options,
                                             stepwell_batch_report* report);
/// The best 'lanes' for an interleaved batch on this machine. format: a stepwell_format.
STEPWELL_C_API int stepwell_batch_lanes(int format);

/// A sparse matrix in CSR format, as SparseRows in als.hpp.
typedef struct stepwell_sparse {
  int64_t rows;
  int64_t cols;
  const int64_t* starts;
  const int32_t* columns;
  const float* values;
} stepwell_sparse;

/// Options of the ALS functions, as AlsOptions in als.hpp.
typedef struct stepwell_als_options {
  size_t size;              ///< sizeof(stepwell_als_options) of the caller
  int32_t implicit_counts;  ///< 0: explicit ratings
  int32_t weighted;
  float lambda;  ///< default 0.1
  float alpha;   ///< default 40
  stepwell_context* context;
  stepwell_progress* progress;
} stepwell_als_options;
STEPWELL_C_API void stepwell_als_options_defaults(stepwell_als_options* options, size_t size);

/// One half step of ALS, als_step() in als.hpp: computes users (factors x ratings->rows) from items
/// (factors x ratings->cols). failed: null, or an array with an element per row of ratings, set to
/// 1 for each row whose system failed and to 0 for the others.
STEPWELL_C_API int stepwell_als_step(const stepwell_sparse* ratings, int64_t factors,
                                     const float* items, int64_t ld_items, float* users,
                                     int64_t ld_users, const stepwell_als_options* options,
                                     int32_t* failed);
/// The loss that stepwell_als_step() minimises, als_loss() in als.hpp.
STEPWELL_C_API int stepwell_als_loss(const stepwell_sparse* ratings, int64_t factors,
                                     const float* users, int64_t ld_users, const float* items,
                                     int64_t ld_items, const stepwell_als_options* options,
                                     double* loss);
/// Writes the transpose of 'a': starts has a->cols + 1 elements, columns and values have as many as
/// those of 'a'.
STEPWELL_C_API int stepwell_sparse_transpose(const stepwell_sparse* a, int64_t* starts,
                                             int32_t* columns, float* values);

#ifdef __cplusplus
}
#endif

#endif  // STEPWELL_STEPWELL_BATCH_H
