// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "refine/normal_cg.hpp"

namespace stepwell::refine {

/// Applies the other refiners to the normal equations: their operator is A'A, applied as two
/// products, and residuals are computed from A and b themselves. 'norm' and 'inverse' are as in
/// NormalRequest; this function sets request.norm and request.error_of. 'state' is as in
/// normal_cg().
Outcome refine_normal(NormalProduct& h, Preconditioner& m, const RightHandSides& right,
                      LeastSquaresState& state, double norm, double inverse, Request request);

}  // namespace stepwell::refine
