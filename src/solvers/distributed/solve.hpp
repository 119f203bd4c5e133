// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <new>

#include "core/memory_error.hpp"
#include "engine/communicator.hpp"
#include "factor/block_source.hpp"
#include "stepwell/ranks.hpp"

namespace stepwell::solvers {

/// Says what it was on standard error, and ends all ranks.
void end_all(const Ranks& ranks, const std::exception& e);

/// What every call over ranks runs in. An error that the others have not heard of leaves them
/// waiting: then all of them end. Nobody waits for a forked child.
template <class Work>
auto with_all(const Ranks& ranks, Work work) try {
  engine::require_own_process(ranks.communicator().is_here());
  try {
    const engine::Hold hold(ranks.communicator());
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

/// solve_spd() over ranks where 'a' has this rank's tiles, within with_all(). One that needs no
/// scratch has them in memory, and they are read there: distributed.keep_tiles is for those that
/// are made. Collective.
Certificate solve_ranked(engine::Communicator& ranks, std::int64_t n, const factor::BlockSource& a,
                         MatrixView<const double> b, MatrixView<double> x,
                         const SolveOptions& options, const DistributedOptions& distributed);

}  // namespace stepwell::solvers
