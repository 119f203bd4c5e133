// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "screen.hpp"
#include "selftest.hpp"
#include "stepwell/error.hpp"
#include "stepwell/machine.hpp"
#include "verbs.hpp"

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
    std::string verdict = c.ok() ? "ok" : "MISS";
    if (colour && !c.ok()) verdict = fmt::format(fmt::fg(fmt::terminal_color::red), "MISS");
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
                  fmt::format("{} of {} checks missed: do not trust answers of this machine, and "
                              "report it with the output of 'stepwell doctor'",
                              misses, checks.size())};
  }
}

}  // namespace
}  // namespace selftest

void add_selftest(CLI::App& app) {
  CLI::App* const verb =
      app.add_subcommand("selftest", "Try whether this machine computes what the library promises");
  const auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "Print one JSON object");
  verb->callback([json] { selftest::run(*json); });
  verb->footer(
      "Kernels of every instruction set, small systems of each solver judged in double-double,\n"
      "and bits. A few seconds. Exit code 70: something missed its limit.\n\n"
      "Example:\n  stepwell selftest");
}

}  // namespace stepwell::tool
