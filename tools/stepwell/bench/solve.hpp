// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "options/recipe_options.hpp"

namespace stepwell::tool {

/// Options of `bench solve`. Empty or zero selects the default.
struct SolveRequest : RecipeRequest {
  std::int64_t n = 4096;
  std::int64_t columns = 1;
  std::string map;      ///< empty: the plan's map
  std::string refiner;  ///< empty: the default of the structure
  std::string pivoting = "partial";
  std::string structure;  ///< "spd" or "general"; empty: that of the kind
  std::string against;    ///< empty: dposv or dgesv
  int threads = 0;
  int pairs = 5;
  bool allow_slow_blas = false;
  bool json = false;
  bool mpi = false;  ///< distributed over ranks
};

/// Runs the benchmark and prints it. Throws Error, also when the solve does not converge.
void bench_solve(const SolveRequest& request);

/// For --help.
std::string solve_bench_help();

}  // namespace stepwell::tool
