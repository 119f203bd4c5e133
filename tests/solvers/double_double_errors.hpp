// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/fixture/fixture.hpp"

/// Backward errors in double-double, for solutions of any magnitude.
namespace stepwell::solvers::test {

/// A divided by a power of two, such that its largest element is in [1, 2), and its norm.
struct ScaledMatrix {
  kernels::test::Dense<double> a;
  int exponent = 0;
  bool zero = true;
  double norm = 0;  ///< the infinity norm, of A' if 'transposed'

  /// Takes the lower triangle of A and its mirror image, if 'symmetric'.
  ScaledMatrix(MatrixView<const double> from, bool symmetric, bool transposed = false);
};

/// ||b - A x|| / (||A|| ||x|| + ||b||) in infinity norms, or the same with A'. NaN if x is not
/// finite.
double backward_error(const ScaledMatrix& s, const double* b, const double* x,
                      bool transposed = false);

}  // namespace stepwell::solvers::test
