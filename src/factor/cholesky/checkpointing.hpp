// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/graph.hpp"
#include "factor/block_source.hpp"
#include "factor/cholesky/schedule.hpp"
#include "factor/distributed/process_context.hpp"
#include "factor/scaling.hpp"
#include "tiles/checkpoint/checkpoint.hpp"

namespace stepwell::factor {

/// Costs and benefits of the checkpoints in an attempt.
struct CheckpointReport {
  std::int64_t resumed = 0;  ///< block columns restored from a checkpoint
  std::int64_t written = 0;  ///< number of checkpoints written
  std::int64_t bytes = 0;    ///< bytes of this rank in the last checkpoint
  double seconds = 0;        ///< time for writing and for waiting for the other ranks
};

/// The checkpoints of the factorizations of one solve: all its attempts and rungs. All functions
/// except due() and report() are collective.
///
/// Between two windows of columns the ranks wait for their tasks, write their tiles, finished or
/// not, and continue when all ranks have written. A failed attempt leaves a verdict instead. A
/// later run uses both, and computes the same bits as a run that was never interrupted.
class Checkpointing {
 public:
  /// 'fraction_of_work' is the fraction of the work between two checkpoints; 'matrix' is the
  /// caller's name for A.
  Checkpointing(const ProcessContext& process, std::string directory, double fraction_of_work,
                std::string matrix);

  /// Returns the data to be saved when so many block columns are finished.
  using State = std::function<std::vector<tiles::SavedPiece>(std::int64_t columns)>;

  /// A string that identifies this matrix, computed from its name, its diagonal and some of its
  /// tiles.
  std::string identity(const BlockSource& source, const tiles::Grid& grid,
                       const Diagonal& diagonal) const;

  /// Begins the attempt that 'facts' describes. If an earlier run saw this attempt fail, returns
  /// the failing pivot. Throws Error(cannot_open) if nothing can be written.
  std::optional<kernels::Pivot> begin(const tiles::Facts& facts, const Schedule& schedule);

  /// Reads the newest checkpoint of the attempt that is complete on all ranks, and returns the
  /// number of finished block columns; 0: there is no checkpoint. The graph must not have tasks
  /// yet.
  std::int64_t restore(engine::Graph& graph, const State& state);

  /// Whether enough work has been done since the last checkpoint.
  bool due(std::int64_t columns) const;

  /// Waits for the graph and writes a checkpoint. If a rank has stopped, returns false and writes
  /// nothing: inserting more tasks is then pointless.
  bool save(engine::Graph& graph, std::int64_t columns, const State& state);

  /// Records that the attempt has failed and need not be repeated.
  void failed(kernels::Pivot pivot);

  /// Removes all files that this object has written, after a successful solve.
  void remove() noexcept;

  const CheckpointReport& report() const { return report_; }

 private:
  bool rest(engine::Graph& graph) const;
  std::vector<tiles::Milestone> candidates() const;

  ProcessContext process_;
  std::string directory_;
  double fraction_of_work_;
  std::string matrix_;
  std::vector<tiles::Checkpoints> attempts_;  ///< the last one is in progress
  Schedule schedule_;                         ///< schedule of the current attempt
  std::int64_t saved_ = 0;                    ///< columns finished at the last checkpoint
  std::int64_t generation_ = 0;               ///< largest generation number so far
  std::int64_t previous_ = 0;                 ///< generation of the last checkpoint; 0: none
  CheckpointReport report_;
};

/// The kernels and the BLAS that the bits of a factor depend on.
std::string kernels_in_use();

}  // namespace stepwell::factor
