// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/solve.hpp"

/// Small systems in FP64 on the caller's thread, with as little around it as a certificate allows.
namespace stepwell::solvers {

Certificate solve_small_spd(MatrixView<const double> a, MatrixView<const double> b,
                            MatrixView<double> x, const SolveOptions& options);

/// With LAPACK's dgetrf, so that a singular matrix has LAPACK's index.
Certificate solve_small_general(MatrixView<const double> a, MatrixView<const double> b,
                                MatrixView<double> x, const SolveOptions& options);

/// Whether nothing but a solution is asked for.
bool is_plain(const SolveOptions& options, Structure structure);

/// Whether these are for such a system.
bool is_small(std::int64_t n, const SolveOptions& options, Structure structure);

/// Bytes of memory that they work in.
std::int64_t small_bytes(std::int64_t n, std::int64_t columns, Structure structure);

}  // namespace stepwell::solvers
