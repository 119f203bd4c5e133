// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/solve.hpp"

/// Helpers of the functions in solve.cpp and of the reusable Solver.
namespace stepwell::solvers {

/// Adds an earlier attempt to a certificate: its rungs are listed first, its times are added, and
/// the larger peak_bytes is kept.
void begin_with(const Certificate& before, Certificate& c);

/// Options for a matrix whose triangles are known to be equal.
SolveOptions for_both_triangles(SolveOptions options);

/// Options for solving a matrix that may be symmetric as a general one.
SolveOptions for_general(SolveOptions options);

}  // namespace stepwell::solvers
