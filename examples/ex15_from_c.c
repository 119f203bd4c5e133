// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// Solves one symmetric positive definite system from C, with its certificate: points on a line with
// the covariance exp(-|s - t|), as in kriging.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stepwell/stepwell.h"

int main(void) {
  const int64_t n = 1000;
  double* const a = malloc(sizeof(double) * (size_t)(n * n));
  double* const b = malloc(sizeof(double) * (size_t)n);
  if (a == NULL || b == NULL) return 1;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) a[i + j * n] = exp(-fabs((double)(i - j)) / 50);
    a[j + j * n] += 1e-3;  // the nugget
    b[j] = sin((double)j / 30);
  }
  //---- begin solve
  stepwell_certificate certificate;
  stepwell_certificate_defaults(&certificate, sizeof certificate);
  const int code =  // x overwrites b
      stepwell_solve(STEPWELL_SPD, n, 1, a, n, b, n, b, n, NULL, &certificate);
  if (code < 0) {
    fprintf(stderr, "%s\n", stepwell_last_error());
  } else if (code > 0) {
    fprintf(stderr, "%s: %s\n", stepwell_outcome_name(code), certificate.reason);
  } else {
    printf("backward error %.1e, %s, %d iterations\n", certificate.backward_error, certificate.map,
           certificate.iterations);
  }
  //---- end solve
  free(a);
  free(b);
  return code == 0 ? 0 : 1;
}
