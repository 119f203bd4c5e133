// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <new>

#include "core/memory_error.hpp"
#include "engine/communicator.hpp"
#include "factor/block_source.hpp"
#include "stepwell/distributed.hpp"

namespace stepwell::solvers {

/// Prints the error on standard error and ends all ranks.
void end_all(const Ranks& ranks, const std::exception& e);

/// Every call over ranks runs in this function. An error that the other ranks do not know of would
/// leave them waiting, so it ends all ranks. In a forked child, for which no rank waits, the error
/// is only thrown.
template <class Work>
auto with_all(const Ranks& ranks, Work work) try {
  engine::require_own_process(RanksData::of(ranks).is_here());
  try {
    const engine::CommunicatorLock lock(RanksData::of(ranks));
    return work();
  } catch (const engine::AgreedError&) {
    throw;
  } catch (const std::exception& e) {
    if (ranks.size() > 1) end_all(ranks, e);
    throw;
  }
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

/// solve_spd() over ranks; 'a' provides this rank's tiles. Must be called within with_all(). A
/// source that needs no scratch memory holds its tiles in memory, and they are read in place:
/// distributed.keep_tiles applies only to tiles that are generated. Collective.
Certificate solve_distributed(engine::Communicator& ranks, std::int64_t n,
                              const factor::BlockSource& a, MatrixView<const double> b,
                              MatrixView<double> x, const SolveOptions& options,
                              const DistributedOptions& distributed);

}  // namespace stepwell::solvers
