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
#include "tiles/checkpoint.hpp"

namespace stepwell::factor {

/// What checkpoints have cost, and saved, in an state.
struct CheckpointReport {
  std::int64_t resumed = 0;  ///< block columns that came from one
  std::int64_t written = 0;  ///< how many
  std::int64_t bytes = 0;    ///< of this rank, in the last one
  double seconds = 0;        ///< writing and waiting for the others
};

/// The checkpoints of the factorizations that belong to one solve: all attempts and all rungs of
/// it. Everything but due() and report() is collective.
///
/// Between two windows of columns the ranks wait for their tasks, write their tiles, finished or
/// not, and go on when all have. An attempt that has failed leaves a verdict instead. A later run
/// takes both up, and computes the same bits as one that was never interrupted.
class Checkpointing {
 public:
  /// 'share_of_work' lies between two checkpoints; 'matrix' is the caller's name for A.
  Checkpointing(const ProcessContext& process, std::string directory, double share_of_work,
                std::string matrix);

  /// What there is to save when so many block columns are finished.
  using State = std::function<std::vector<tiles::SavedPiece>(std::int64_t columns)>;

  /// What tells this matrix from others: its name, its diagonal and some of its tiles.
  std::string identity(const BlockSource& source, const tiles::Grid& grid,
                       const Diagonal& diagonal) const;

  /// Begins an attempt that is described by its facts. Returns how it ended, if an earlier run has
  /// seen it fail. Throws Error(cannot_open) if nothing can be written.
  std::optional<kernels::Pivot> begin(const tiles::Facts& facts, const Schedule& schedule);

  /// Reads the newest checkpoint of the attempt that is whole on all ranks, and returns how many
  /// block columns are finished; 0: there is none. The graph has no tasks yet.
  std::int64_t restore(engine::Graph& graph, const State& state);

  /// Whether enough has been done since the last one.
  bool due(std::int64_t columns) const;

  /// Waits for the graph and writes one. Returns false, and writes none, if a rank has stopped:
  /// then there is no point in inserting more.
  bool save(engine::Graph& graph, std::int64_t columns, const State& state);

  /// The attempt has failed: it need not be made again.
  void failed(kernels::Pivot pivot);

  /// Removes all that this object has written: the solve has ended well.
  void remove() noexcept;

  const CheckpointReport& report() const { return report_; }

 private:
  bool rest(engine::Graph& graph) const;
  std::vector<tiles::Milestone> candidates() const;

  ProcessContext process_;
  std::string directory_;
  double share_of_work_;
  std::string matrix_;
  std::vector<tiles::Checkpoints> attempts_;  ///< the last one is under way
  Schedule schedule_;                         ///< of that one
  std::int64_t saved_ = 0;                    ///< columns finished at the last checkpoint
  std::int64_t generation_ = 0;               ///< of the last one
  std::int64_t previous_ = 0;                 ///< and of the one before that
  CheckpointReport report_;
};

/// The instruction sets and the BLAS that the bits of a factor depend on.
std::string kernels_in_use();

}  // namespace stepwell::factor
