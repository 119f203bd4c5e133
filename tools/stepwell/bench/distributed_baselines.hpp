// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "distributed_system.hpp"
#include "engine/agreement.hpp"
#include "harness.hpp"
#include "solve.hpp"

/// What `bench solve` over ranks is compared with.
namespace stepwell::tool {

/// The first is the default.
const std::vector<std::string>& distributed_baseline_names();

/// One that has run before. Its functions are collective and own what they work on, but for the
/// ranks and their agreement.
struct DistributedBaseline {
  Side side;
  std::function<double()> backward_error;  ///< of the last run
  nlohmann::ordered_json details =
      nlohmann::ordered_json::object();  ///< for the report, beside what all have
  int context = 0;                       ///< of BLACS, if it was started
};

/// request.against, an existing one, with request.threads on each rank. Collective. Throws Error,
/// on all ranks, where the baseline is not installed or the ranks are on several machines.
DistributedBaseline distributed_baseline(engine::Agreement& agreement, const Ranks& ranks,
                                         const ProcessGrid& p, const SolveRequest& request);

/// A process has one set of workers, and rank 0 may have worked with another number of them: this
/// many, before the clock starts.
void start_workers(int threads);

/// Seconds of a call, those of the rank that takes longest: the same on all ranks.
double timed(const Ranks& ranks, const Side& side);

}  // namespace stepwell::tool
