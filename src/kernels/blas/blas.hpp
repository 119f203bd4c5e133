// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/table.hpp"
#include "stepwell/machine.hpp"

namespace stepwell::kernels {

/// fp32 and fp64 updates through CBLAS. Sizes that its int can't hold go to the reference loop.
/// They run on as many threads as the BLAS is set to: a caller that uses kernels from several
/// threads must set it to one.
void fill_blas_update(Table& t);

/// The BLAS library behind CBLAS, identified by the symbols that it exports, with a warning when
/// its kernels do not use what the CPU offers.
BlasIdentity blas_identity();

/// Sets the number of threads that the BLAS may use and returns the previous number; 0 when it
/// can't be set. Applies to the whole process: the caller restores it.
int set_blas_threads(int threads);

}  // namespace stepwell::kernels
