// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "stepwell/rung.hpp"
#include "stepwell/view.hpp"

/// Quantities that Higham & Pranesh (2021), Sect. 6.2, report for a small least squares problem,
/// computed by LAPACK in FP64. A is m x n with m >= n.
namespace stepwell::bench {

/// The singular values of any matrix, largest first. Throws Error(unsupported) if dgesvd fails.
std::vector<double> singular_values(MatrixView<const double> a);

/// eta_F(x), equation (6.3) with xi = 1: the smallest change of [A, b], relative and in the
/// Frobenius norm, for which x is the exact answer. Costs m^2 (m + n) and cannot resolve values
/// below 2^-53.
double frobenius_error(MatrixView<const double> a, MatrixView<const double> b,
                       MatrixView<const double> x);

struct TallSolution {
  int info = 0;  ///< from LAPACK
  core::Buffer<double> x;
};
TallSolution dgels_solution(MatrixView<const double> a, MatrixView<const double> b);

/// The least integer c for which the Cholesky factorization of C + c u diag(C) succeeds; -1 if
/// there is none up to 100. C is the Gram matrix of lstsq() at the rung, u the unit roundoff of the
/// rung.
int least_shift(MatrixView<const double> a, Rung rung);

/// kappa_2(M A'A), where M is the inverse given by that factor. Infinity if there is no factor.
double preconditioned_condition(MatrixView<const double> a, Rung rung);

}  // namespace stepwell::bench
