// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#ifndef STEPWELL_STEPWELL_H
#define STEPWELL_STEPWELL_H

#include <stddef.h>
#include <stdint.h>

/// The C interface of Stepwell, also for languages that can call C. Matrices are column-major,
/// sizes are 64-bit, nothing is thrown and nothing is printed. Cost and workspace of a function are
/// those of the C++ function with the same name.
///
/// Functions return
///   0         success; for a solve: converged, x is a solution
///   positive  a numerical outcome, a stepwell_outcome; the certificate has the details
///   negative  misuse or lack of resources: minus a stepwell_error. Nothing was written, and
///             stepwell_last_error() says what is wrong and what to do
///
/// Structs that may grow in later versions begin with their size, which stepwell_*_defaults() set.
/// A program that was compiled with an older header therefore works with a newer library. With an
/// older library, a field that the library does not know is an error unless it is zero.
///
/// All functions may be called concurrently from several threads, except that only one thread at a
/// time may use a given solver.

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
  STEPWELL_TOO_LARGE = 13,        ///< a size exceeds 64-bit arithmetic
  STEPWELL_UNSUPPORTED = 14,      ///< not in this build, on this machine or in a forked child
  STEPWELL_SHAPE = 16,            ///< inconsistent sizes
  STEPWELL_CALLBACK = 17,         ///< the caller's function returned a value other than 0
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
  STEPWELL_FAILURES = 9,       ///< for a batch: some systems failed, the others are solved
  STEPWELL_CHANGED = 10,       ///< A or b was modified during the call: x is unusable
  STEPWELL_NOT_ATTEMPTED = 11  ///< for a column: nothing was computed for it
};

enum stepwell_structure {
  STEPWELL_AUTOMATIC = 0,
  STEPWELL_SPD = 1,
  STEPWELL_GENERAL = 2,
  STEPWELL_LEAST_SQUARES = 3  ///< in certificates only
};
enum stepwell_triangle { STEPWELL_LOWER = 0, STEPWELL_UPPER = 1 };
enum stepwell_format { STEPWELL_FP64 = 0, STEPWELL_FP32 = 1 };

/// The phase that a long call is in.
enum stepwell_phase {
  STEPWELL_IDLE = 0,
  STEPWELL_READING = 1,
  STEPWELL_ANALYSIS = 2,
  STEPWELL_FACTOR = 3,
  STEPWELL_REFINE = 4,
  STEPWELL_CERTIFY = 5,
  STEPWELL_WRITING = 6
};

/// The version of the library that is linked, "major.minor.patch".
STEPWELL_C_API const char* stepwell_version(void);
/// The message for this thread's last negative code; empty if there was none. Valid until the next
/// failing call of this thread.
STEPWELL_C_API const char* stepwell_last_error(void);
/// "converged", "not positive definite", ...
STEPWELL_C_API const char* stepwell_outcome_name(int outcome);

/// Worker threads, for calls that want a number other than stepwell_num_threads(). threads: 0: that
/// number; 1: only the caller's thread. Creating a context starts no threads. A context must
/// outlive the calls and solvers that it was given to.
typedef struct stepwell_context stepwell_context;
STEPWELL_C_API int stepwell_context_create(int threads, stepwell_context** context);
STEPWELL_C_API int stepwell_context_threads(const stepwell_context* context);
STEPWELL_C_API void stepwell_context_destroy(stepwell_context* context);

/// The number of threads of calls without a context, and how to change it: num_threads() and
/// set_num_threads() in context.hpp.
STEPWELL_C_API int stepwell_num_threads(void);
STEPWELL_C_API int stepwell_set_num_threads(int threads);

/// Memory that calls keep for the next ones: set_memory_cache() and release_memory() in
/// context.hpp.
STEPWELL_C_API int stepwell_set_memory_cache(int64_t bytes);
STEPWELL_C_API void stepwell_release_memory(void);

/// Progress of a long call, to be read from another thread. stepwell_progress_cancel() may be
/// called in a signal handler: the call ends within a task or two with STEPWELL_CANCELLED. The
/// object stays cancelled until stepwell_progress_reset().
typedef struct stepwell_progress stepwell_progress;
STEPWELL_C_API int stepwell_progress_create(stepwell_progress** progress);
STEPWELL_C_API void stepwell_progress_read(const stepwell_progress* progress, int* phase,
                                           int64_t* done, int64_t* total);
