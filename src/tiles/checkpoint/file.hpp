// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// One file of a checkpoint: identified pieces of memory, and the run that they belong to. A file
/// exists completely or not at all. The contents that are read are untrusted: a bad file can cost
/// bounded time and memory, nothing else.
///
///   prefix       64 bytes: magic, version, byte order, sizes, milestone, sum of prefix and facts
///   facts        lines "name value"
///   data         the pieces, one after the other
///   table        for each piece: id, bytes, sum
///   sum          sum of the table
///
/// Sums are XXH64 checksums; integers are in the machine's byte order, which must be the reader's.
namespace stepwell::tiles {

/// What a checkpoint must have in common with the run that resumes from it: the order, the tile,
/// the map, ... One line of plain text each, at most 64 KiB in all.
struct Fact {
  std::string name, value;
};
using Facts = std::vector<Fact>;

/// Progress of a factorization.
struct Milestone {
  std::int64_t generation = 0;  ///< checkpoints are numbered from 1
  std::int64_t columns = 0;     ///< block columns of L that are finished
  bool operator==(const Milestone&) const = default;
};

/// A piece of memory and its identifier. Writing does not change the memory.
struct SavedPiece {
  std::int64_t id = 0;
  std::span<std::byte> memory;
};

/// Size in bytes of a file with these pieces.
std::int64_t checkpoint_file_bytes(const Facts& facts, std::span<const SavedPiece> pieces);

/// Writes the file under the name 'unfinished', replacing an existing one, and then renames it to
/// 'path'; both are in one directory. The file is on disk when this returns. Throws
/// Error(cannot_open) and leaves nothing behind.
void write_checkpoint_file(const std::string& path, const std::string& unfinished,
                           const Facts& facts, const Milestone& milestone,
                           std::span<const SavedPiece> pieces);

/// The milestone and facts of a file, without its data. 'wrong' is empty, or says what is wrong.
struct CheckpointHead {
  std::string wrong;
  Milestone milestone;
  std::string facts;  ///< as in the file: untrusted text
};
CheckpointHead read_checkpoint_head(const std::string& path);

/// Checks a file that should have these facts, this milestone and these pieces. Returns what is
/// wrong, or an empty string if the whole file was read and all checksums match. The pieces' memory
/// is not touched.
std::string verify_checkpoint_file(const std::string& path, const Facts& facts,
                                   const Milestone& milestone, std::span<const SavedPiece> pieces);

/// Reads the pieces of a file that has been verified. Throws Error(malformed) if the file can't be
/// read or has changed since.
void read_checkpoint_file(const std::string& path, const Facts& facts, const Milestone& milestone,
                          std::span<const SavedPiece> pieces);

/// The first fact of 'facts' that the text does not have, as a message: "belongs to another run:
/// its tile differs; this run's is 512". Empty if they agree.
std::string differing_fact(const Facts& facts, const std::string& text);

}  // namespace stepwell::tiles
