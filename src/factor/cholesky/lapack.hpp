// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "factor/cholesky/factor_data.hpp"

namespace stepwell::factor {

/// LAPACK's word on a matrix of which a pivot failed in FP64, as 'failed' says. A pivot that is
/// rounding and nothing else fails or not by luck, and ours need not be dpotrf's. This is dpotrf of
/// the same scaled matrix, in A's own order and on one thread: its factor in tiles, or the report
/// of the failure as it was, of rows in 'order'. Throws Error(out_of_memory). Cost n^3/3, memory 12
/// n^2 bytes.
Factor lapack_cholesky(MatrixView<const double> a, const tiles::Grid& grid,
                       const FactorReport& failed, const std::vector<std::int64_t>& order);

}  // namespace stepwell::factor
