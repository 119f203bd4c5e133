// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "solvers/distributed/matrix.hpp"

/// The plan of solve_spd() over ranks, computed without communication.
namespace stepwell::solvers {

/// Throws Error(invalid_argument) for options that are not supported over ranks.
void check_distributed_options(const SolveOptions& options);

/// The layout of A on so many ranks; the caller sets 'rank' and 'threads'.
DistributedLayout layout_of(int ranks, std::int64_t n, const SolveOptions& options,
                            const DistributedOptions& distributed);

/// The plan of one rank.
Plan plan_of_rank(const DistributedLayout& layout, std::int64_t columns,
                  const SolveOptions& options);

/// The plan of so many ranks with 'threads' threads each: what plan_spd(Ranks, ...) returns on
/// every rank. If ranks times tiles exceed 16 million, only the ranks that own the most of A are
/// planned (16 or more): the result is then accurate to 1%.
Plan plan_of_all(int ranks, int threads, std::int64_t n, std::int64_t columns,
                 const SolveOptions& options, const DistributedOptions& distributed);

}  // namespace stepwell::solvers
