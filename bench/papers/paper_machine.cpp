// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <CLI/Version.hpp>
#include <chrono>
#include <ctime>
#include <fstream>

#include <nlohmann/json.hpp>
#include "bench/baselines/baseline_mkl.hpp"
#include "bench/papers/paper.hpp"
#include "stepwell/machine.hpp"

namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

/// Current MHz of the first CPU; 0 if the system does not report it.
double clock_mhz() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("cpu MHz", 0) == 0)
      return std::strtod(line.c_str() + line.find(':') + 1, nullptr);
  }
  return 0;
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string system_name() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return fmt::format("{} {}", name.sysname, name.release);
}

}  // namespace

std::string paper_commit() {
  return STEPWELL_COMMIT;
}

std::string utc_now() {
  const std::time_t t = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&t, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

ordered_json paper_machine(const PaperRun& run) {
  const MachineReport m = describe_machine();
  ordered_json machine = {{"cpu_model", m.cpu_model},
                          {"clock_mhz", clock_mhz()},
                          {"cores", m.cpus_online},
                          {"threads", run.threads},
                          {"isa", m.isa},
                          {"memory_bytes", m.memory_total},
                          {"huge_pages", m.huge_pages},
                          {"system", system_name()},
                          {"compiler", compiler()},
                          {"libraries",
                           {{"stepwell", m.version},
                            {"glibc", gnu_get_libc_version()},
                            {"StarPU", STEPWELL_STARPU_VERSION},
                            {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000,
                                                FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
                            {"CLI11", CLI11_VERSION}}},
                          {"commit", paper_commit()},
                          {"baselines",
                           {{{"library", m.blas.library},
                             {"version", m.blas.version},
                             {"core_name", m.blas.core_name},
                             {"threads", run.threads},
                             {"warning", m.blas.warning}}}},
                          {"date", utc_now()}};
  if (run.mkl) {
    machine["baselines"].push_back({{"library", "oneMKL"},
                                    {"version", mkl().version},
                                    {"core_name", mkl().kernels},
                                    {"threads", mkl().threaded ? run.threads : 1},
                                    {"warning", ""}});
  }
  return machine;
}

}  // namespace stepwell::bench