STEPWELL_C_API void stepwell_progress_cancel(stepwell_progress* progress);
STEPWELL_C_API void stepwell_progress_reset(stepwell_progress* progress);
STEPWELL_C_API void stepwell_progress_destroy(stepwell_progress* progress);

/// Options of stepwell_solve() and of solvers, as SolveOptions in solve.hpp. A null pointer to this
/// struct means all defaults.
typedef struct stepwell_options {
  size_t size;             ///< sizeof(stepwell_options) of the caller
  const char* map;         ///< precision map of the factor, "bf16x2"; null: chosen by the plan
  const char* refiner;     ///< "cg", "fgmres", ...; null: chosen by the structure of A
  int32_t climb;           ///< climb to the next rung if necessary, up to FP64; default 1
  int32_t iterations;      ///< limit per column and rung; 0: while cheaper than the next rung
  double tolerance;        ///< on the backward error; 0: sqrt(n) 2^-53
  int32_t working;         ///< stepwell_format of x during refinement; default STEPWELL_FP64
  int32_t exact_residual;  ///< residuals in double-double
  int32_t triangle;        ///< STEPWELL_SPD: stepwell_triangle that is read
  int32_t check_symmetry;  ///< STEPWELL_SPD: compare the two triangles
  int32_t transposed;      ///< solve A' X = B
  int32_t condition;       ///< estimate the condition number
  int32_t prove;           ///< prove a bound on the backward error
  int32_t butterfly;       ///< LU without pivoting, after random butterflies
  int64_t tile;            ///< order of a tile; 0: chosen by the library
  double shift;            ///< Cholesky: c of the first attempt
  uint64_t seed;           ///< random seed of the butterflies; default 1
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
  char reason[128];  ///< why the solver climbed to the next rung; empty: this was the last rung
} stepwell_rung;

/// The result of a solve; certificate.hpp documents the fields. A null pointer to this struct means
/// that the caller does not need it. Text that is too long is truncated.
typedef struct stepwell_certificate {
  size_t size;              ///< in: sizeof(stepwell_certificate) of the caller
  double* backward_errors;  ///< in: null, or an array with an element per right-hand side
  int32_t* outcomes;        ///< in: null, or an array with an element per right-hand side
  int32_t outcome;          ///< stepwell_outcome
  int32_t structure;        ///< stepwell_structure that was used
  double backward_error;    ///< the largest of all columns
  double proven_backward_error;
  double forward_error;  ///< NaN: unknown; 0: not computed
  double tolerance;
  double norm;
  double condition;      ///< NaN: unknown; 0: not computed
  double residual_norm;  ///< least squares: the largest ||b - A x||_2
  double shift;
  double pivot_value;
  int64_t pivot;  ///< from 0; -1: none
  int64_t row;
  int64_t col;
  int64_t rank;  ///< least squares: rank of A; -1: unknown
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
  char reason[512];  ///< explanation for people if the outcome is not STEPWELL_CONVERGED
  int32_t rung_count;
  stepwell_rung rungs[8];  ///< the rungs tried; the last eight if there were more
  int32_t threads;         ///< number of threads that the call could use
  char threads_reason[44];
} stepwell_certificate;
STEPWELL_C_API void stepwell_certificate_defaults(stepwell_certificate* certificate, size_t size);

/// Solves A X = B: solve() in solve.hpp. Entry: a is n x n with leading dimension lda and is only
/// read; b and x are n x columns; x may be b itself (then ldx = ldb). Exit: x is written only if
/// the outcome is CONVERGED, NOT_CONVERGED, OVERFLOW or CHANGED (x is then unusable).
STEPWELL_C_API int stepwell_solve(int structure, int64_t n, int64_t columns, const double* a,
                                  int64_t lda, const double* b, int64_t ldb, double* x, int64_t ldx,
                                  const stepwell_options* options,
                                  stepwell_certificate* certificate);

/// The prediction of the cost model before a solve, as Plan in solve.hpp.
typedef struct stepwell_plan {
  size_t size;  ///< in: sizeof(stepwell_plan) of the caller
  char map[64];
  char refiner[16];
  int32_t iterations;
  double seconds;
  int64_t bytes;      ///< memory at the first rung, in addition to A, b and x
  int64_t top_bytes;  ///< the maximum over all rungs that the solve may use
} stepwell_plan;
STEPWELL_C_API void stepwell_plan_defaults(stepwell_plan* plan, size_t size);
/// Predicts the cost of stepwell_solve(). structure: STEPWELL_SPD or STEPWELL_GENERAL.
STEPWELL_C_API int stepwell_plan_solve(int structure, int64_t n, int64_t columns,
                                       const stepwell_options* options, stepwell_plan* plan);

