// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "stepwell/solve.hpp"

/// Command-line options that `solve` and `plan` share.
namespace stepwell::tool {

class Verb;

struct SolveOptionsRequest {
  std::string assume = "auto";
  std::string map;      ///< empty: the plan's map
  std::string refiner;  ///< empty: the default of the structure
  std::string pivoting = "partial";
  double tolerance = 0;
  bool no_climb = false;
  int threads = 0;
};

/// Adds --assume, --map, --refiner, --pivoting, --tolerance, --no-climb and --threads.
void add_solve_options(Verb verb, SolveOptionsRequest& r);

/// Adds --refiner and --pivoting alone.
void add_method_options(Verb verb, std::string& refiner, std::string& pivoting);

/// Throws Error(invalid_argument) for a map or refiner that does not exist.
SolveOptions options_of(const SolveOptionsRequest& r);

/// The structure that --assume selects.
Structure structure_of(const SolveOptionsRequest& r);

/// None if the name is empty. Throws Error(invalid_argument) if there is no such refiner.
std::optional<Refiner> refiner_of(const std::string& name);

Pivoting pivoting_of(const std::string& name);

}  // namespace stepwell::tool
