// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine/system.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/machine/environment.hpp"

namespace stepwell::core {
namespace {

/// The first line of a file; empty if it can't be read.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// The value of a text that is an integer >= 0 and nothing else.
std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> number_in(const std::string& path) {
  const auto words = words_of(first_line(path));
  return words.size() == 1 ? number(words[0]) : std::nullopt;
}

/// The number after 'key' in a file of lines "key number ...".
std::optional<std::int64_t> number_after(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto words = words_of(line);
    if (words.size() >= 2 && words[0] == key) return number(words[1]);
  }
  return std::nullopt;
}

/// Undoes the octal escapes of mountinfo, such as \040 for a space.
std::string unescape(const std::string& text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      plain += static_cast<char>(((text[i + 1] - '0') * 8 + (text[i + 2] - '0')) * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// The cgroup of this process in the version 2 hierarchy (empty 'controller') or in the version 1
/// hierarchy of 'controller', from the lines "id:controllers:path" of /proc/self/cgroup.
std::optional<std::string> own_group(const std::string& root, const std::string& controller) {
  std::ifstream file(root + "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : contains(split_at(controllers, ','), controller))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

/// Appends the visible directories of the process's cgroup and its ancestors, its own cgroup first.
/// A container may see only a part of the hierarchy (below 'seen', the root of the mount), while
/// its own cgroup is outside of that part; then only the mount point is added.
void add_groups(const std::string& mount_point, const std::string& seen, const std::string& group,
                std::vector<std::string>& directories) {
  const std::string prefix = seen == "/" ? "" : seen;
  std::string below;
  if (group.compare(0, prefix.size(), prefix) == 0 &&
      (group.size() == prefix.size() || group[prefix.size()] == '/') &&
      group.find("/..") == std::string::npos) {
    below = group.substr(prefix.size());
  }
  while (!below.empty()) {
    if (below != "/") directories.push_back(mount_point + below);
    below.erase(below.rfind('/'));
  }
  directories.push_back(mount_point);
}

/// All cgroup directories, of version 1 and 2, whose limits of 'controller' apply to this process.
/// Lines of mountinfo: id parent device root mount-point options [tags] - type source
/// super-options.
std::vector<std::string> group_directories(const std::string& root, const std::string& controller) {
  std::vector<std::string> directories;
  std::ifstream file(root + "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const auto words = words_of(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const bool v2 = dash[1] == "cgroup2";
    const bool v1 = dash[1] == "cgroup" && contains(split_at(dash[3], ','), controller);
    if (!v1 && !v2) continue;
    const auto group = own_group(root, v2 ? "" : controller);
    if (!group) continue;
    std::string mount_point = unescape(words[4]);
    mount_point.erase(0, mount_point.find_first_not_of('/'));
    add_groups(root + mount_point, unescape(words[3]), *group, directories);
  }
  return directories;
}

/// The number of CPUs that a cgroup may use: cpu.max is "quota period" or "max period", in
/// microseconds.
std::optional<double> quota_in(const std::string& directory) {
  const auto words = words_of(first_line(directory + "/cpu.max"));
  auto quota = words.size() == 2 ? number(words[0]) : std::nullopt;
  auto period = words.size() == 2 ? number(words[1]) : std::nullopt;
  if (words.empty()) {
    quota = number_in(directory + "/cpu.cfs_quota_us");  // -1: no limit
    period = number_in(directory + "/cpu.cfs_period_us");
  }
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

/// The number of CPUs in a list such as "0-3,8".
std::optional<int> count_cpus(const std::string& list) {
  std::int64_t count = 0;
  for (const std::string& range : split_at(list, ',')) {
    const auto dash = range.find('-');
    const auto first = number(range.substr(0, dash));
    const auto last = dash == std::string::npos ? first : number(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last > 1'000'000) return std::nullopt;
    count += *last - *first + 1;
  }
  if (count < 1 || count > 1'000'000) return std::nullopt;
  return static_cast<int>(count);
}

int cpus_online(const std::string& root) {
  if (const auto count = count_cpus(first_line(root + "sys/devices/system/cpu/online"))) {
    return *count;
  }
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

struct GroupMemory {
  std::int64_t limit;
  std::int64_t used;  ///< without inactive file cache, which the kernel reclaims first
};

std::optional<GroupMemory> memory_in(const std::string& directory) {
  const bool v2 = !first_line(directory + "/memory.max").empty();
  const auto limit = number_in(directory + (v2 ? "/memory.max" : "/memory.limit_in_bytes"));
  if (!limit) return std::nullopt;  // "max", or nothing readable
  const auto used = number_in(directory + (v2 ? "/memory.current" : "/memory.usage_in_bytes"));
  const auto cache =
      number_after(directory + "/memory.stat", v2 ? "inactive_file" : "total_inactive_file");
  return GroupMemory{*limit, std::max<std::int64_t>(0, used.value_or(0) - cache.value_or(0))};
}

/// A line of /proc/meminfo, "MemTotal:  123 kB", in bytes.
std::optional<std::int64_t> meminfo(const std::string& root, const std::string& key) {
  const auto kilobytes = number_after(root + "proc/meminfo", key);
  if (!kilobytes || *kilobytes > INT64_MAX / 1024) return std::nullopt;
  return *kilobytes * 1024;
}

}  // namespace

/// The kernel rejects a set that is smaller than its own, and a cpu_set_t ends at 1024 CPUs, so the
/// set is enlarged until it fits.
int cpus_by_affinity() {
  for (int size = 1024; size <= 1 << 20; size *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(size),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    if (set == nullptr) return 0;
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    CPU_ZERO_S(bytes, set.get());
    if (sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
    if (errno != EINVAL) return 0;
  }
  return 0;
}

CpuAllowance cpu_allowance(const std::string& root) {
  CpuAllowance allowance;
  allowance.online = cpus_online(root);
  const int affinity = cpus_by_affinity();
  allowance.by_affinity = affinity > 0 ? affinity : allowance.online;
  for (const std::string& directory : group_directories(root, "cpu")) {
    const auto quota = quota_in(directory);
    if (quota && (allowance.by_quota == 0 || *quota < allowance.by_quota)) {
      allowance.by_quota = *quota;
    }
  }
  allowance.threads = std::min(allowance.online, allowance.by_affinity);
  if (allowance.by_quota > 0 && allowance.by_quota < allowance.threads) {
    allowance.threads = static_cast<int>(allowance.by_quota);
  }
  allowance.threads = std::max(1, allowance.threads);
  return allowance;
}

MemoryAllowance memory_allowance(const std::string& root) {
  auto total = meminfo(root, "MemTotal:");
  auto available = meminfo(root, "MemAvailable:");
  for (const std::string& directory : group_directories(root, "memory")) {
    const auto group = memory_in(directory);
    // In version 1, "no limit" is the largest multiple of the page size.
    if (!group || group->limit >= std::int64_t{1} << 60) continue;
    const std::int64_t left = std::max<std::int64_t>(0, group->limit - group->used);
    total = std::min(total.value_or(group->limit), group->limit);
    available = std::min(available.value_or(left), left);
  }
  return {total.value_or(0), available.value_or(0)};
}

std::string transparent_huge_pages(const std::string& root) {
  const std::string line = first_line(root + "sys/kernel/mm/transparent_hugepage/enabled");
  for (const char* mode : {"always", "madvise", "never"}) {
    if (line.find("[" + std::string(mode) + "]") != std::string::npos) return mode;
  }
  return "unknown";
}

std::string cache_directory() {
  if (const char* const base = non_empty_variable("XDG_CACHE_HOME")) {
    return std::string(base) + "/stepwell";
  }
  const char* const home = non_empty_variable("HOME");
  return home == nullptr ? "" : std::string(home) + "/.cache/stepwell";
}

}  // namespace stepwell::core
