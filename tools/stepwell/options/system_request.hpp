// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "options/distributed_options.hpp"
#include "options/recipe_options.hpp"
#include "options/solve_options.hpp"

namespace stepwell::tool {

/// Options of `solve`.
struct SystemRequest : SolveOptionsRequest, DistributedRequest {
  std::string a, b;      ///< files
  bool files = false;    ///< both were given
  RecipeRequest recipe;  ///< empty kind: A comes from a file
  std::int64_t n = 0;    ///< order of a generated A
  std::int64_t columns = 1;
  std::string out;
  bool condition = false;
  bool prove = false;
  bool lower = false;
  bool transposed = false;
  bool quiet = false;
  bool json = false;
  // For ranks.
  bool mpi = false;
  std::string checkpoint;
  double checkpoint_interval = DistributedOptions{}.checkpoint_interval;
};

/// Solves with a matrix of the gallery, on the ranks that a launcher has started or in this process
/// alone.
void solve_generated(const SystemRequest& r);

}  // namespace stepwell::tool
