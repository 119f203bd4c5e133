// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// One file of a checkpoint: named pieces of memory, and what they belong to. It is there whole or
/// not at all. What is read is untrusted: it may cost bounded time and memory, nothing else.
///
///   prefix       64 bytes: magic, version, byte order, sizes, milestone, sum of prefix and facts
///   facts        lines "name value"
///   data         the pieces, one after the other
///   table        of each piece: id, bytes, sum
///   sum          of the table
///
/// Sums are XXH64; numbers are in the machine's byte order, which must be the reader's.
namespace stepwell::tiles {

/// What a checkpoint must have in common with the run that takes it up: the order, the tile, the
/// map, ... Plain text of one line, at most 64 KiB in all.
struct Fact {
  std::string name, value;
};
using Facts = std::vector<Fact>;

/// How far a factorization has come.
struct Milestone {
  std::int64_t generation = 0;  ///< checkpoints are numbered from 1
  std::int64_t columns = 0;     ///< block columns of L that are finished
  bool operator==(const Milestone&) const = default;
};

/// A piece of memory and its name. Writing does not change it.
struct SavedPiece {
  std::int64_t id = 0;
  std::span<std::byte> memory;
};

/// The bytes that a file of these pieces takes.
std::int64_t checkpoint_file_bytes(const Facts& facts, std::span<const SavedPiece> pieces);

/// Writes it as 'unfinished', which is replaced if it is there, and then gives it the name 'path':
/// both are in one directory. On the disk when this returns. Throws Error(cannot_open) and leaves
/// nothing behind.
void write_checkpoint_file(const std::string& path, const std::string& unfinished,
                           const Facts& facts, const Milestone& milestone,
                           std::span<const SavedPiece> pieces);

/// The milestone and facts of a file, without its data. Empty text: all is well, else it says what
/// is wrong.
struct CheckpointHead {
  std::string wrong;
  Milestone milestone;
  std::string facts;  ///< as in the file: untrusted text
};
CheckpointHead read_checkpoint_head(const std::string& path);

/// What is wrong with a file that should have these facts, this milestone and these pieces; empty:
/// nothing, all of it has been read and the sums are right. The pieces' memory is not touched.
std::string verify_checkpoint_file(const std::string& path, const Facts& facts,
                                   const Milestone& milestone, std::span<const SavedPiece> pieces);

/// Reads the pieces of a file that has been verified. Throws Error(malformed) if it has changed
/// since, Error(cannot_open) if it can't be read.
void read_checkpoint_file(const std::string& path, const Facts& facts, const Milestone& milestone,
                          std::span<const SavedPiece> pieces);

/// The first fact of 'facts' that the text does not have, as a sentence: "the tile differs: this
/// run has 512". Empty: they agree.
std::string differing_fact(const Facts& facts, const std::string& text);

}  // namespace stepwell::tiles
