// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "refine/normal_cg.hpp"

namespace stepwell::refine {

/// The other refiners on the normal equations: their operator is A'A with two products, and
/// residuals come from A and b themselves. 'norm' and 'inverse' as in NormalRequest; request.norm
/// and error_of are set here. State as normal_cg().
Outcome refine_normal(NormalProduct& h, Preconditioner& m, const RightHandSides& right,
                      LeastSquaresState& state, double norm, double inverse, Request request);

}  // namespace stepwell::refine
