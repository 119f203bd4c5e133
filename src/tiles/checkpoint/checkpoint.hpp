// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "tiles/checkpoint/file.hpp"

namespace stepwell::tiles {

/// The checkpoints of one factorization in a directory, as seen by one rank. Each rank writes a
/// file for each generation; when all ranks have done so, rank 0 writes a file that marks the
/// generation as complete, and only then is it valid. This class does not communicate: the ranks
/// agree on completeness elsewhere.
///
/// The file names begin with "stepwell-" and a checksum of the facts, so that a directory can hold
/// several factorizations. Ranks may share a directory or have one each: a rank reads no file of
/// another rank, except those that rank 0 writes for all.
class Checkpoints {
 public:
  /// The facts are the same on all ranks.
  Checkpoints(const std::string& directory, int rank, int ranks, const Facts& facts);

  /// Creates the directory if it does not exist, removes the unfinished files of a writer that was
  /// killed, and writes a trial file, so that an unwritable directory is found now and not after a
  /// tenth of the work. Throws Error(cannot_open).
  void open() const;

  /// The largest generation number for which this rank finds a file; 0 if there is none. The next
  /// generation must get a larger number than any rank finds, so that no number is used twice.
  std::int64_t newest() const;

  /// The generations that rank 0 has declared complete, newest first.
  std::vector<Milestone> complete() const;

  /// This rank's file. See write_checkpoint_file, verify_checkpoint_file and read_checkpoint_file.
  void write(const Milestone& milestone, std::span<const SavedPiece> pieces) const;
  std::string verify(const Milestone& milestone, std::span<const SavedPiece> pieces) const;
  void read(const Milestone& milestone, std::span<const SavedPiece> pieces) const;

  /// Called by rank 0 when all ranks have written their files.
  void declare_complete(const Milestone& milestone) const;

  /// A factorization that ended without success leaves a verdict, so that it need not be repeated.
  void write_verdict(std::span<std::byte> verdict) const;
  bool read_verdict(std::span<std::byte> verdict) const;

  /// Removes this rank's files of all generations before 'generation'.
  void remove_before(std::int64_t generation) const noexcept;
  /// Removes all files that this rank has written, including the verdict if 'verdict'.
  void remove(bool verdict) const noexcept;

  /// If the directory has checkpoints but none with these facts, what differs in one of them;
  /// otherwise empty.
  std::string difference_to_others() const;

  /// The path of this rank's file.
  std::string path(std::int64_t generation) const;

 private:
  std::string complete_path(std::int64_t generation) const;
  std::string verdict_path() const { return stem_ + "verdict"; }
  std::string unfinished(const char* what) const;
  std::vector<std::int64_t> generations(const std::string& ending) const;

  std::string directory_;
  int rank_;
  Facts shared_;      ///< facts of all ranks
  Facts own_;         ///< the same and this rank's number
  std::string stem_;  ///< common prefix of the paths of all files
};

}  // namespace stepwell::tiles