/// A matrix that is factored once and solved with many times: Solver in solve.hpp. a must stay
/// valid and unchanged for the lifetime of the solver, and so must the context and progress of the
/// options. Creating a solver computes nothing yet.
typedef struct stepwell_solver stepwell_solver;
STEPWELL_C_API int stepwell_solver_create(int structure, int64_t n, const double* a, int64_t lda,
                                          const stepwell_options* options,
                                          stepwell_solver** solver);
/// Computes the factor unless there is one. Returns 0 if there is a factor to solve with.
STEPWELL_C_API int stepwell_solver_factor(stepwell_solver* solver,
                                          stepwell_certificate* certificate);
/// Solves with the existing factor: A' X = B if 'transposed' or options.transposed is not 0, else
/// A X = B. b and x as in stepwell_solve().
STEPWELL_C_API int stepwell_solver_solve(stepwell_solver* solver, int transposed, int64_t columns,
                                         const double* b, int64_t ldb, double* x, int64_t ldx,
                                         stepwell_certificate* certificate);
/// An estimate of ||A^-1|| in the infinity norm, or in the 1-norm if 'transposed' is not 0. NaN:
/// unknown.
STEPWELL_C_API int stepwell_solver_inverse_norm(stepwell_solver* solver, int transposed,
                                                double* norm);
/// log |det A| and its sign (which may be null): Solver::log_det(). For other uses of a factor see
/// stepwell_factor.h.
STEPWELL_C_API int stepwell_solver_log_det(stepwell_solver* solver, double* log, int* sign);
STEPWELL_C_API void stepwell_solver_destroy(stepwell_solver* solver);

/// A matrix with many rows: either 'data' with two strides, one of which is 1, or a function that
/// fills 'out' with the rows [first, first + count), one after the other. The function is called
/// from any thread, but never concurrently. If it returns a value other than 0, the call ends with
/// -STEPWELL_CALLBACK.
typedef struct stepwell_tall {
  int64_t rows;
  int64_t cols;
  const double* data;
  int64_t row_stride;
  int64_t col_stride;
  int (*read)(void* user, int64_t first, int64_t count, double* out);
  void* user;
} stepwell_tall;

/// Options of stepwell_lstsq(), as LeastSquaresOptions in lstsq.hpp.
typedef struct stepwell_lstsq_options {
  size_t size;          ///< sizeof(stepwell_lstsq_options) of the caller
  const char* map;      ///< precision map of the Gram matrix, one rung; null: chosen by the plan
  const char* refiner;  ///< null: cg
  int32_t climb;        ///< climb to the next rung if necessary, up to QR; default 1
  int32_t qr;           ///< QR in FP64 from the start
  double tolerance;     ///< 0: sqrt(n) 2^-53, at least 2^-52
  int32_t iterations;
  int32_t minimum_norm;   ///< the x of least norm where the minimiser is not unique; default 0
  double lambda;          ///< ridge parameter
  const double* weights;  ///< null, or one weight for each column of A
  stepwell_context* context;
  stepwell_progress* progress;
} stepwell_lstsq_options;
STEPWELL_C_API void stepwell_lstsq_options_defaults(stepwell_lstsq_options* options, size_t size);

/// Minimises ||b - A x||_2, or with lambda ||b - A x||^2 + lambda x'Dx: lstsq() in lstsq.hpp.
/// Entry: b is rows x columns, x is cols x columns. dependent: null, or an array with an element
/// per column of A. Exit: x, and in 'dependent' 1 for each column that depends on others, 0 for the
/// rest.
STEPWELL_C_API int stepwell_lstsq(const stepwell_tall* a, int64_t columns, const double* b,
                                  int64_t ldb, double* x, int64_t ldx,
                                  const stepwell_lstsq_options* options,
                                  stepwell_certificate* certificate, int32_t* dependent);
/// Predicts the cost of stepwell_lstsq().
STEPWELL_C_API int stepwell_plan_lstsq(int64_t m, int64_t n, int64_t columns,
                                       const stepwell_lstsq_options* options, stepwell_plan* plan);

#ifdef __cplusplus
}
#endif

#endif  // STEPWELL_STEPWELL_H
