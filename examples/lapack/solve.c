// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Calls LAPACKE_dgesv, as any program in C does. Nothing here knows about Stepwell.
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const lapack_int n = 3000;
  const size_t size = (size_t)n;
  double* const a = malloc(sizeof(double) * size * size);
  double* const x = malloc(sizeof(double) * size);
  lapack_int* const pivots = malloc(sizeof(lapack_int) * size);
  if (a == NULL || x == NULL || pivots == NULL) return 1;
  // Twice the identity plus ones: the solution for b = A (1, ..., 1)' is known.
  for (size_t k = 0; k < size * size; ++k) a[k] = k % (size + 1) == 0 ? 3 : 1;
  for (size_t k = 0; k < size; ++k) x[k] = (double)n + 2;
  const lapack_int info = LAPACKE_dgesv(LAPACK_COL_MAJOR, n, 1, a, n, pivots, x, n);
  double error = 0;
  for (size_t k = 0; k < size; ++k) error = fmax(error, fabs(x[k] - 1));
  printf("info %d, error of x %.1e\n", (int)info, error);
  free(a);
  free(x);
  free(pivots);
  return info != 0 || !(error < 1e-12);
}
