// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/log.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <new>
#include <set>
#include <string>

#include "core/machine/environment.hpp"

namespace stepwell::core {
namespace {

/// Writes the whole line in one call, so that lines of several threads and processes do not mix.
void write_line(std::string_view message) {
  const auto part = [](std::string_view text) {
    return iovec{const_cast<char*>(text.data()), text.size()};
  };
  const std::array<iovec, 3> line = {part("stepwell: "), part(message), part("\n")};
  const int saved = errno;
  // A failure to write to standard error is ignored: it can't be reported anywhere.
  [[maybe_unused]] const auto written = ::writev(STDERR_FILENO, line.data(), line.size());
  errno = saved;
}

/// True the first time that it is called with 'message'. The static data is never freed, because a
/// warning may be issued while the process is exiting.
bool is_new(std::string_view message) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& said = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return said.emplace(message).second;
}

}  // namespace

void log(std::string_view message) noexcept {
  const char* const value = variable("STEPWELL_LOG");
  if (value == nullptr || std::string_view(value) == "0") return;
  write_line(message);
}

void warn_once(std::string_view message) noexcept {
  const char* const value = variable("STEPWELL_LOG");
  if (value != nullptr && std::string_view(value) == "0") return;
  try {
    if (is_new(message)) write_line(message);
  } catch (const std::bad_alloc&) {
    write_line(message);  // a repeated warning is better than a lost one
  }
}

}  // namespace stepwell::core
