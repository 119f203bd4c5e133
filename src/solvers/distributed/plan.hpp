// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "solvers/distributed/matrix.hpp"

/// What solve_spd() over ranks takes, without ranks that talk to each other.
namespace stepwell::solvers {

/// Throws Error(invalid_argument) for options that are not for ranks.
void check_ranked_options(const SolveOptions& options);

/// Where A lies on so many ranks; rank and threads are the caller's to say.
DistributedLayout place_of(int ranks, std::int64_t n, const SolveOptions& options,
                           const DistributedOptions& distributed);

/// The plan of one rank.
Plan plan_of_rank(const DistributedLayout& place, std::int64_t columns,
                  const SolveOptions& options);

/// That of so many ranks with 'threads' each: what plan_spd(Ranks, ...) says on every one of them.
/// Where ranks times tiles are more than 16 million, only those are asked that own the most of A
/// (16 of them or more): right to one in a hundred.
Plan plan_of_all(int ranks, int threads, std::int64_t n, std::int64_t columns,
                 const SolveOptions& options, const DistributedOptions& distributed);

}  // namespace stepwell::solvers
