// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gallery/recipe.hpp"
#include "options/distributed_options.hpp"
#include "options/solve_options.hpp"
#include "tiles/distribution.hpp"

namespace stepwell::tool {

/// Prints the plan of `lstsq` for an m x n matrix A. Throws Error for options that least squares
/// does not have.
void print_tall_plan(std::int64_t m, std::int64_t n, std::int64_t columns,
                     const SolveOptionsRequest& r, bool json);

/// Bytes that all ranks together send for a factor at this map; 0: there is no factor, or the
/// number depends on A.
std::int64_t modelled_bytes(const Method& method, std::int64_t n, std::int64_t tile,
                            const tiles::Distribution& distribution);

/// A request to plan `solve` with a generated A over this many ranks.
struct DistributedPlanRequest {
  int ranks = 0;
  std::int64_t n = 0;
  std::int64_t columns = 1;
  DistributedRequest where;
  SolveOptionsRequest how;
  std::optional<gallery::Recipe> recipe;  ///< what is known about A
  std::string kind;                       ///< name of the kind
};

/// Prints that plan. Needs neither ranks nor MPI. Throws Error if the layout is not possible for
/// the number of ranks, or for options that are not available over ranks.
void print_distributed_plan(const DistributedPlanRequest& r, bool json);

}  // namespace stepwell::tool
