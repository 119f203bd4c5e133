// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "bench/problems/system.hpp"

namespace stepwell::bench {

/// Runs the benchmark and prints it. Throws Error, also when the solve does not converge.
void bench_solve(const SolveRequest& request);

/// For --help.
std::string solve_bench_help();

}  // namespace stepwell::bench
