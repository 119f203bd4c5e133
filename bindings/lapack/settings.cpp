// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "call_log.hpp"
#include "core/machine/environment.hpp"
#include "core/memory_cache.hpp"

namespace stepwell::lapack {
namespace {

struct Process {
  Settings settings;
  pid_t id = getpid();
};

void report_invalid(const char* name, const char* value, const char* wanted) {
  std::fprintf(stderr, "stepwell: %s=%s is ignored: %s\n", name, value, wanted);
}

Mode read_mode() {
  const char* const text = core::variable("STEPWELL_LAPACK");
  const std::string_view value = text != nullptr ? text : "";
  if (value == "off" || value == "0") return Mode::off;
  if (value == "mixed") return Mode::mixed;
  if (value == "all") return Mode::all;
  if (value != "" && value != "factor") {
    report_invalid("STEPWELL_LAPACK", text, "use off, mixed, factor or all");
  }
  return Mode::factor;
}

std::int64_t read_min_n() {
  const char* const text = core::variable("STEPWELL_LAPACK_MIN_N");
  if (text == nullptr || *text == '\0') return 0;
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  if (*end != '\0' || value < 1 || value == std::numeric_limits<long long>::max()) {
    report_invalid("STEPWELL_LAPACK_MIN_N", text, "use an order of at least 1");
    return 0;
  }
  return value;
}

Process read_process() {
  core::set_most_kept(0);  // it keeps a copy of A itself; the library's cache is another one
  Process p;
  p.settings.mode = read_mode();
  p.settings.min_n = read_min_n();
  const char* const verbose = core::variable("STEPWELL_VERBOSE");
  p.settings.verbose = verbose != nullptr && std::string_view(verbose) == "1";
  if (p.settings.verbose) {
    std::atexit([] {
      if (!forked_child()) print_call_log();
    });
  }
  return p;
}

const Process& process() {
  static const Process p = read_process();
  return p;
}

}  // namespace

const Settings& settings() {
  return process().settings;
}

bool forked_child() {
  return process().id != getpid();
}

}  // namespace stepwell::lapack
