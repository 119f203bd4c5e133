// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

namespace stepwell::attack {

/// std::printf into a string.
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// Broken promises. One of them is too many.
enum class Finding : unsigned char {
  above_tolerance,  ///< converged, but the true backward error is above the tolerance
  forward_low,      ///< the bound of the error of x is below it
  proof_low,        ///< the proven backward error is below the true one
  memory,           ///< A, b, padding, or an x that was to be left alone, was written
  exception,        ///< another than invalid_argument
  certificate,      ///< it contradicts itself, or what was asked for
  bits,             ///< other bits where the same were promised
  definite          ///< called not positive definite, but dpotrf factors it
};
inline constexpr std::array<const char*, 8> kFindings = {
    "above_tolerance", "forward_low", "proof_low", "memory",
    "exception",       "certificate", "bits",      "definite"};

/// Counts what was seen, prints what was found, and keeps a log by which a run can be continued.
class Report {
 public:
  /// command: what repeats a seed of this run, up to the number.
  Report(std::string program, const std::string& log, bool verbose);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// What follows is about this seed; 'repeat' are the options that lead to it.
  void begin(std::uint64_t seed, std::string repeat);
  /// The system, in words, for those who read a finding.
  void describe(std::string system) { system_ = std::move(system); }

  void count(const std::string& what, std::int64_t by = 1) { counts_[what] += by; }
  void found(Finding finding, const std::string& what);
  /// Worth a line, but no broken promise.
  void note(const std::string& what, const std::string& details);
  bool verbose() const { return verbose_; }
  void say(const std::string& line);

  std::int64_t findings() const;
  /// A line of counts for the log: seeds before 'next' are done.
  void keep(std::uint64_t first, std::uint64_t next);
  std::string summary() const;

 private:
  std::string program_;
  bool verbose_;
  std::FILE* log_ = nullptr;
  std::uint64_t seed_ = 0;
  std::string repeat_, system_;
  std::map<std::string, std::int64_t> counts_;
};

/// A crash or a system that takes longer than 'seconds' ends the program with the line that repeats
/// it: exit code 3.
void guard_against_crashes();
void allow_seconds(unsigned seconds);

}  // namespace stepwell::attack
