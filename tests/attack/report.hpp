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

/// Broken guarantees. A single one fails the run.
enum class Finding : unsigned char {
  above_tolerance,  ///< converged, but the true backward error is above the tolerance
  forward_low,      ///< the bound of the forward error is below the true error
  proof_low,        ///< the proven backward error is below the true one
  memory,           ///< A, b, padding, or an x that had to stay unchanged, was written
  exception,        ///< an exception other than invalid_argument
  certificate,      ///< the certificate contradicts itself or the options
  bits,             ///< other bits where the same bits were promised
  definite,         ///< called not positive definite, but dpotrf factors the matrix
  info,             ///< another failing pivot than in exact arithmetic
  inaccurate,       ///< a factor less accurate than promised
  missed,           ///< a wrong residue that changed the factor was not found
  false_alarm       ///< wrong residues were reported where nothing was changed
};
inline constexpr std::array<const char*, 12> kFindings = {
    "above_tolerance", "forward_low", "proof_low",  "memory", "exception",  "certificate", "bits",
    "definite",        "info",        "inaccurate", "missed", "false_alarm"};

/// Counts events, prints findings, and writes a log from which a run can be continued.
class Report {
 public:
  /// program: the name of the program, for the command that repeats a seed.
  Report(std::string program, const std::string& log, bool verbose);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// Starts a seed; 'repeat' has the options that repeat it.
  void begin(std::uint64_t seed, std::string repeat);
  /// A description of the system, for readers of a finding.
  void describe(std::string system) { system_ = std::move(system); }

  void count(const std::string& what, std::int64_t by = 1) { counts_[what] += by; }
  void found(Finding finding, const std::string& what);
  /// Worth a line, but not a broken guarantee.
  void note(const std::string& what, const std::string& details);
  bool verbose() const { return verbose_; }
  void say(const std::string& line);

  std::int64_t findings() const;
  /// Writes a line of counts to the log: seeds before 'next' are done.
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

/// A crash, or a system that takes longer than 'seconds', ends the program with exit code 3 and
/// prints the command that repeats it.
void guard_against_crashes();
void allow_seconds(unsigned seconds);

}  // namespace stepwell::attack
