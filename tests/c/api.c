// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The C interface, tested by a program that uses only C and the C headers. The systems have known
// solutions; failed checks are printed, and then the exit code is 1.
#define _GNU_SOURCE  // MAP_NORESERVE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "stepwell/stepwell_batch.h"
#include "stepwell/stepwell_factor.h"

static int failures = 0;

static void check(int ok, const char* what, int line) {
  if (ok) return;
  fprintf(stderr, "line %d: %s: %s\n", line, what, stepwell_last_error());
  ++failures;
}
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)

// A pseudorandom value in [-1, 1), the same on every machine.
static double number(int64_t i, int64_t j) {
  uint64_t s = (uint64_t)i * 0x9e3779b97f4a7c15u + (uint64_t)j * 0xbf58476d1ce4e5b9u + 1;
  s = (s ^ (s >> 30)) * 0xbf58476d1ce4e5b9u;
  s = (s ^ (s >> 27)) * 0x94d049bb133111ebu;
  return (double)(s >> 11) * 0x1p-52 - 1;
}

// An element of a row-wise dominant matrix: symmetric, or with other values above the diagonal.
static double element(int64_t n, int64_t i, int64_t j, int symmetric) {
  if (i == j) return 2.0 * (double)n;
  return symmetric && i < j ? number(j, i) : number(i, j);
}

static double* matrix(int64_t n, int symmetric) {
  double* const a = malloc(sizeof(double) * (size_t)(n * n));
  if (a == NULL) exit(2);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) a[i + j * n] = element(n, i, j, symmetric);
  }
  return a;
}

// b = A x or A' x with x_i = 1 + i / n.
static void right_hand_side(int64_t n, const double* a, int64_t lda, int transposed, double* b) {
  for (int64_t i = 0; i < n; ++i) {
    b[i] = 0;
    for (int64_t j = 0; j < n; ++j) {
      b[i] += (transposed ? a[j + i * lda] : a[i + j * lda]) * (1 + (double)j / (double)n);
    }
  }
}

// The condition numbers are below 10, and b has an error of at most n u of its terms.
static int is_solution(int64_t n, const double* x) {
  for (int64_t i = 0; i < n; ++i) {
    if (!(fabs(x[i] - (1 + (double)i / (double)n)) <= 40 * (double)n * 0x1p-53)) return 0;
  }
  return 1;
}

static void solves(void) {
  enum { n = 200 };
  double b[n], x[n], error = -1;
  for (int structure = STEPWELL_AUTOMATIC; structure <= STEPWELL_GENERAL; ++structure) {
    double* const a = matrix(n, structure != STEPWELL_GENERAL);
    right_hand_side(n, a, n, 0, b);
    CHECK(stepwell_solve(structure, n, 1, a, n, b, n, x, n, NULL, NULL) == 0);
    CHECK(is_solution(n, x));
    stepwell_options options;
    stepwell_options_defaults(&options, sizeof options);
    options.map = "bf16";
    options.condition = 1;
    options.prove = 1;
    stepwell_certificate c;
    stepwell_certificate_defaults(&c, sizeof c);
    int32_t outcome = -1;
    c.backward_errors = &error;
    c.outcomes = &outcome;
    memset(x, 0, sizeof x);
    CHECK(stepwell_solve(structure, n, 1, a, n, b, n, x, n, &options, &c) == STEPWELL_CONVERGED);
    CHECK(is_solution(n, x));
    CHECK(c.outcome == STEPWELL_CONVERGED && outcome == STEPWELL_CONVERGED);
    CHECK(c.structure == (structure == STEPWELL_GENERAL ? STEPWELL_GENERAL : STEPWELL_SPD));
    CHECK(c.backward_error <= c.tolerance && error == c.backward_error);
    CHECK(c.proven_backward_error >= c.backward_error && c.proven_backward_error < 1e-14);
    CHECK(c.condition >= 1 && c.condition < 100 && c.forward_error > 0);
    CHECK(strcmp(c.map, "bf16") == 0 && c.rung_count == 1 && c.rungs[0].reason[0] == '\0');
    CHECK(c.iterations > 0 && c.rungs[0].iterations == c.iterations && c.seconds > 0);
    free(a);
  }
}

