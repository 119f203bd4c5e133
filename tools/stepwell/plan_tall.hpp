// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "solve_options.hpp"

namespace stepwell::tool {

/// Prints the plan of `lstsq` for an m x n matrix A. Throws Error for options that least squares
/// does not have.
void print_tall_plan(std::int64_t m, std::int64_t n, std::int64_t columns,
                     const SolveOptionsRequest& r, bool json);

}  // namespace stepwell::tool
