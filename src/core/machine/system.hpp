// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

/// What the operating system lets this process use. Reads /proc and /sys; a file that is absent or
/// odd means "no limit known", never an error. 'root' is where those two are: tests give their own.
namespace stepwell::core {

struct CpuAllowance {
  int online = 1;
  int by_affinity = 1;
  double by_quota = 0;  ///< cgroup quota in CPUs, the smallest on the path to the root; 0: none
  int threads = 1;      ///< the least of the three, rounded down, at least 1
};
CpuAllowance cpu_allowance(const std::string& root = "/");

/// cpu_allowance().threads, looked up again when the affinity has changed: reading quotas takes
/// longer than ten thousand systems of order 5.
int threads_allowed();

struct MemoryAllowance {
  std::int64_t total = 0;      ///< bytes of the machine, or the cgroup's limit if that is smaller
  std::int64_t available = 0;  ///< bytes that can be had now without swapping
};                             // 0: not known
MemoryAllowance memory_allowance(const std::string& root = "/");

/// "always", "madvise", "never" or "unknown".
std::string transparent_huge_pages(const std::string& root = "/");

/// Where this user's measurements of this machine are kept: stepwell below $XDG_CACHE_HOME or
/// ~/.cache. Empty: there is no such place. Nothing says that the directory exists.
std::string cache_directory();

}  // namespace stepwell::core
