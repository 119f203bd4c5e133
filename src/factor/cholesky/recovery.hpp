// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "core/clock.hpp"
#include "engine/graph.hpp"
#include "factor/block_source.hpp"
#include "factor/cholesky/checkpointing.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "factor/cholesky/graph.hpp"
#include "factor/cholesky/setup.hpp"
#include "factor/distributed/process_context.hpp"
#include "factor/scaling.hpp"
#include "factor/setup.hpp"

namespace stepwell::factor {

/// Makes the attempts of a factorization: at the map's rungs first, then with L rounded toward
/// zero, then with growing shifts (Higham & Pranesh, Algorithm 3.1), and in fp64 when none of these
/// succeeds. Holds what does not change between attempts, and the result.
class BreakdownRecovery {
 public:
  /// The source and the diagonal are in the order of elimination. 'order' holds its indices into A;
  /// empty: A's own order.
  BreakdownRecovery(const BlockSource& source, Diagonal diagonal, std::vector<std::int64_t> order,
                    const tiles::Grid& grid, const FactorOptions& options,
                    ProcessContext process = {}, Checkpointing* checkpoints = nullptr);

  Factor run(OddPowers odd = OddPowers::as_they_are);

 private:
  FactorReport& report() { return data_->report; }
  void try_attempts();
  double unit_of(const tiles::RungMap& map) const;
  tiles::RungMap resolve_map();
  /// The map of an attempt at FP64 accuracy.
  tiles::RungMap fp64_map() const;
  struct AttemptPlan {
    engine::GraphOptions graph;
    Schedule schedule;
    std::int64_t bytes = 0;  ///< at its peak
  };
  AttemptPlan plan(const tiles::RungMap& map) const;
  /// Factors once; returns false if a pivot failed and another attempt may help.
  bool attempt(const tiles::RungMap& map, double shift, tiles::Rounding rounding);
  void factor(CholeskyState& state, const Schedule& schedule, const engine::GraphOptions& options);
  /// The facts that a checkpoint of this attempt must agree with.
  tiles::Facts facts(const CholeskyState& state, const Schedule& schedule) const;
  void summarize_scans(const CholeskyState& state);
  bool report_non_finite();

  const BlockSource& source_;
  Diagonal diagonal_;
  const FactorOptions& options_;
  tiles::Grid grid_;
  ProcessContext process_;
  Checkpointing* checkpoints_;
  std::string identity_;  ///< identifies A in its checkpoints
  OddPowers odd_ = OddPowers::as_they_are;
  core::Clock::time_point start_;
  std::unique_ptr<FactorData> data_ = std::make_unique<FactorData>();
};

}  // namespace stepwell::factor
