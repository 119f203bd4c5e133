// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/row_block.hpp"
#include "stepwell/view.hpp"

namespace stepwell::refine {

/// y + low += A x for column c of each x, with sums kept as three doubles: the error of an element
/// of k terms is at most 2 (2k + 2)^3 2^-159 times the sum of their magnitudes (Ogita, Rump & Oishi
/// 2005, Proposition 5.11, each product counting as two terms) plus 2^-106 times its own magnitude.
void add_in_triple_sums(const core::RowBlock& a, const std::vector<MatrixView<const double>>& x,
                        std::int64_t c, double* y, double* low);

}  // namespace stepwell::refine