static void says_why_not(void) {
  enum { n = 60 };
  double* const a = matrix(n, 1);
  double b[n], x[n];
  right_hand_side(n, a, n, 0, b);
  stepwell_certificate c;
  stepwell_certificate_defaults(&c, sizeof c);
  a[10 + 10 * n] = -1;
  x[0] = 7;
  CHECK(stepwell_solve(STEPWELL_SPD, n, 1, a, n, b, n, x, n, NULL, &c) ==
        STEPWELL_NOT_POSITIVE_DEFINITE);
  CHECK(c.pivot == 10 && c.reason[0] != '\0' && x[0] == 7);
  a[10 + 10 * n] = NAN;
  CHECK(stepwell_solve(STEPWELL_GENERAL, n, 1, a, n, b, n, x, n, NULL, &c) == STEPWELL_NON_FINITE);
  CHECK(c.row == 10 && c.col == 10 && c.in_b == 0);
  for (int i = 0; i < n; ++i) a[10 + i * n] = a[i + 10 * n] = 0;
  CHECK(stepwell_solve(STEPWELL_GENERAL, n, 1, a, n, b, n, x, n, NULL, &c) == STEPWELL_SINGULAR);
  CHECK(strcmp(stepwell_outcome_name(c.outcome), "singular") == 0);

  CHECK(stepwell_solve(STEPWELL_SPD, -1, 1, a, n, b, n, x, n, NULL, NULL) ==
        -STEPWELL_INVALID_ARGUMENT);
  CHECK(strlen(stepwell_last_error()) > 0);
  CHECK(stepwell_solve(STEPWELL_SPD, n, 1, a, n - 1, b, n, x, n, NULL, NULL) ==
        -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_solve(STEPWELL_SPD, n, 1, NULL, n, b, n, x, n, NULL, NULL) < 0);
  CHECK(stepwell_solve(3, n, 1, a, n, b, n, x, n, NULL, NULL) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_solver_create(STEPWELL_SPD, n, a, n, NULL, NULL) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_solver_factor(NULL, NULL) == -STEPWELL_INVALID_ARGUMENT);
  free(a);
}

// Structs of other versions are accepted: shorter ones, and longer ones whose unknown part is zero.
static void knows_other_versions(void) {
  struct {
    stepwell_options known;
    int64_t later;
  } newer;
  memset(&newer, 0, sizeof newer);
  stepwell_options_defaults(&newer.known, sizeof newer);
  const double a = 4, b = 2;
  double x = 0;
  CHECK(stepwell_solve(STEPWELL_SPD, 1, 1, &a, 1, &b, 1, &x, 1, &newer.known, NULL) == 0 &&
        x == 0.5);
  newer.later = 1;
  CHECK(stepwell_solve(STEPWELL_SPD, 1, 1, &a, 1, &b, 1, &x, 1, &newer.known, NULL) ==
        -STEPWELL_INVALID_ARGUMENT);
  stepwell_options older;
  memset(&older, 0x7f, sizeof older);  // the bytes after the older struct do not belong to us
  stepwell_options_defaults(&older, offsetof(stepwell_options, iterations));
  CHECK(older.iterations == 0x7f7f7f7f && older.climb == 1);
  CHECK(stepwell_solve(STEPWELL_SPD, 1, 1, &a, 1, &b, 1, &x, 1, &older, NULL) == 0);
  older.size = 0;
  CHECK(stepwell_solve(STEPWELL_SPD, 1, 1, &a, 1, &b, 1, &x, 1, &older, NULL) ==
        -STEPWELL_INVALID_ARGUMENT);
  stepwell_certificate c;
  memset(&c, 0x7f, sizeof c);
  stepwell_certificate_defaults(&c, offsetof(stepwell_certificate, tolerance));
  CHECK(stepwell_solve(STEPWELL_SPD, 1, 1, &a, 1, &b, 1, &x, 1, NULL, &c) == 0);
  CHECK(c.outcome == 0 && c.rung_count == 0x7f7f7f7f);
}

