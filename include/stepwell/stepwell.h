// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#ifndef STEPWELL_STEPWELL_H
#define STEPWELL_STEPWELL_H

#include <stddef.h>
#include <stdint.h>

/// Stepwell for C, and for every language that can call C. Matrices are column-major, sizes are
/// 64-bit, nothing is thrown and nothing is printed.
///
/// Functions return
///   0         done; of a solve: converged, x is a solution
///   positive  a numerical outcome, stepwell_outcome: the certificate says more
///   negative  misuse or lack of resources, minus a stepwell_error; nothing was written, and
///             stepwell_last_error() says what is wrong and what to do
///
/// Structs that may grow begin with their size. stepwell_*_defaults() set it, so a program that was
/// compiled with an older header goes on working with a newer library; the other way round a field
/// that the library does not know is refused unless it is zero.
///
/// Calls from several threads at once are fine, but for one solver, which is one thread's at a
/// time.

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define STEPWELL_C_API __attribute__((visibility("default")))
#else
#define STEPWELL_C_API
#endif

enum stepwell_error {
  STEPWELL_INVALID_ARGUMENT = 2,  ///< a negative size, a leading dimension too small, ...
  STEPWELL_TOO_LARGE = 13,        ///< a size that 64-bit arithmetic can't hold
  STEPWELL_UNSUPPORTED = 14,      ///< not in this build, on this machine or in a forked child
  STEPWELL_SHAPE = 16,            ///< sizes that don't fit together
  STEPWELL_CALLBACK = 17,         ///< the caller's function returned something other than 0
  STEPWELL_OUT_OF_MEMORY = 30,
  STEPWELL_INTERNAL = 70  ///< a bug in Stepwell
};

enum stepwell_outcome {
  STEPWELL_CONVERGED = 0,
  STEPWELL_NOT_CONVERGED = 1,
  STEPWELL_NOT_POSITIVE_DEFINITE = 2,
  STEPWELL_SINGULAR = 3,
  STEPWELL_RANK_DEFICIENT = 4,
  STEPWELL_NON_FINITE = 5,
  STEPWELL_ASYMMETRIC = 6,
  STEPWELL_OVERFLOW = 7,
  STEPWELL_CANCELLED = 8,
  STEPWELL_FAILURES = 9,       ///< of a batch: some systems failed, the others are solved
  STEPWELL_CHANGED = 10,       ///< A or b was modified during the call: x is of no use
  STEPWELL_NOT_ATTEMPTED = 11  ///< of a column: nothing was computed for it
};

enum stepwell_structure { STEPWELL_AUTOMATIC = 0, STEPWELL_SPD = 1, STEPWELL_GENERAL = 2 };
enum stepwell_triangle { STEPWELL_LOWER = 0, STEPWELL_UPPER = 1 };
enum stepwell_format { STEPWELL_FP64 = 0, STEPWELL_FP32 = 1 };

/// What a long call is at.
enum stepwell_phase {
  STEPWELL_IDLE = 0,
  STEPWELL_READING = 1,
  STEPWELL_SURVEY = 2,
  STEPWELL_FACTOR = 3,
  STEPWELL_REFINE = 4,
  STEPWELL_CERTIFY = 5,
  STEPWELL_WRITING = 6
};

/// The version of the library that is linked, "major.minor.patch".
STEPWELL_C_API const char* stepwell_version(void);
/// What this thread's last negative code was about; empty if there was none. Valid until the
/// thread's next failing call.
STEPWELL_C_API const char* stepwell_last_error(void);
/// "converged", "not positive definite", ...
STEPWELL_C_API const char* stepwell_outcome_name(int outcome);

/// Worker threads, for programs that want another number than all that the process may have.
/// threads: 0 all, 1 the caller alone. Starts nothing. A context outlives what was given it.
typedef struct stepwell_context stepwell_context;
STEPWELL_C_API int stepwell_context_create(int threads, stepwell_context** context);
STEPWELL_C_API int stepwell_context_threads(const stepwell_context* context);
STEPWELL_C_API void stepwell_context_destroy(stepwell_context* context);

