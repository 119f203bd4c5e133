// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

/// The resources that the operating system allows this process. Reads /proc and /sys; a missing or
/// malformed file means that no limit is known, never an error. 'root' is the directory that
/// contains proc and sys; tests pass their own.
namespace stepwell::core {

struct CpuAllowance {
  int online = 1;
  int by_affinity = 1;
  double by_quota = 0;  ///< cgroup quota in CPUs, the smallest on the path to the root; 0: none
  int threads = 1;      ///< the minimum of the three, rounded down, at least 1
};
CpuAllowance cpu_allowance(const std::string& root = "/");

/// The number of CPUs in the affinity mask of the calling thread; 0: unknown.
int cpus_by_affinity();

/// In bytes; 0: unknown.
struct MemoryAllowance {
  std::int64_t total = 0;      ///< memory of the machine, or the cgroup's limit if smaller
  std::int64_t available = 0;  ///< memory available now without swapping
};
MemoryAllowance memory_allowance(const std::string& root = "/");

/// The system's setting: "always", "madvise", "never" or "unknown".
std::string transparent_huge_pages(const std::string& root = "/");

/// The directory for this user's measurements of this machine: stepwell below $XDG_CACHE_HOME or
/// ~/.cache. Empty if neither is known. The directory may not exist.
std::string cache_directory();

}  // namespace stepwell::core
