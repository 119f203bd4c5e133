// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stepwell/progress.hpp"

namespace stepwell::io {

/// A file to write that is there whole or not at all: a temporary file beside it takes its name
/// when all is written. A symbolic link of that name is replaced. Throws Error(cannot_open).
/// Or memory that somebody else owns. 'progress', if any, sees how many of 'bytes' bytes have been
/// written.
class Sink {
 public:
  explicit Sink(const std::string& path, Progress* progress = nullptr, std::int64_t bytes = 0);
  /// Appends to the string; what it has is not taken back without commit().
  explicit Sink(std::string* memory) : path_("memory"), memory_(memory) {}
  /// Without commit() nothing is left behind.
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  const std::string& path() const { return path_; }

  void write(const void* from, std::int64_t bytes);
  void write(std::string_view text) { write(text.data(), static_cast<std::int64_t>(text.size())); }
  void commit();

 private:
  void flush();
  void put(const char* from, std::int64_t bytes);
  [[noreturn]] void fail(const char* what, int error) const;

  std::string path_;
  std::string temporary_;
  std::string waiting_;  ///< small pieces, put together
  std::string* memory_ = nullptr;
  Progress* progress_ = nullptr;
  int slot_ = -1;  ///< among the unfinished
  int descriptor_ = -1;
};

/// Removes the temporary files of all sinks that live, for a process that is about to end: safe in
/// a signal handler.
void remove_unfinished() noexcept;

}  // namespace stepwell::io
