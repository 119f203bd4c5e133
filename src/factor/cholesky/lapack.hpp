// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "factor/cholesky/factor_data.hpp"

namespace stepwell::factor {

/// LAPACK's factorization of a matrix for which a pivot failed in FP64, as 'failed' reports.
/// Whether a pivot that consists of nothing but rounding errors fails is a matter of chance, and
/// our result need not be dpotrf's. Runs dpotrf on the same scaled matrix, in A's own order and on
/// one thread. Returns its factor in tiles, or else the report of the failure unchanged, for rows
/// in 'order'. Throws Error(out_of_memory). Cost n^3/3, memory 12 n^2 bytes.
Factor lapack_cholesky(MatrixView<const double> a, Triangle triangle, const tiles::Grid& grid,
                       const FactorReport& failed, const std::vector<std::int64_t>& order);

}  // namespace stepwell::factor
