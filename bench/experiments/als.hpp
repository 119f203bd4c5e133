// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/problems/als_problem.hpp"

namespace stepwell::bench {

const std::vector<std::string>& als_baselines();

/// Runs the benchmark and prints it. Throws Error.
void bench_als(const AlsBenchRequest& request);

/// For --help.
std::string als_bench_help();

}  // namespace stepwell::bench
