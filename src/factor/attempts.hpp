// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "engine/graph.hpp"
#include "factor/block_source.hpp"
#include "factor/call.hpp"
#include "factor/factor_data.hpp"
#include "factor/left_looking.hpp"
#include "factor/preparation.hpp"
#include "factor/scaling.hpp"
#include "factor/share.hpp"

namespace stepwell::factor {

/// ||A||_F of a symmetric matrix from the scan of its lower triangle.
double symmetric_norm(const kernels::Scan& lower, const Diagonal& diagonal);

/// The attempts of a factorization: at the map's rungs first, then with L rounded toward zero, then
/// with growing shifts (Higham & Pranesh, Algorithm 3.1), and in fp64 when none of that helps. What
/// does not change between attempts, and the result.
class Attempts {
 public:
  /// The source and the diagonal are in the order of elimination: indices into A; empty: as A is.
  Attempts(const BlockSource& source, Diagonal diagonal, std::vector<std::int64_t> order,
           const tiles::Grid& grid, const FactorOptions& options, Share share = {},
           Checkpointing* checkpoints = nullptr);

  Factor run();

 private:
  FactorReport& report() { return data_->report; }
  void descend();
  double unit_of(const tiles::RungMap& map) const;
  tiles::RungMap resolve_map();
  void attempt_fp64();
  /// Factors once; returns false if a pivot failed and another attempt may help.
  bool attempt(const tiles::RungMap& map, double shift, tiles::Rounding rounding);
  void factor(Attempt& attempt, const Schedule& schedule, const engine::GraphOptions& options);
  /// What a checkpoint of this attempt must agree with.
  tiles::Facts facts(const Attempt& attempt, const Schedule& schedule) const;
  void summarize_scans(const Attempt& attempt);
  bool report_non_finite();
  Share::Place find_non_finite() const;

  const BlockSource& source_;
  Diagonal diagonal_;
  const FactorOptions& options_;
  tiles::Grid grid_;
  Share share_;
  Checkpointing* checkpoints_;
  std::string identity_;  ///< of A, for its checkpoints
  Clock::time_point start_;
  std::unique_ptr<FactorData> data_ = std::make_unique<FactorData>();
};

}  // namespace stepwell::factor
