// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "stepwell/solve.hpp"

/// What `solve` and `plan` let their user choose.
namespace stepwell::tool {

struct SolveOptionsRequest {
  std::string map;  ///< empty: the plan's
  std::string refiner = "cg";
  double tolerance = 0;
  bool no_climb = false;
  int threads = 0;
};

/// Adds --map, --refiner, --tolerance, --no-climb and --threads.
void add_solve_options(CLI::App& verb, SolveOptionsRequest& r);

/// Throws Error(invalid_argument) for a map or refiner that is none.
SolveOptions options_of(const SolveOptionsRequest& r);

}  // namespace stepwell::tool