/// Shared between a long call and whoever watches it from another thread. Cancelling may be done
/// from a signal handler: the call ends within a task or two with STEPWELL_CANCELLED. It stays
/// cancelled until stepwell_progress_reset().
typedef struct stepwell_progress stepwell_progress;
STEPWELL_C_API int stepwell_progress_create(stepwell_progress** progress);
STEPWELL_C_API void stepwell_progress_read(const stepwell_progress* progress, int* phase,
                                           int64_t* done, int64_t* total);
STEPWELL_C_API void stepwell_progress_cancel(stepwell_progress* progress);
STEPWELL_C_API void stepwell_progress_reset(stepwell_progress* progress);
STEPWELL_C_API void stepwell_progress_destroy(stepwell_progress* progress);

/// Of stepwell_solve() and solvers; null wherever it is asked for: all defaults.
typedef struct stepwell_options {
  size_t size;             ///< sizeof(stepwell_options) of the caller
  const char* map;         ///< precision map of the factor, "bf16x2"; null: the plan's
  const char* refiner;     ///< "cg", "fgmres", ...; null: what fits the matrix
  int32_t climb;           ///< go on at the next rung, up to FP64; 1
  int32_t iterations;      ///< of each column at a rung, most; 0: while cheaper than the next rung
  double tolerance;        ///< of the backward error; 0: sqrt(n) 2^-53
  int32_t working;         ///< stepwell_format of x while it is refined; STEPWELL_FP64
  int32_t exact_residual;  ///< residuals in double-double
  int32_t triangle;        ///< stepwell_triangle that is read; of STEPWELL_SPD
  int32_t check_symmetry;  ///< compare the two triangles; of STEPWELL_SPD
  int32_t transposed;      ///< solve A' X = B
  int32_t condition;       ///< estimate the condition number
  int32_t prove;           ///< prove the backward error
  int32_t butterfly;       ///< LU without pivots, after random butterflies
  int64_t tile;            ///< 0: chosen
  double shift;            ///< of Cholesky: c of the first attempt
  uint64_t seed;           ///< of the butterflies; 1
  stepwell_context* context;
  stepwell_progress* progress;
} stepwell_options;
STEPWELL_C_API void stepwell_options_defaults(stepwell_options* options, size_t size);

/// One rung that was tried.
typedef struct stepwell_rung {
  char map[64];
  char refiner[16];
  int32_t factored;
  int32_t iterations;
  double error;
  double seconds;
  char reason[128];  ///< why it was left; empty: it was the last
} stepwell_rung;

/// What comes back with x; certificate.hpp says what each number is. Null wherever it is asked for:
/// nobody wants to know. Text that is too long is cut.
typedef struct stepwell_certificate {
  size_t size;              ///< in: sizeof(stepwell_certificate) of the caller
  double* backward_errors;  ///< in: null, or room for a number for each right-hand side
  int32_t* outcomes;        ///< in: null, or room for an outcome for each right-hand side
  int32_t outcome;          ///< stepwell_outcome
  int32_t structure;        ///< stepwell_structure that it was solved as; AUTOMATIC: least squares
  double backward_error;    ///< of the worst column
  double proven_backward_error;
  double forward_error;  ///< NaN: unknown; 0: not asked for
  double tolerance;
  double norm;
  double condition;      ///< NaN: unknown; 0: not asked for
  double residual_norm;  ///< of least squares: the largest ||b - A x||_2
  double shift;
  double pivot_value;
  int64_t pivot;  ///< from 0; -1: none
  int64_t row;
  int64_t col;
  int64_t rank;  ///< of least squares; -1: not known
  int64_t peak_bytes;
  int32_t in_b;
  int32_t iterations;
  double analysis_seconds;
  double factor_seconds;
  double refine_seconds;
  double certify_seconds;
  double seconds;
  char map[64];
  char refiner[16];
  char reason[512];  ///< a sentence for people, when the outcome is not STEPWELL_CONVERGED
  int32_t rung_count;
  stepwell_rung rungs[8];  ///< the last of them, if there were more
} stepwell_certificate;
STEPWELL_C_API void stepwell_certificate_defaults(stepwell_certificate* certificate, size_t size);

