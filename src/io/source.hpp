// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stepwell/error.hpp"
#include "stepwell/progress.hpp"

/// Input files are untrusted: a malformed one leads to an Error after bounded time and memory, and
/// to nothing worse.
namespace stepwell::io {

/// The text in quotes, truncated after 200 characters, with control characters written as \xNN.
std::string in_quotes(std::string_view text);

/// A source of bytes: a regular file, or memory owned by the caller.
class Source {
 public:
  /// Throws Error(cannot_open) if the path is not a regular file; never blocks on a FIFO.
  /// 'progress', if given, counts the bytes read.
  explicit Source(const std::string& path, Progress* progress = nullptr);
  /// 'name' is used in messages.
  Source(std::string_view bytes, std::string_view name);
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::int64_t size() const { return size_; }
  std::int64_t position() const { return position_; }
  std::int64_t left() const { return size_ - position_; }
  void rewind() { position_ = 0; }
  int descriptor() const { return descriptor_; }  ///< -1: memory

  /// The maximum size in bytes of a matrix read from this source; 0: limited only by the system.
  std::int64_t memory_limit() const { return memory_limit_; }
  void limit_memory(std::int64_t bytes) { memory_limit_ = bytes; }

  /// Reads up to 'bytes' bytes and returns the number read, which is smaller only at the end. A
  /// file that was truncated after it was opened ends earlier; data appended to it is ignored.
  std::int64_t read(void* to, std::int64_t bytes);

  /// Throws "<file>, <where>: <what>"; without the comma if 'where' is empty.
  [[noreturn]] void fail(ErrorCode code, const std::string& where, const std::string& what) const;

 private:
  std::string name_;  ///< name for messages, in quotes
  std::string_view memory_;
  Progress* progress_ = nullptr;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  std::int64_t position_ = 0;
  std::int64_t memory_limit_ = 0;
};

}  // namespace stepwell::io
