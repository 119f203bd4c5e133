// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/problems/system.hpp"

namespace stepwell::bench {

/// Runs the benchmark and prints it. Throws Error, also when the solve does not converge.
void bench_solve(const SolveRequest& request);

/// The same for several orders, or against several baselines, as a table with a row for each order.
/// All sides of an order take turns.
void bench_solve_table(const SolveRequest& request, const std::vector<std::int64_t>& orders,
                       const std::vector<std::string>& against);

/// The orders in a list such as "50,1000,1e4". Throws Error(invalid_argument).
std::vector<std::int64_t> sizes_in(const std::string& option, const std::string& list,
                                   std::int64_t most);
/// The words of a list such as "dposv,mkl-dposv".
std::vector<std::string> words_in(const std::string& list);

/// For --help.
std::string solve_bench_help();

}  // namespace stepwell::bench
