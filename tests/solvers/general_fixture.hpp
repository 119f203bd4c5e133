// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "solvers/fixture.hpp"

/// What the tests of general solves share beside the rest.
namespace stepwell::solvers::test {

Dense<double> transpose(const Dense<double>& a);

/// ||b - A x|| / (||A|| ||x|| + ||b||) in infinity norms, or with A', from all of A, in
/// double-double and with all sizes brought to 1 first. NaN if x is not finite. One for each
/// column.
std::vector<double> general_errors(MatrixView<const double> a, MatrixView<const double> b,
                                   MatrixView<const double> x, bool transposed = false);
/// Of the worst column.
double general_error(MatrixView<const double> a, MatrixView<const double> b,
                     MatrixView<const double> x, bool transposed = false);

/// LAPACK's LU on a copy, and the solution with A or A'. Returns the index of the pivot that is
/// zero, from 0; -1: none, and x is written.
std::int64_t lapack_general(MatrixView<const double> a, MatrixView<const double> b,
                            MatrixView<double> x, bool transposed = false);

/// A solve of copies, as solve() for symmetric ones.
Solved solve_general(const Dense<double>& a, const Dense<double>& b,
                     const SolveOptions& options = {});

}  // namespace stepwell::solvers::test
