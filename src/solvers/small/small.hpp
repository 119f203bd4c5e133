// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/solve.hpp"

/// Small systems in FP64, with as little overhead as a certificate allows: on the caller's thread,
/// except for LU from order factor::kDenseLuForThreads on.
namespace stepwell::solvers {

Certificate solve_small_spd(MatrixView<const double> a, MatrixView<const double> b,
                            MatrixView<double> x, const SolveOptions& options);

/// Solves with the LU of factor::dense_lu(). Where that has a zero or tiny pivot, LAPACK's
/// dgetrf decides, so that the zero pivot of a singular matrix has LAPACK's index.
Certificate solve_small_general(MatrixView<const double> a, MatrixView<const double> b,
                                MatrixView<double> x, const SolveOptions& options);

/// Whether the options ask for nothing but a solution.
bool is_plain(const SolveOptions& options, Structure structure);

/// Whether a system is solved by the functions above.
bool is_small(std::int64_t n, const SolveOptions& options, Structure structure);

/// Bytes of memory that the functions above work in.
std::int64_t small_bytes(std::int64_t n, std::int64_t columns, Structure structure);

}  // namespace stepwell::solvers
