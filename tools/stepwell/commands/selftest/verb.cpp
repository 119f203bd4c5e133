// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/selftest/selftest.hpp"
#include "commands/verbs.hpp"
#include "report/ending.hpp"
#include "report/screen.hpp"
#include "stepwell/error.hpp"
#include "stepwell/machine.hpp"

namespace stepwell::tool {
namespace selftest {
namespace {

using nlohmann::ordered_json;

ordered_json as_json(const std::vector<Check>& checks, std::size_t misses) {
  const MachineReport machine = describe_machine();
  ordered_json list = ordered_json::array();
  for (const Check& c : checks) {
    ordered_json row = {{"check", c.name}, {"measured", c.measured}, {"limit", c.limit},
                        {"unit", c.unit},  {"ok", c.ok()},           {"remark", c.remark}};
    if (!std::isfinite(c.measured)) row["measured"] = nullptr;
    list.push_back(row);
  }
  return {{"version", machine.version},
          {"cpu_model", machine.cpu_model},
          {"isa", machine.isa},
          {"threads", machine.threads},
          {"checks", list},
          {"misses", misses}};
}

void print_table(const std::vector<Check>& checks) {
  const bool colour = colour_on_stdout();
  fmt::print("{:<28} {:>10} {:>7}  {}\n", "check", "measured", "limit", "");
  for (const Check& c : checks) {
    std::string verdict = c.ok() ? "ok" : "FAIL";
    if (colour && !c.ok()) verdict = fmt::format(fmt::fg(fmt::terminal_color::red), "FAIL");
    fmt::print("{:<28} {:>10.3g} {:>7.3g}  {:<4}  {}{}\n", c.name, c.measured, c.limit, verdict,
               c.unit, c.remark.empty() ? "" : "; " + c.remark);
  }
}

void run(bool json) {
  std::vector<Check> checks;
  for (const auto part : {check_kernels, check_answers, check_bits}) {
    const std::vector<Check> more = part();
    checks.insert(checks.end(), more.begin(), more.end());
  }
  const auto misses = static_cast<std::size_t>(
      std::count_if(checks.begin(), checks.end(), [](const Check& c) { return !c.ok(); }));
  if (json) {
    fmt::print("{}\n", as_json(checks, misses).dump(2));
  } else {
    print_table(checks);
  }
  if (misses > 0) {
    throw Failure{static_cast<int>(ErrorCode::internal),
                  fmt::format("{} of {} checks failed: do not trust results of this machine, and "
                              "report this with the output of 'stepwell doctor'",
                              misses, checks.size())};
  }
}

}  // namespace
}  // namespace selftest

void add_selftest(Verb app) {
  const Verb verb =
      app.add_subcommand("selftest", "Check that this machine computes what the library promises");
  const auto json = std::make_shared<bool>(false);
  verb.add_flag("--json", *json, "Print one JSON object");
  verb.callback([json] { selftest::run(*json); });
  verb.footer(
      "Checks the kernels of every instruction set, the accuracy of each solver for small systems\n"
      "in double-double, and that the bits of x do not depend on the number of threads or on the\n"
      "rounding mode. Takes a few seconds. Exit code 70: a check failed.\n\n"
      "Example:\n  stepwell selftest");
}

}  // namespace stepwell::tool
