// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stepwell/progress.hpp"

namespace stepwell::io {

/// An output file that is written completely or not at all: the data goes to a temporary file in
/// the same directory, which commit() renames. A symbolic link of that name is replaced. A sink can
/// also append to a string of the caller. 'progress', if given, counts the bytes written, up to
/// 'bytes'. Throws Error(cannot_open).
class Sink {
 public:
  explicit Sink(const std::string& path, Progress* progress = nullptr, std::int64_t bytes = 0);
  /// Appends to the string; without commit(), what was already appended stays there.
  explicit Sink(std::string* memory) : path_("memory"), memory_(memory) {}
  /// Removes the temporary file unless commit() was called.
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
  std::string waiting_;  ///< buffer for small writes
  std::string* memory_ = nullptr;
  Progress* progress_ = nullptr;
  int slot_ = -1;  ///< slot of the temporary file's name; -1: none
  int descriptor_ = -1;
};

/// Removes the temporary files of all existing sinks, before the process ends. Safe in a signal
/// handler.
void remove_unfinished() noexcept;

}  // namespace stepwell::io