static void keeps_a_factor(void) {
  enum { n = 150 };
  double* const a = matrix(n, 0);
  double b[n], x[n], norm = 0;
  stepwell_context* context = NULL;
  CHECK(stepwell_context_create(1, &context) == 0 && stepwell_context_threads(context) == 1);
  stepwell_options options;
  stepwell_options_defaults(&options, sizeof options);
  options.context = context;
  stepwell_solver* solver = NULL;
  CHECK(stepwell_solver_create(STEPWELL_AUTOMATIC, n, a, n, &options, &solver) == 0);
  CHECK(stepwell_solver_factor(solver, NULL) == 0);
  for (int transposed = 0; transposed < 2; ++transposed) {
    right_hand_side(n, a, n, transposed, b);
    stepwell_certificate c;
    stepwell_certificate_defaults(&c, sizeof c);
    CHECK(stepwell_solver_solve(solver, transposed, 1, b, n, x, n, &c) == 0);
    CHECK(is_solution(n, x) && c.factor_seconds == 0);
    CHECK(stepwell_solver_inverse_norm(solver, transposed, &norm) == 0);
    // ||A|| ||A^-1|| >= 1, and diagonal dominance bounds ||A^-1|| from above.
    CHECK(norm >= 1 / (3.0 * n) && norm <= 1 / (1.0 * n));
  }
  stepwell_solver_destroy(solver);
  stepwell_solver_destroy(NULL);
  stepwell_context_destroy(context);
  free(a);
}

// A = [4 2; 2 5], L = [2 0; 1 2].
static void uses_a_factor(const stepwell_factor* f, const double* a) {
  double b[4] = {2, 5, 4, 2}, forms[2] = {0}, error = 1, trace = 0, log_of = 0;
  CHECK(stepwell_factor_log_det(f, &log_of) == 0 && fabs(log_of - log(16.0)) < 1e-14);
  CHECK(stepwell_factor_half_solve(f, 2, b, 2) == 0);
  CHECK(b[0] == 1 && b[1] == 2 && b[2] == 2 && b[3] == 0);
  CHECK(stepwell_factor_half_solve(f, -1, b, 2) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_factor_multiply(f, 2, b, 2) == 0);
  CHECK(b[0] == 2 && b[1] == 5 && b[2] == 4 && b[3] == 2);
  CHECK(stepwell_factor_quadratic_forms(f, 2, b, 2, forms) == 0);
  CHECK(fabs(forms[0] - 5) < 1e-14 && fabs(forms[1] - 4) < 1e-14);
  CHECK(stepwell_factor_quadratic_forms(f, 2, b, 2, NULL) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_factor_solve_unrefined(f, 2, b, 2) == 0);
  CHECK(fabs(b[1] - 1) < 1e-15 && fabs(b[2] - 1) < 1e-15);
  CHECK(stepwell_factor_log_det_error(f, &error) == 0 && error < 1e-13);
  CHECK(stepwell_factor_log_det_error(NULL, &error) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_factor_trace_inverse_product(f, a, 2, &trace) == 0);
  CHECK(fabs(trace - 2) < 1e-14);
  double inverse[4] = {0}, diagonal[2] = {0};
  CHECK(stepwell_factor_inverse(f, inverse, 2) == 0);
  CHECK(fabs(inverse[0] - 5.0 / 16) < 1e-15 && fabs(inverse[1] + 2.0 / 16) < 1e-15);
  CHECK(inverse[1] == inverse[2] && fabs(inverse[3] - 4.0 / 16) < 1e-15);
  CHECK(stepwell_factor_inverse_diagonal(f, diagonal) == 0);
  CHECK(fabs(diagonal[0] - 5.0 / 16) < 1e-15 && fabs(diagonal[1] - 4.0 / 16) < 1e-15);
  CHECK(stepwell_factor_inverse(f, NULL, 2) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_factor_inverse_diagonal(f, NULL) == -STEPWELL_INVALID_ARGUMENT);
}

