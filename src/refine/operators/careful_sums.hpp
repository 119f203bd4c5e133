// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/row_block.hpp"
#include "stepwell/view.hpp"

namespace stepwell::refine {

/// y + low += A x of column c of each x, with sums of three numbers: an element of k terms errs by
/// at most 2 (2k + 2)^3 2^-159 of their sizes (Ogita, Rump & Oishi 2005, Proposition 5.11, each
/// product being two numbers) and by 2^-106 of itself.
void add_carefully(const core::RowBlock& a, const std::vector<MatrixView<const double>>& x,
                   std::int64_t c, double* y, double* low);

}  // namespace stepwell::refine
