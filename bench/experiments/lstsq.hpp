// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "bench/problems/tall_problem.hpp"

namespace stepwell::bench {

/// Runs the benchmark and prints it. Throws Error, also when lstsq() does not converge.
void bench_lstsq(const LstsqBenchRequest& request);

/// For --help.
std::string lstsq_bench_help();

}  // namespace stepwell::bench