static void takes_determinants(void) {
  double a[4] = {4, 2, 2, 5}, log_of = 0;
  int sign = 0;
  stepwell_options options;
  stepwell_options_defaults(&options, sizeof options);
  options.map = "fp64";
  stepwell_solver* solver = NULL;
  CHECK(stepwell_solver_create(STEPWELL_SPD, 2, a, 2, &options, &solver) == 0);
  CHECK(stepwell_solver_log_det(solver, &log_of, &sign) == 0 && sign == 1);
  CHECK(fabs(log_of - log(16.0)) < 1e-14);
  const stepwell_factor* f = NULL;
  CHECK(stepwell_solver_cholesky(solver, &f) == 0 && stepwell_factor_order(f) == 2);
  uses_a_factor(f, a);
  CHECK(stepwell_solver_cholesky(solver, NULL) == -STEPWELL_INVALID_ARGUMENT);
  stepwell_factor_destroy((stepwell_factor*)f);  // the solver's: nothing happens
  CHECK(stepwell_factor_drop((stepwell_factor*)f, 0, NULL) == -STEPWELL_INVALID_ARGUMENT);
  uses_a_factor(f, a);
  stepwell_solver_destroy(solver);
  a[0] = -4;
  CHECK(stepwell_solver_create(STEPWELL_SPD, 2, a, 2, &options, &solver) == 0);
  CHECK(stepwell_solver_log_det(solver, &log_of, NULL) == STEPWELL_NOT_POSITIVE_DEFINITE);
  CHECK(stepwell_solver_cholesky(solver, &f) == STEPWELL_NOT_POSITIVE_DEFINITE && f == NULL);
  stepwell_solver_destroy(solver);
}

