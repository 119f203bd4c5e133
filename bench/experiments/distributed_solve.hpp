// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench/problems/system.hpp"

namespace stepwell::bench {

/// `bench solve` over the ranks that a launcher has started: solve_spd() against one of
/// distributed_baseline_names(). If it fails, rank 0 throws Error and the other ranks throw Failure
/// without a message.
void bench_distributed_solve(const SolveRequest& request);

}  // namespace stepwell::bench
