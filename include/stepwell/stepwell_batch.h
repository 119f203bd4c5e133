// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#ifndef STEPWELL_STEPWELL_BATCH_H
#define STEPWELL_STEPWELL_BATCH_H

#include "stepwell/stepwell.h"

/// Many small symmetric positive definite systems at once, for C; and the half step of alternating
/// least squares that is made of them. Codes, structs and threads as in stepwell.h.

#ifdef __cplusplus
extern "C" {
#endif

/// 'count' matrices of one shape, each column-major, as BatchView in batch.hpp has them: 'data' at
/// a stride, or 'pointers' to each, or 'lanes' of them interleaved.
typedef struct stepwell_batch {
  int32_t format;  ///< stepwell_format
  int32_t reserved;
  void* data;
  void* const* pointers;  ///< null: data
  int64_t count;
  int64_t rows;
  int64_t cols;
  int64_t ld;
  int64_t stride;
  int64_t lanes;  ///< 0: not interleaved
} stepwell_batch;

typedef struct stepwell_batch_options {
  size_t size;
  int32_t triangle;        ///< stepwell_triangle that is read and holds the factor
  int32_t both_triangles;  ///< write the factor's transpose too
  int32_t mixed;           ///< factor in fp32, refine in fp64: of stepwell_batch_solve
  int32_t fast;            ///< approximate square roots
  double tolerance;        ///< of 'mixed'
  stepwell_context* context;
  stepwell_progress* progress;
} stepwell_batch_options;
STEPWELL_C_API void stepwell_batch_options_defaults(stepwell_batch_options* options, size_t size);

/// Each null, or with room for a number for each system; and what comes back of all of them.
typedef struct stepwell_batch_report {
  size_t size;
  int32_t* pivots;           ///< the failing pivot from 0; -1: none
  double* log_determinants;  ///< NaN where a pivot fails
  double* backward_errors;
  int32_t* iterations;  ///< of 'mixed'
  int64_t failures;     ///< out: how many systems failed
  int64_t first_failure;
  int64_t solved_in_fp64;
  double backward_error;
  int32_t threads;
  int32_t reserved;
} stepwell_batch_report;
STEPWELL_C_API void stepwell_batch_report_defaults(stepwell_batch_report* report, size_t size);

/// A -> its Cholesky factor; A and B: B -> X with A X = B, A is not written; both; B -> X with
/// factors. 0: all systems are done; STEPWELL_FAILURES: those that are not are as they were.
/// options and report may be null.
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
/// The best 'lanes' on this machine; format: stepwell_format.
STEPWELL_C_API int stepwell_batch_lanes(int format);

/// A sparse matrix by rows, SparseRows in als.hpp.
typedef struct stepwell_sparse {
  int64_t rows;
  int64_t cols;
  const int64_t* starts;
  const int32_t* columns;
  const float* values;
} stepwell_sparse;

typedef struct stepwell_als_options {
  size_t size;
  int32_t implicit_counts;  ///< 0: ratings
  int32_t weighted;
  float lambda;  ///< 0.1
  float alpha;   ///< 40
  stepwell_context* context;
  stepwell_progress* progress;
} stepwell_als_options;
STEPWELL_C_API void stepwell_als_options_defaults(stepwell_als_options* options, size_t size);

/// One half step: users (factors x ratings->rows) from items (factors x ratings->cols). failed:
/// null, or room for a number for each row, becomes 1 where its system failed.
STEPWELL_C_API int stepwell_als_step(const stepwell_sparse* ratings, int64_t factors,
                                     const float* items, int64_t ld_items, float* users,
                                     int64_t ld_users, const stepwell_als_options* options,
                                     int32_t* failed);
STEPWELL_C_API int stepwell_als_loss(const stepwell_sparse* ratings, int64_t factors,
                                     const float* users, int64_t ld_users, const float* items,
                                     int64_t ld_items, const stepwell_als_options* options,
                                     double* loss);
/// The transpose: starts has cols + 1 numbers, columns and values as many as 'a' has.
STEPWELL_C_API int stepwell_sparse_transpose(const stepwell_sparse* a, int64_t* starts,
                                             int32_t* columns, float* values);

#ifdef __cplusplus
}
#endif

#endif  // STEPWELL_STEPWELL_BATCH_H
