// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/log.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace stepwell::core {
namespace {

/// One write for the whole line, so that lines of several threads and processes do not mix.
void write_line(std::string_view message) {
  std::string line = "stepwell: ";
  line += message;
  line += '\n';
  const int saved = errno;
  // Nobody to tell when standard error itself fails.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  errno = saved;
}

/// True the first time it sees 'message'. What it remembers is never freed: a warning may come
/// while the process is already leaving.
bool is_new(std::string_view message) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& said = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return said.emplace(message).second;
}

}  // namespace

void log(std::string_view message) {
  const char* value = std::getenv("STEPWELL_LOG");
  if (value == nullptr || std::string_view(value) == "0") return;
  write_line(message);
}

void warn_once(std::string_view message) {
  const char* value = std::getenv("STEPWELL_LOG");
  if (value != nullptr && std::string_view(value) == "0") return;
  if (is_new(message)) write_line(message);
}

}  // namespace stepwell::core