static void changes_factors(void) {
  double a[9] = {4, 2, 2, 2, 5, 3, 2, 3, 6}, l[9] = {0}, log_of = 0;
  const int64_t first = 0;
  int64_t pivot = 7;
  stepwell_factor* f = NULL;
  CHECK(stepwell_factor_create(2, a, 3, NULL, &f, NULL) == 0);
  uses_a_factor(f, (double[]){4, 2, 2, 5});
  CHECK(stepwell_factor_append(f, 1, a + 2, 3) == 0 && stepwell_factor_order(f) == 3);
  CHECK(stepwell_factor_copy_to(f, l, 3) == 0);
  CHECK(l[0] == 2 && l[1] == 1 && l[2] == 1 && l[3] == 0 && l[4] == 2 && l[5] == 1 && l[8] == 2);
  const double column[3] = {0, 0, 1};
  CHECK(stepwell_factor_update(f, 1, column, 3) == 0);
  CHECK(stepwell_factor_log_det(f, &log_of) == 0 && fabs(log_of - log(80.0)) < 1e-13);
  CHECK(stepwell_factor_downdate(f, 1, column, 3) == 0);
  CHECK(stepwell_factor_log_det(f, &log_of) == 0 && fabs(log_of - log(64.0)) < 1e-13);
  const double much[3] = {0, 0, 3};
  CHECK(stepwell_factor_downdate(f, 1, much, 3) == STEPWELL_NOT_POSITIVE_DEFINITE);
  CHECK(stepwell_factor_drop(f, 1, &first) == 0 && stepwell_factor_order(f) == 2);
  CHECK(stepwell_factor_log_det(f, &log_of) == 0 && fabs(log_of - log(21.0)) < 1e-13);
  CHECK(stepwell_factor_drop(f, 1, NULL) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_factor_drop(f, -1, &first) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_factor_append(f, -1, a, 3) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_factor_append(f, INT64_MAX, a, 3) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_factor_update(f, 1, NULL, 3) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_factor_update(NULL, 1, column, 3) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(strstr(stepwell_last_error(), "stepwell_factor_update: factor is null") != NULL);
  stepwell_factor_destroy(f);
  stepwell_factor_destroy(NULL);
  a[4] = 0.5;
  CHECK(stepwell_factor_create(3, a, 3, NULL, &f, &pivot) == STEPWELL_NOT_POSITIVE_DEFINITE);
  CHECK(f == NULL && pivot == 1 && stepwell_factor_order(f) == 0);
  a[4] = NAN;
  CHECK(stepwell_factor_create(3, a, 3, NULL, &f, &pivot) == STEPWELL_NON_FINITE && f == NULL);
  double same[4] = {4, 4, 4, 4};
  stepwell_factor_options options;
  stepwell_factor_options_defaults(&options, sizeof options);
  CHECK(stepwell_factor_create(2, same, 2, &options, &f, NULL) == STEPWELL_NOT_POSITIVE_DEFINITE);
  options.jitter_tries = 3;
  options.jitter_start = 0x1p-60;  // too small: the second or the third try succeeds
  options.jitter_factor = 1024;
  CHECK(stepwell_factor_create(2, same, 2, &options, &f, NULL) == 0);
  CHECK(stepwell_factor_jitter(f) == 0x1p-48 && stepwell_factor_jitter(NULL) == 0);
  stepwell_factor_destroy(f);
  options.triangle = 2;
  CHECK(stepwell_factor_create(2, same, 2, &options, &f, NULL) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_factor_create(0, NULL, 1, NULL, &f, NULL) == 0);
  a[4] = 5;
  CHECK(stepwell_factor_append(f, 3, a, 3) == 0 && stepwell_factor_order(f) == 3);
  stepwell_factor_destroy(f);
}

static void limits_threads(void) {
  const int before = stepwell_num_threads();
  CHECK(before >= 1 && stepwell_set_num_threads(-1) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_set_num_threads(1) == 0 && stepwell_num_threads() == 1);
  double a = 4, b = 2, x = 0;
  stepwell_certificate c;
  stepwell_certificate_defaults(&c, sizeof c);
  CHECK(stepwell_solve(STEPWELL_SPD, 1, 1, &a, 1, &b, 1, &x, 1, NULL, &c) == 0);
  CHECK(c.threads == 1 && c.threads_reason[0] != 0);
  CHECK(stepwell_set_num_threads(0) == 0 && stepwell_num_threads() == before);
  CHECK(stepwell_set_memory_cache(-1) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_set_memory_cache(INT64_C(1) << 28) == 0);
  stepwell_release_memory();
}

static void plans_and_cancels(void) {
  enum { n = 1500 };
  stepwell_plan plan;
  stepwell_plan_defaults(&plan, sizeof plan);
  CHECK(stepwell_plan_solve(STEPWELL_SPD, 46341, 1, NULL, &plan) == 0);
  CHECK(plan.bytes > 46341LL * 46341 && plan.top_bytes >= plan.bytes && plan.map[0] != '\0');
  CHECK(stepwell_plan_solve(STEPWELL_AUTOMATIC, n, 1, NULL, &plan) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_plan_lstsq(100000, 100, 1, NULL, &plan) == 0 && plan.bytes > 0);
  double* const a = matrix(n, 1);
  double* const b = calloc(n, sizeof(double));
  if (b == NULL) exit(2);
  b[0] = 1;
  stepwell_progress* progress = NULL;
  CHECK(stepwell_progress_create(&progress) == 0);
  stepwell_options options;
  stepwell_options_defaults(&options, sizeof options);
  options.progress = progress;
  options.map = "bf16";
  stepwell_progress_cancel(progress);
  CHECK(stepwell_solve(STEPWELL_SPD, n, 1, a, n, b, n, b, n, &options, NULL) == STEPWELL_CANCELLED);
  CHECK(b[0] == 1);
  stepwell_progress_reset(progress);
  CHECK(stepwell_solve(STEPWELL_SPD, n, 1, a, n, b, n, b, n, &options, NULL) == 0);
  int phase = -1;
  int64_t done = -1, total = -1;
  stepwell_progress_read(progress, &phase, &done, &total);
  CHECK(phase >= STEPWELL_IDLE && phase <= STEPWELL_WRITING && done >= 0 && total >= 0);
  stepwell_progress_destroy(progress);
  free(a);
  free(b);
}

// Offsets beyond 2^31 and 2^34 elements, in memory that is mapped but not backed.
static void reaches_far(void) {
  enum { n = 300 };
  const int64_t strides[] = {10 * 1000 * 1000, (int64_t)1 << 31, (int64_t)1 << 33};
  for (int k = 0; k < 3; ++k) {
    const int64_t lda = strides[k];
    const size_t bytes = sizeof(double) * (size_t)lda * n;
    double* const a = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a == MAP_FAILED) {
      printf("no %zu bytes of addresses: leading dimension %lld is left out\n", bytes,
             (long long)lda);
      continue;
    }
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
      double b[n], x[n];
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < n; ++i) a[i + j * lda] = element(n, i, j, symmetric);
      }
      right_hand_side(n, a, lda, 0, b);
      stepwell_options options;
      stepwell_options_defaults(&options, sizeof options);
      for (int low = 0; low < 2; ++low) {
        options.map = low ? "bf16" : NULL;
        CHECK(stepwell_solve(STEPWELL_AUTOMATIC, n, 1, a, lda, b, n, x, n, &options, NULL) == 0);
        CHECK(is_solution(n, x));
      }
    }
    munmap(a, bytes);
  }
}

