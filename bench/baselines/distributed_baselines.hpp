// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/harness/harness.hpp"
#include "bench/problems/distributed_system.hpp"
#include "bench/problems/system.hpp"
#include "engine/agreement.hpp"

/// The baselines of `bench solve` over ranks.
namespace stepwell::bench {

/// The first is the default.
const std::vector<std::string>& distributed_baseline_names();

/// A baseline that has run before. Its functions are collective and own their data, except for the
/// ranks and their agreement.
struct DistributedBaseline {
  Side side;
  std::function<double()> backward_error;  ///< of the last run
  nlohmann::ordered_json details =
      nlohmann::ordered_json::object();  ///< for the report, in addition to the common fields
  int context = 0;                       ///< of BLACS, if BLACS was initialized
};

/// The baseline request.against, one of distributed_baseline_names(), with request.threads threads
/// on each rank. Collective. Throws Error on all ranks if the baseline is not installed, or for
/// one-rank if the ranks are on several machines.
DistributedBaseline distributed_baseline(engine::Agreement& agreement, const Ranks& ranks,
                                         const ProcessGrid& p, const SolveRequest& request);

/// Starts this many workers before the clock starts. A process has one set of workers, and rank 0
/// may have worked with another number of them.
void start_workers(int threads);

/// Seconds of a call on the slowest rank, the same value on all ranks.
double timed(const Ranks& ranks, const Side& side);

}  // namespace stepwell::bench
