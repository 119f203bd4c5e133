// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/team.hpp"
#include "factor/scaling.hpp"

namespace stepwell::factor {

/// Powers of two that bring the largest element of every row and column of diag(row) A diag(col)
/// to about 1. The gain stays 1.
Scale equilibrate(MatrixView<const double> a, engine::Team* team);

}  // namespace stepwell::factor
