// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/solve.hpp"

/// What the drivers and the solver that is used again have in common.
namespace stepwell::solvers {

/// Puts what was tried before in front of what a certificate says.
void begin_with(const Certificate& before, Certificate& c);

/// Options of a matrix whose triangles are known to be equal.
SolveOptions for_both_triangles(SolveOptions options);

/// Options of a matrix that may be symmetric, for the case that it is solved as a general one.
SolveOptions for_general(SolveOptions options);

}  // namespace stepwell::solvers
