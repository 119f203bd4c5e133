// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "factor/block_source.hpp"
#include "factor/distributed/process_context.hpp"
#include "factor/scaling.hpp"
#include "kernels/scan.hpp"

/// What scans of A say of the whole matrix.
namespace stepwell::factor {

/// ||A||_F of a symmetric matrix from the scan of its lower triangle.
double symmetric_norm(const kernels::Scan& lower, const Diagonal& diagonal);

/// The first non-finite element of this rank's tiles of A, column by column. Cost: a pass over A.
ProcessContext::Place first_non_finite(const BlockSource& source, const tiles::Grid& grid,
                                       const ProcessContext& process);

}  // namespace stepwell::factor
