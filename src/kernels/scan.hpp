// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/signatures.hpp"

namespace stepwell::kernels {

/// Blue's ranges: squares of values above kBlueBig would overflow in a long sum, and squares of
/// values below kBlueSmall would lose digits. Both are multiplied by the corresponding factor
/// before they are squared and summed.
inline constexpr double kBlueBig = 0x1p486;
inline constexpr double kBlueBigFactor = 0x1p-538;
inline constexpr double kBlueSmall = 0x1p-511;
inline constexpr double kBlueSmallFactor = 0x1p537;

/// The Frobenius norm from the three sums; infinity only if the norm itself overflows.
double frobenius(const Scan& scan);

/// Adds the scan of a tile that starts at (row, col) of the matrix to the matrix's scan. Call it
/// tile by tile in a fixed order: the rounding of the sums depends on the order.
void combine(Scan& total, const Scan& tile, std::int64_t row, std::int64_t col);

}  // namespace stepwell::kernels
