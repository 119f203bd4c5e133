// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "stepwell/solve.hpp"

/// What `solve` and `plan` let their user choose.
namespace stepwell::tool {

struct SolveOptionsRequest {
  std::string assume = "auto";
  std::string map;      ///< empty: the plan's
  std::string refiner;  ///< empty: the structure's
  std::string pivoting = "partial";
  double tolerance = 0;
  bool no_climb = false;
  int threads = 0;
};

/// Adds --assume, --map, --refiner, --pivoting, --tolerance, --no-climb and --threads.
void add_solve_options(CLI::App& verb, SolveOptionsRequest& r);

/// Adds --refiner and --pivoting alone.
void add_method_options(CLI::App& verb, std::string& refiner, std::string& pivoting);

/// Throws Error(invalid_argument) for a map or refiner that is none.
SolveOptions options_of(const SolveOptionsRequest& r);

/// What --assume says.
Structure structure_of(const SolveOptionsRequest& r);

/// None if the name is empty. Throws Error(invalid_argument) if there is no such refiner.
std::optional<Refiner> refiner_of(const std::string& name);

Pivoting pivoting_of(const std::string& name);

}  // namespace stepwell::tool