struct rows {
  int64_t cols;
  int64_t fail_at;
};

static int read_rows(void* user, int64_t first, int64_t count, double* out) {
  const struct rows* const r = user;
  for (int64_t i = 0; i < count; ++i) {
    if (first + i == r->fail_at) return 1;
    for (int64_t j = 0; j < r->cols; ++j) out[i * r->cols + j] = number(first + i, j);
  }
  return 0;
}

static void fits(void) {
  enum { m = 500, n = 20 };
  double b[m], x[n];
  double* const a = malloc(sizeof(double) * m * n);
  if (a == NULL) exit(2);
  struct rows rows = {n, -1};
  read_rows(&rows, 0, m, a);
  for (int i = 0; i < m; ++i) {
    b[i] = 0;
    for (int j = 0; j < n; ++j) b[i] += a[i * n + j] * (1 + (double)j / n);
  }
  stepwell_tall by_rows = {m, n, a, n, 1, NULL, NULL};
  stepwell_tall by_function = {m, n, NULL, 0, 0, read_rows, &rows};
  stepwell_certificate c;
  stepwell_certificate_defaults(&c, sizeof c);
  CHECK(stepwell_lstsq(&by_rows, 1, b, m, x, n, NULL, &c, NULL) == 0);
  CHECK(is_solution(n, x) && c.rank == n && c.residual_norm < 1e-11);
  memset(x, 0, sizeof x);
  CHECK(stepwell_lstsq(&by_function, 1, b, m, x, n, NULL, NULL, NULL) == 0 && is_solution(n, x));
  rows.fail_at = 300;
  CHECK(stepwell_lstsq(&by_function, 1, b, m, x, n, NULL, NULL, NULL) == -STEPWELL_CALLBACK);
  for (int i = 0; i < m; ++i) a[i * n + 7] = a[i * n + 3];
  int32_t dependent[n];
  CHECK(stepwell_lstsq(&by_rows, 1, b, m, x, n, NULL, &c, dependent) == STEPWELL_RANK_DEFICIENT);
  int32_t sum = 0;
  for (int j = 0; j < n; ++j) sum += dependent[j];
  CHECK(sum == 1 && (dependent[3] || dependent[7]) && c.rank == n - 1);
  stepwell_lstsq_options options;
  stepwell_lstsq_options_defaults(&options, sizeof options);
  options.lambda = 0.5;
  CHECK(stepwell_lstsq(&by_rows, 1, b, m, x, n, &options, &c, NULL) == 0);
  options.map = "bf17";
  CHECK(stepwell_lstsq(&by_rows, 1, b, m, x, n, &options, &c, NULL) == -STEPWELL_INVALID_ARGUMENT);
  free(a);
}

