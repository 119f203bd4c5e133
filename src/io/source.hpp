// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stepwell/error.hpp"
#include "stepwell/progress.hpp"

/// Files are untrusted: they may cost bounded time and memory and an Error, nothing else.
namespace stepwell::io {

/// In quotes, cut after 200 characters, with what a terminal might obey written as \xNN.
std::string in_quotes(std::string_view text);

/// Bytes to read: a regular file, or memory that somebody else owns.
class Source {
 public:
  /// Throws Error(cannot_open) for what is not a regular file. Never waits for a FIFO's writer.
  /// 'progress', if any, sees how much of it has been read.
  explicit Source(const std::string& path, Progress* progress = nullptr);
  /// 'name' is what messages call it.
  Source(std::string_view bytes, std::string_view name);
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::int64_t size() const { return size_; }
  std::int64_t position() const { return position_; }
  std::int64_t left() const { return size_ - position_; }
  void rewind() { position_ = 0; }
  int descriptor() const { return descriptor_; }  ///< -1: memory

  /// The most bytes that a matrix made of it may take; 0: as much as the system has.
  std::int64_t memory_limit() const { return memory_limit_; }
  void limit_memory(std::int64_t bytes) { memory_limit_ = bytes; }

  /// Reads up to 'bytes' bytes and returns how many; fewer at the end only. A file that has become
  /// shorter since it was opened ends earlier; what has been added to it is not seen.
  std::int64_t read(void* to, std::int64_t bytes);

  /// Throws "<file>, <where>: <what>"; without the comma if 'where' is empty.
  [[noreturn]] void fail(ErrorCode code, const std::string& where, const std::string& what) const;

 private:
  std::string name_;  ///< in quotes
  std::string_view memory_;
  Progress* progress_ = nullptr;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  std::int64_t position_ = 0;
  std::int64_t memory_limit_ = 0;
};

}  // namespace stepwell::io
