// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands/verbs.hpp"
#include "report/screen.hpp"
#include "stepwell/machine.hpp"

/// `doctor`: what the library found on this machine, what it chose and why.
namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

double gib(std::int64_t bytes) {
  return static_cast<double>(bytes) * 0x1p-30;
}

/// Lists the update of each rung on its own line, and the other kernels by instruction set.
void add_kernels(Screen& screen, const std::vector<KernelChoice>& kernels) {
  std::vector<std::pair<std::string, std::vector<std::string>>> rest;
  for (const KernelChoice& k : kernels) {
    const std::string refused =
        k.refused.empty() ? "" : fmt::format("; refused {}", fmt::join(k.refused, "; "));
    if (k.operation.starts_with("update ")) {
      k.refused.empty() ? screen.line(k.operation, k.kernel)
                        : screen.bad(k.operation, k.kernel + refused);
      continue;
    }
    const std::string group = k.isa + refused;
    if (rest.empty() || rest.back().first != group) rest.push_back({group, {}});
    rest.back().second.push_back(k.operation);
  }
  for (const auto& [group, operations] : rest) {
    screen.line(group.substr(0, group.find(';')), fmt::format("{}", fmt::join(operations, ", ")));
    if (group.find(';') != std::string::npos) screen.bad("", group.substr(group.find(';') + 2));
  }
}

std::string describe_blas(const BlasIdentity& blas) {
  std::string text = blas.library;
  if (!blas.version.empty()) text += " " + blas.version;
  if (!blas.core_name.empty()) text += ", core " + blas.core_name;
  if (blas.threads > 0)
    text += fmt::format(", {} thread{}", blas.threads, blas.threads > 1 ? "s" : "");
  return text;
}

ordered_json machine_json(const MachineReport& r) {
  ordered_json isas = ordered_json::array();
  for (const IsaState& isa : r.isas) {
    isas.push_back({{"name", isa.name}, {"usable", isa.usable}, {"reason", isa.reason}});
  }
  ordered_json kernels = ordered_json::array();
  for (const KernelChoice& k : r.kernels) {
    kernels.push_back(
        {{"operation", k.operation}, {"kernel", k.kernel}, {"isa", k.isa}, {"refused", k.refused}});
  }
  return {{"version", r.version},
          {"cpu_vendor", r.cpu_vendor},
          {"cpu_model", r.cpu_model},
          {"cpu_features", r.cpu_features},
          {"isa", r.isa},
          {"isa_cap", r.isa_cap},
          {"isa_cap_problem", r.isa_cap_problem},
          {"isas", isas},
          {"kernels", kernels},
          {"blas",
           {{"library", r.blas.library},
            {"version", r.blas.version},
            {"core_name", r.blas.core_name},
            {"threads", r.blas.threads},
            {"warning", r.blas.warning}}},
          {"cpus_online", r.cpus_online},
          {"cpus_by_affinity", r.cpus_by_affinity},
          {"cpus_by_quota", r.cpus_by_quota},
          {"threads", r.threads},
          {"threads_reason", r.threads_reason},
          {"threads_problem", r.threads_problem},
          {"starpu",
           {{"version", r.starpu.version},
            {"bundled", r.starpu.bundled},
            {"warning", r.starpu.warning}}},
          {"worker_limit", r.worker_limit},
          {"memory_total", r.memory_total},
          {"memory_available", r.memory_available},
          {"huge_pages", r.huge_pages}};
}

/// Text that fits on one screen, with colours if asked for.
std::string machine_text(const MachineReport& r, bool colour) {
  Screen screen(colour);
  screen.heading("Stepwell " + r.version);
  screen.line("CPU", fmt::format("{} ({})", r.cpu_model, r.cpu_vendor));
  screen.line("features", fmt::format("{}", fmt::join(r.cpu_features, " ")));
  const std::string quota = r.cpus_by_quota > 0
                                ? fmt::format("{:.3g} by cgroup quota", r.cpus_by_quota)
                                : "no cgroup quota";
  screen.line("threads", fmt::format("{}: {}", r.threads, r.threads_reason));
  screen.line("CPUs", fmt::format("{} online, {} by affinity, {}", r.cpus_online,
                                  r.cpus_by_affinity, quota));
  if (!r.threads_problem.empty()) screen.bad("", "warning: " + r.threads_problem);
  screen.line("memory", fmt::format("{:.1f} GiB, {:.1f} GiB available", gib(r.memory_total),
                                    gib(r.memory_available)));
  screen.line("huge pages", r.huge_pages);
  screen.line("BLAS", describe_blas(r.blas));
  if (!r.blas.warning.empty()) screen.bad("", "warning: " + r.blas.warning);
  screen.line("StarPU",
              fmt::format("{}, {}, at most {} workers", r.starpu.version,
                          r.starpu.bundled ? "inside Stepwell" : "the system's", r.worker_limit));
  if (!r.starpu.warning.empty()) screen.bad("", "warning: " + r.starpu.warning);

  screen.heading("Instruction sets");
  bool capped = false;
  for (const IsaState& isa : r.isas) {
    if (!isa.usable) {
      screen.bad(isa.name, "no: " + isa.reason);
    } else if (capped) {
      screen.bad(isa.name, "usable, but above STEPWELL_ISA=" + r.isa_cap);
    } else {
      screen.good(isa.name, "usable");
    }
    capped = capped || isa.name == r.isa;
  }
  const bool honoured = !r.isa_cap.empty() && r.isa_cap_problem.empty();
  screen.line("in use", r.isa + (honoured ? " (STEPWELL_ISA=" + r.isa_cap + ")" : ""));
  if (!r.isa_cap_problem.empty()) screen.bad("", "warning: " + r.isa_cap_problem);

  screen.heading("Kernels");
  add_kernels(screen, r.kernels);
  return screen.take();
}

void doctor(bool json) {
  const MachineReport report = describe_machine();
  fmt::print("{}",
             json ? machine_json(report).dump(2) + "\n" : machine_text(report, colour_on_stdout()));
}

}  // namespace

void add_doctor(Verb app) {
  const Verb verb =
      app.add_subcommand("doctor", "Show what this machine has, which kernels run and why");
  const auto json = std::make_shared<bool>(false);
  verb.add_flag("--json", *json, "Print one JSON object");
  verb.callback([json] { doctor(*json); });
  verb.footer("Example:\n  stepwell doctor");
}

}  // namespace stepwell::tool
