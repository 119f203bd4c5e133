// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "stepwell/rung.hpp"
#include "stepwell/view.hpp"

/// What Higham & Pranesh (2021), Sect. 6.2, measure of a small least squares problem, by LAPACK in
/// FP64. A: m x n, m >= n.
namespace stepwell::tool {

/// Largest first; of any matrix. Throws Error(unsupported) if dgesvd fails.
std::vector<double> singular_values(MatrixView<const double> a);

/// eta_F(x), equation (6.3) with xi = 1: the smallest change of [A, b], relative and in the
/// Frobenius norm, for which x is the exact answer. Costs m^2 (m + n), and sees nothing below
/// 2^-53.
double frobenius_error(MatrixView<const double> a, MatrixView<const double> b,
                       MatrixView<const double> x);

struct TallSolution {
  int info = 0;  ///< LAPACK's
  core::Buffer<double> x;
};
TallSolution dgels_solution(MatrixView<const double> a, MatrixView<const double> b);

/// The least integer c for which Cholesky of C + c u diag(C) succeeds; -1: none up to 100. C is
/// lstsq()'s Gram matrix at the rung, u the rung's.
int least_shift(MatrixView<const double> a, Rung rung);

/// kappa_2(M A'A), M the inverse by that factor. Infinity: there is no factor.
double preconditioned_condition(MatrixView<const double> a, Rung rung);

}  // namespace stepwell::tool
