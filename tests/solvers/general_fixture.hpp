// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "solvers/fixture.hpp"

/// Code shared by the tests of general solves, in addition to fixture.hpp.
namespace stepwell::solvers::test {

/// The refiners that solve general systems.
inline constexpr std::array<Refiner, 5> kGeneralRefiners = {
    Refiner::ir, Refiner::gmres, Refiner::fgmres, Refiner::ir_gmres, Refiner::gmres_gmres};

Dense<double> transpose(const Dense<double>& a);

/// ||b - A x|| / (||A|| ||x|| + ||b||) in infinity norms, or with A', from all of A, in
/// double-double and after scaling everything to 1. NaN if x is not finite. One value per column.
std::vector<double> general_errors(MatrixView<const double> a, MatrixView<const double> b,
                                   MatrixView<const double> x, bool transposed = false);
/// The largest of all columns.
double general_error(MatrixView<const double> a, MatrixView<const double> b,
                     MatrixView<const double> x, bool transposed = false);

/// LAPACK's LU on a copy, and the solution with A or A'. Returns the index of the zero pivot,
/// counted from 0; -1: there is none, and x is written.
std::int64_t lapack_general(MatrixView<const double> a, MatrixView<const double> b,
                            MatrixView<double> x, bool transposed = false);

/// A solve with copies, like solve() for symmetric matrices.
Solved solve_general(const Dense<double>& a, const Dense<double>& b,
                     const SolveOptions& options = {});

}  // namespace stepwell::solvers::test
