// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "tiles/checkpoint_file.hpp"

namespace stepwell::tiles {

/// The checkpoints of one factorization in a directory, as one rank sees them. Each rank writes a
/// file for each generation; when all have, rank 0 writes one that says so, and only then does the
/// generation count. The ranks agree on that elsewhere: nothing here talks to another rank.
///
/// The names of the files begin with "stepwell-" and a sum of the facts, so that a directory can
/// hold several factorizations. Ranks may share a directory or have one each: they read nothing of
/// each other but what rank 0 says.
class Checkpoints {
 public:
  /// Facts are the same on all ranks.
  Checkpoints(const std::string& directory, int rank, int ranks, const Facts& facts);

  /// Makes the directory if it is not there, removes what a writer that was killed has left, and
  /// tries to write: better now than after a tenth of the work. Throws Error(cannot_open).
  void open() const;

  /// The largest number of a generation of which this rank finds anything; 0: none. The next
  /// generation gets a larger one than all ranks find, so that no two have the same.
  std::int64_t newest() const;

  /// The generations that rank 0 has declared complete, newest first.
  std::vector<Milestone> complete() const;

  /// This rank's file. See verify_checkpoint_file and its relatives.
  void write(const Milestone& milestone, std::span<const SavedPiece> pieces) const;
  std::string verify(const Milestone& milestone, std::span<const SavedPiece> pieces) const;
  void read(const Milestone& milestone, std::span<const SavedPiece> pieces) const;

  /// For rank 0, when all ranks have written theirs.
  void declare_complete(const Milestone& milestone) const;

  /// A factorization that has ended without success leaves a verdict: it need not be tried again.
  void write_verdict(std::span<std::byte> verdict) const;
  bool read_verdict(std::span<std::byte> verdict) const;

  /// Removes this rank's files of all generations before this one.
  void remove_before(std::int64_t generation) const noexcept;
  /// Removes all that this rank has written: the verdict too if 'verdict'.
  void remove(bool verdict) const noexcept;

  /// If there are checkpoints in the directory but none with these facts: what differs in one of
  /// them. Else empty.
  std::string difference_to_others() const;

  /// The name of this rank's file.
  std::string path(std::int64_t generation) const;

 private:
  std::string complete_path(std::int64_t generation) const;
  std::string verdict_path() const { return stem_ + "verdict"; }
  std::string unfinished(const char* what) const;
  std::vector<std::int64_t> generations(const std::string& ending) const;

  std::string directory_;
  int rank_;
  Facts shared_;      ///< of all ranks
  Facts own_;         ///< and this one
  std::string stem_;  ///< what the names of all files begin with
};

}  // namespace stepwell::tiles
