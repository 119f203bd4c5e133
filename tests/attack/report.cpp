// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "attack/report.hpp"

#include <unistd.h>
#include <csignal>
#include <cstdarg>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace stepwell::attack {
namespace {

/// The text that a signal handler prints: the handler may not allocate.
std::array<char, 400> current{};
int log_descriptor = -1;

void crashed(int signal) {
  const char* const what = signal == SIGALRM ? "FINDING too_slow " : "FINDING crash ";
  for (const int file : {STDOUT_FILENO, log_descriptor}) {
    if (file < 0) continue;
    const bool ok = write(file, what, std::strlen(what)) >= 0 &&
                    write(file, current.data(), std::strlen(current.data())) >= 0 &&
                    write(file, "\n", 1) >= 0;
    (void)ok;
  }
  _exit(3);
}

}  // namespace

std::string text(const char* format, ...) {
  std::va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::vector<char> out(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, format, arguments)) +
                        1);
  std::vsnprintf(out.data(), out.size(), format, again);
  va_end(again);
  va_end(arguments);
  return out.data();
}

Report::Report(std::string program, const std::string& log, bool verbose)
    : program_(std::move(program)), verbose_(verbose) {
  if (log.empty()) return;
  log_ = std::fopen(log.c_str(), "a");
  if (log_ == nullptr) throw std::runtime_error("can't write to " + log);
  log_descriptor = fileno(log_);
}

Report::~Report() {
  log_descriptor = -1;
  if (log_ != nullptr) std::fclose(log_);
}

void Report::begin(std::uint64_t seed, std::string repeat) {
  seed_ = seed;
  repeat_ = std::move(repeat);
  system_.clear();
  std::snprintf(current.data(), current.size(), "%s %s --first %llu --count 1 --verbose",
                program_.c_str(), repeat_.c_str(), static_cast<unsigned long long>(seed));
}

void Report::say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  if (log_ == nullptr) return;
  std::fprintf(log_, "%s\n", line.c_str());
  std::fflush(log_);
}

void Report::found(Finding finding, const std::string& what) {
  const char* const name = kFindings[static_cast<unsigned>(finding)];
  count(std::string("FOUND_") + name);
  say(text("FINDING %s %s | %s | %s", name, current.data(), system_.c_str(), what.c_str()));
}

void Report::note(const std::string& what, const std::string& details) {
  count(what);
  say(text("note %s %s | %s | %s", what.c_str(), current.data(), system_.c_str(), details.c_str()));
}

std::int64_t Report::findings() const {
  std::int64_t sum = 0;
  for (const auto& [what, count] : counts_) sum += what.starts_with("FOUND_") ? count : 0;
  return sum;
}

std::string Report::summary() const {
  std::string line;
  for (const auto& [what, count] : counts_) {
    line += text(" %s=%lld", what.c_str(), static_cast<long long>(count));
  }
  return text("findings=%lld", static_cast<long long>(findings())) + line;
}

void Report::keep(std::uint64_t first, std::uint64_t next) {
  if (log_ == nullptr) return;
  std::fprintf(log_, "state %s first=%llu next=%llu %s\n", program_.c_str(),
               static_cast<unsigned long long>(first), static_cast<unsigned long long>(next),
               summary().c_str());
  std::fflush(log_);
}

void guard_against_crashes() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    std::signal(signal, crashed);
  }
}

void allow_seconds(unsigned seconds) {
  alarm(seconds);
}

}  // namespace stepwell::attack
