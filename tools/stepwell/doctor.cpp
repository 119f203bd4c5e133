// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "doctor.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

constexpr int kWidth = 100;
constexpr int kLabel = 18;

/// Lines of a label and a text; text that does not fit goes on below itself.
class Screen {
 public:
  explicit Screen(bool colour) : colour_(colour) {}

  void heading(std::string_view text) { text_ += paint(text, fmt::emphasis::bold) + "\n"; }
  void line(std::string_view label, std::string_view text) { add(label, text, {}); }
  void good(std::string_view label, std::string_view text) {
    add(label, text, fmt::fg(fmt::terminal_color::green));
  }
  void bad(std::string_view label, std::string_view text) {
    add(label, text, fmt::fg(fmt::terminal_color::yellow));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string paint(std::string_view text, fmt::text_style style) const {
    return colour_ ? fmt::format(style, "{}", text) : std::string(text);
  }

  void add(std::string_view label, std::string_view text, fmt::text_style style) {
    text_ += fmt::format("  {:<{}}", label, kLabel - 2);
    constexpr std::size_t room = kWidth - kLabel;
    while (text.size() > room) {
      std::size_t cut = text.rfind(' ', room);
      if (cut == std::string_view::npos || cut == 0) cut = room;
      text_ += paint(text.substr(0, cut), style) + "\n" + std::string(kLabel, ' ');
      text.remove_prefix(text[cut] == ' ' ? cut + 1 : cut);
    }
    text_ += paint(text, style) + "\n";
  }

  bool colour_;
  std::string text_;
};

double gib(std::int64_t bytes) {
  return static_cast<double>(bytes) * 0x1p-30;
}

/// The updates line by line, one for each rung; the rest by instruction set.
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

}  // namespace

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
          {"memory_total", r.memory_total},
          {"memory_available", r.memory_available},
          {"huge_pages", r.huge_pages}};
}

std::string machine_text(const MachineReport& r, bool colour) {
  Screen screen(colour);
  screen.heading("Stepwell " + r.version);
  screen.line("CPU", fmt::format("{} ({})", r.cpu_model, r.cpu_vendor));
  screen.line("features", fmt::format("{}", fmt::join(r.cpu_features, " ")));
  const std::string quota = r.cpus_by_quota > 0
                                ? fmt::format("{:.3g} by cgroup quota", r.cpus_by_quota)
                                : "no cgroup quota";
  screen.line("threads", fmt::format("{} ({} online, {} by affinity, {})", r.threads, r.cpus_online,
                                     r.cpus_by_affinity, quota));
  screen.line("memory", fmt::format("{:.1f} GiB, {:.1f} GiB available", gib(r.memory_total),
                                    gib(r.memory_available)));
  screen.line("huge pages", r.huge_pages);
  screen.line("BLAS", describe_blas(r.blas));
  if (!r.blas.warning.empty()) screen.bad("", "warning: " + r.blas.warning);

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
  if (json) {
    fmt::print("{}\n", machine_json(report).dump(2));
    return;
  }
  const char* const no_colour = std::getenv("NO_COLOR");
  const bool colour =
      isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || std::string_view(no_colour).empty());
  fmt::print("{}", machine_text(report, colour));
}

}  // namespace stepwell::tool
