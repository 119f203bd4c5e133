// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine/threads.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>
#include <string_view>

#include "core/machine/environment.hpp"

namespace stepwell::core {
namespace {

std::atomic<int> set_by_program{0};

/// OpenBLAS and oneMKL, too, look at OMP_NUM_THREADS last.
constexpr ThreadSource kVariables[] = {
    ThreadSource::stepwell_threads, ThreadSource::openblas_num_threads,
    ThreadSource::mkl_num_threads, ThreadSource::omp_num_threads};

/// A number of threads, or the first one of a list: OMP_NUM_THREADS=4,2 is for nested regions.
std::optional<int> parse(std::string_view text) {
  text = text.substr(0, text.find(','));
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(" \t") + 1 - first);
  int value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

ThreadCount by_system(const CpuAllowance& allowed) {
  if (allowed.by_quota > 0 && allowed.by_quota < std::min(allowed.online, allowed.by_affinity)) {
    return {allowed.threads, ThreadSource::quota};
  }
  const bool bound = allowed.by_affinity < allowed.online;
  return {allowed.threads, bound ? ThreadSource::affinity : ThreadSource::online};
}

}  // namespace

const char* to_string(ThreadSource source) {
  switch (source) {
    case ThreadSource::program:
      return "set by the program";
    case ThreadSource::stepwell_threads:
      return "STEPWELL_THREADS";
    case ThreadSource::openblas_num_threads:
      return "OPENBLAS_NUM_THREADS";
    case ThreadSource::mkl_num_threads:
      return "MKL_NUM_THREADS";
    case ThreadSource::omp_num_threads:
      return "OMP_NUM_THREADS";
    case ThreadSource::quota:
      return "cgroup quota";
    case ThreadSource::affinity:
      return "CPU affinity";
    case ThreadSource::online:
      break;
  }
  return "CPUs online";
}

ThreadCount thread_count(const CpuAllowance& allowed) {
  if (const int set = set_by_program.load(std::memory_order_relaxed); set > 0) {
    return {set, ThreadSource::program};
  }
  const ThreadCount system = by_system(allowed);
  for (const ThreadSource source : kVariables) {
    const char* const text = non_empty_variable(to_string(source));
    const auto value = text != nullptr ? parse(text) : std::nullopt;
    if (!value) continue;
    if (source == ThreadSource::stepwell_threads) return {std::min(*value, allowed.online), source};
    return *value <= system.threads ? ThreadCount{*value, source} : system;
  }
  return system;
}

ThreadCount thread_count() {
  if (const int set = set_by_program.load(std::memory_order_relaxed); set > 0) {
    return {set, ThreadSource::program};
  }
  // CPUs by affinity in the upper half; below, 24 bits of threads and 8 of their source.
  static std::atomic<std::int64_t> known{0};
  const std::int64_t affinity = cpus_by_affinity();
  const std::int64_t last = known.load(std::memory_order_relaxed);
  if (last != 0 && last >> 32 == affinity) {
    return {static_cast<int>(last >> 8 & 0xffffff), static_cast<ThreadSource>(last & 0xff)};
  }
  const ThreadCount count = thread_count(cpu_allowance());
  if (count.source != ThreadSource::program) {
    known.store(
        affinity << 32 | std::int64_t{count.threads} << 8 | static_cast<std::int64_t>(count.source),
        std::memory_order_relaxed);
  }
  return count;
}

int default_threads() {
  return thread_count().threads;
}

int usable_cpus() {
  static std::atomic<std::int64_t> known{0};  // CPUs by affinity in the upper half
  const std::int64_t affinity = cpus_by_affinity();
  std::int64_t last = known.load(std::memory_order_relaxed);
  if (last == 0 || last >> 32 != affinity) {
    last = affinity << 32 | std::int64_t{cpu_allowance().threads};
    known.store(last, std::memory_order_relaxed);
  }
  return static_cast<int>(last & 0xffffffff);
}

std::string ignored_thread_variable() {
  for (const ThreadSource source : kVariables) {
    const char* const text = non_empty_variable(to_string(source));
    if (text == nullptr || parse(text)) continue;
    return std::string(to_string(source)) + "=" + text +
           " is not a number of threads, and is ignored";
  }
  return "";
}

void set_threads(int threads) {
  set_by_program.store(std::min(threads, cpu_allowance().online), std::memory_order_relaxed);
}

}  // namespace stepwell::core