static void solves_batches(void) {
  enum { count = 37, n = 12 };
  static double a[count][n * n], b[count][n];
  int32_t pivots[count];
  double log_determinants[count];
  for (int s = 0; s < count; ++s) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) a[s][i + j * n] = element(n, i + s, j + s, 1);
    }
    right_hand_side(n, a[s], n, 0, b[s]);
  }
  a[20][5 + 5 * n] = -3;
  const double kept = b[20][0];
  stepwell_batch matrices = {STEPWELL_FP64, 0, a, NULL, count, n, n, n, n * n, 0};
  stepwell_batch sides = {STEPWELL_FP64, 0, b, NULL, count, n, 1, n, n, 0};
  stepwell_batch_report report;
  stepwell_batch_report_defaults(&report, sizeof report);
  report.pivots = pivots;
  report.log_determinants = log_determinants;
  CHECK(stepwell_batch_solve(&matrices, &sides, NULL, &report) == STEPWELL_FAILURES);
  CHECK(report.failures == 1 && report.first_failure == 20 && pivots[20] == 5 && b[20][0] == kept);
  for (int s = 0; s < count; ++s) CHECK(s == 20 || (pivots[s] == -1 && is_solution(n, b[s])));
  a[20][5 + 5 * n] = 2 * n;
  CHECK(stepwell_batch_cholesky(&matrices, NULL, NULL) == 0);
  double log_determinant = 0;
  for (int i = 0; i < n; ++i) log_determinant += 2 * log(a[0][i + i * n]);
  CHECK(fabs(log_determinant - log_determinants[0]) <= 40 * n * 0x1p-53 * log_determinant);
  CHECK(stepwell_batch_substitute(&matrices, &sides, NULL, NULL) == 0);
  sides.format = STEPWELL_FP32;
  CHECK(stepwell_batch_factor_solve(&matrices, &sides, NULL, NULL) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_batch_solve(&matrices, NULL, NULL, NULL) == -STEPWELL_INVALID_ARGUMENT);
  CHECK(stepwell_batch_lanes(STEPWELL_FP32) >= stepwell_batch_lanes(STEPWELL_FP64));
}

static void factors_ratings(void) {
  // Two users, three items, two factors; each half step lowers the loss.
  const int64_t starts[] = {0, 2, 4};
  const int32_t columns[] = {0, 1, 1, 2};
  const float values[] = {5, 3, 4, 1};
  const stepwell_sparse ratings = {2, 3, starts, columns, values};
  float users[2 * 2] = {0.1f, 0.2f, 0.3f, 0.1f}, items[2 * 3] = {1, 0, 0, 1, 1, 1};
  int64_t item_starts[4];
  int32_t item_columns[4], failed[3];
  float item_values[4];
  CHECK(stepwell_sparse_transpose(&ratings, item_starts, item_columns, item_values) == 0);
  CHECK(item_starts[3] == 4 && item_columns[1] == 0 && item_columns[2] == 1);
  const stepwell_sparse by_items = {3, 2, item_starts, item_columns, item_values};
  double before = 0, after = 0;
  CHECK(stepwell_als_loss(&ratings, 2, users, 2, items, 2, NULL, &before) == 0);
  CHECK(stepwell_als_step(&ratings, 2, items, 2, users, 2, NULL, failed) == 0 && failed[0] == 0);
  CHECK(stepwell_als_step(&by_items, 2, users, 2, items, 2, NULL, failed) == 0);
  CHECK(stepwell_als_loss(&ratings, 2, users, 2, items, 2, NULL, &after) == 0);
  CHECK(before > 0 && after < before);
  stepwell_als_options options;
  stepwell_als_options_defaults(&options, sizeof options);
  options.lambda = -1;
  CHECK(stepwell_als_step(&ratings, 2, items, 2, users, 2, &options, NULL) ==
        -STEPWELL_INVALID_ARGUMENT);
}

int main(void) {
  printf("Stepwell %s\n", stepwell_version());
  solves();
  says_why_not();
  knows_other_versions();
  keeps_a_factor();
  takes_determinants();
  changes_factors();
  limits_threads();
  plans_and_cancels();
  reaches_far();
  fits();
  solves_batches();
  factors_ratings();
  if (failures > 0) fprintf(stderr, "%d checks failed\n", failures);
  return failures > 0;
}
