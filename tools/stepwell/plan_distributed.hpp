// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "distributed_options.hpp"
#include "gallery/recipe.hpp"
#include "solve_options.hpp"
#include "tiles/distribution.hpp"

namespace stepwell::tool {

/// Bytes that all ranks together send for a factor of this map; 0: there is none, or what it sends
/// depends on A.
std::int64_t modelled_bytes(const std::string& map, std::int64_t n, std::int64_t tile,
                            const tiles::Distribution& distribution);

/// What `solve --gen` would do over so many ranks.
struct DistributedPlanRequest {
  int ranks = 0;
  std::int64_t n = 0;
  std::int64_t columns = 1;
  RanksRequest where;
  SolveOptionsRequest how;
  std::optional<gallery::Recipe> recipe;  ///< what is known of A
  std::string kind;                       ///< its name
};

/// Prints that plan. No ranks and no MPI are needed for it. Throws Error: a layout that does not go
/// with the ranks, options that ranks do not have.
void print_ranked_plan(const DistributedPlanRequest& r, bool json);

}  // namespace stepwell::tool