/// Solves A X = B. a: n x n with leading dimension lda, read only; b: n x columns; x: the same, it
/// may be b itself (then ldx = ldb). x is written only where the outcome is CONVERGED,
/// NOT_CONVERGED or OVERFLOW.
STEPWELL_C_API int stepwell_solve(int structure, int64_t n, int64_t columns, const double* a,
                                  int64_t lda, const double* b, int64_t ldb, double* x, int64_t ldx,
                                  const stepwell_options* options,
                                  stepwell_certificate* certificate);

/// What the cost model says before work starts.
typedef struct stepwell_plan {
  size_t size;  ///< in: sizeof(stepwell_plan) of the caller
  char map[64];
  char refiner[16];
  int32_t iterations;
  double seconds;
  int64_t bytes;      ///< of memory beside A, b and x at the first rung
  int64_t top_bytes;  ///< the most it may take
} stepwell_plan;
STEPWELL_C_API void stepwell_plan_defaults(stepwell_plan* plan, size_t size);
/// structure: STEPWELL_SPD or STEPWELL_GENERAL.
STEPWELL_C_API int stepwell_plan_solve(int structure, int64_t n, int64_t columns,
                                       const stepwell_options* options, stepwell_plan* plan);

/// A factored once, for systems that come later. a must live and stay as it is as long as the
/// solver; so must options' context and progress. Creating one starts nothing.
typedef struct stepwell_solver stepwell_solver;
STEPWELL_C_API int stepwell_solver_create(int structure, int64_t n, const double* a, int64_t lda,
                                          const stepwell_options* options,
                                          stepwell_solver** solver);
/// Makes the factor unless it is there; 0: there is one to solve with.
STEPWELL_C_API int stepwell_solver_factor(stepwell_solver* solver,
                                          stepwell_certificate* certificate);
/// transposed: solve A' X = B.
STEPWELL_C_API int stepwell_solver_solve(stepwell_solver* solver, int transposed, int64_t columns,
                                         const double* b, int64_t ldb, double* x, int64_t ldx,
                                         stepwell_certificate* certificate);
/// An estimate of ||A^-1|| in the infinity norm; transposed: in the 1-norm. NaN: it is not
/// known.
STEPWELL_C_API int stepwell_solver_inverse_norm(stepwell_solver* solver, int transposed,
                                                double* norm);
STEPWELL_C_API void stepwell_solver_destroy(stepwell_solver* solver);

/// A matrix of many rows: data with strides, of which one is 1, or a function that fills 'out' with
/// the rows [first, first + count), one after the other. It is called from any thread, never from
/// two at once; other than 0 ends the call with -STEPWELL_CALLBACK.
typedef struct stepwell_tall {
  int64_t rows;
  int64_t cols;
  const double* data;
  int64_t row_stride;
  int64_t col_stride;
  int (*read)(void* user, int64_t first, int64_t count, double* out);
  void* user;
} stepwell_tall;

typedef struct stepwell_lstsq_options {
  size_t size;
  const char* rung;     ///< of the Gram matrix; null: the plan's
  const char* refiner;  ///< null: cg
  int32_t climb;        ///< 1
  int32_t qr;           ///< FP64 QR at once
  double tolerance;     ///< 0: sqrt(n) 2^-53, at least 2^-52
  int32_t iterations;
  int32_t reserved;       ///< 0
  double lambda;          ///< of ridge regression
  const double* weights;  ///< null, or one number for each column of A
  stepwell_context* context;
  stepwell_progress* progress;
} stepwell_lstsq_options;
STEPWELL_C_API void stepwell_lstsq_options_defaults(stepwell_lstsq_options* options, size_t size);

/// x minimises ||b - A x||_2, with lambda ||b - A x||^2 + lambda x'Dx. b: rows x columns, x: cols x
/// columns. dependent: null, or room for A's columns, becomes 1 where a column depends on others.
STEPWELL_C_API int stepwell_lstsq(const stepwell_tall* a, int64_t columns, const double* b,
                                  int64_t ldb, double* x, int64_t ldx,
                                  const stepwell_lstsq_options* options,
                                  stepwell_certificate* certificate, int32_t* dependent);
STEPWELL_C_API int stepwell_plan_lstsq(int64_t m, int64_t n, int64_t columns,
                                       const stepwell_lstsq_options* options, stepwell_plan* plan);

#ifdef __cplusplus
}
#endif

#endif  // STEPWELL_STEPWELL_H
