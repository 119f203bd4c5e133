// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/stepwell.h"

// 4 x = 2
int main(void) {
  const double a = 4, b = 2;
  double x = 0;
  return stepwell_solve(STEPWELL_SPD, 1, 1, &a, 1, &b, 1, &x, 1, 0, 0) == 0 && x == 0.5 ? 0 : 1;
}
