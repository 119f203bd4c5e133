// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>
#include "stepwell/machine.hpp"

namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Summary& s) {
  return {{"median", s.median}, {"best", s.best}, {"p10", s.p10}};
}

ordered_json to_json(const Side& side, const SideResult& result, const std::string& unit) {
  return {{"name", side.name},
          {"library", side.library},
          {"version", side.version},
          {"core_name", side.core_name},
          {"threads", side.threads},
          {"seconds", result.seconds},
          {"rate", to_json(result.rate)},
          {"rate_unit", unit}};
}

std::string join_words(const Side& side) {
  std::string text = side.library;
  if (!side.version.empty()) text += " " + side.version;
  if (!side.core_name.empty()) text += ", " + side.core_name;
  return fmt::format("{} ({}; {} thread{})", side.name, text, side.threads,
                     side.threads == 1 ? "" : "s");
}

std::string line(const char* label, const Side& side, const SideResult& result,
                 const std::string& unit) {
  return fmt::format(
      "  {:<10}{}\n  {:<10}{:.4g} {} median, {:.4g} best, {:.4g} p10; {:.4g} ms a call\n", label,
      join_words(side), "", result.rate.median, unit, result.rate.best, result.rate.p10,
      result.seconds * 1e3);
}

constexpr std::size_t kLine = 120;

void write(const ordered_json& json, const std::string& indent, std::string& out) {
  const std::string line = json.dump();
  const bool flat = std::none_of(json.begin(), json.end(),
                                 [](const ordered_json& item) { return item.is_structured(); });
  if (!json.is_structured() || indent.size() + line.size() <= kLine || (json.is_array() && flat)) {
    out += line;
    return;
  }
  const std::string inner = indent + " ";
  const char* separator = json.is_array() ? "[\n" : "{\n";
  for (const auto& [key, value] : json.items()) {
    out += separator + inner;
    if (json.is_object()) out += ordered_json(key).dump() + ": ";
    write(value, inner, out);
    separator = ",\n";
  }
  out += "\n" + indent + (json.is_array() ? "]" : "}");
}

}  // namespace

double rounded(double value) {
  return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
}

std::string pretty(const ordered_json& json) {
  std::string text;
  write(json, "", text);
  return text;
}

ordered_json ratio_json(const std::vector<double>& pairs) {
  const Summary s = summarize(pairs);
  ordered_json json = {
      {"median", rounded(s.median)}, {"best", rounded(s.best)}, {"p10", rounded(s.p10)}};
  json["windows"] = pairs.size();
  json["pairs"] = ordered_json::array();
  for (const double pair : pairs) json["pairs"].push_back(rounded(pair));
  return json;
}

ordered_json bench_json(ordered_json what, const Contest& contest, const ContestResult& result) {
  what["candidate"] = to_json(contest.candidate, result.candidate, contest.rate_unit);
  what["baseline"] = to_json(contest.baseline, result.baseline, contest.rate_unit);
  what["ratio"] = ratio_json(result.pairs);
  const MachineReport machine = describe_machine();
  what["machine"] = {{"cpu_model", machine.cpu_model},
                     {"isa", machine.isa},
                     {"threads", machine.threads},
                     {"huge_pages", machine.huge_pages},
                     {"blas_warning", machine.blas.warning}};
  return what;
}

std::string bench_text(const std::string& title, const Contest& contest,
                       const ContestResult& result) {
  return title + "\n" + line("candidate", contest.candidate, result.candidate, contest.rate_unit) +
         line("baseline", contest.baseline, result.baseline, contest.rate_unit) +
         fmt::format("  {:<10}{:.3f} median, {:.3f} best, {:.3f} p10 of {} pairs of windows\n",
                     "ratio", result.ratio.median, result.ratio.best, result.ratio.p10,
                     result.pairs.size());
}

}  // namespace stepwell::bench
