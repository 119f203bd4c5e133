// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench/harness/harness.hpp"

/// What all benchmarks of whole operations do with the harness.
namespace stepwell::bench {

/// Throws Error(unsupported), or warns if 'allowed', when the baseline is a BLAS whose kernels are
/// for an older instruction set than the CPU has: every ratio would be misleading.
void refuse_slow_blas(const Side& baseline, bool allowed);

/// Runs both sides in turn, announces each run on a terminal, and refuses a slow baseline.
ContestResult compete(Contest contest, int pairs, bool allow_slow_blas);

}  // namespace stepwell::bench
