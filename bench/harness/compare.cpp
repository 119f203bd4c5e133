// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "bench/harness/compare_stats.hpp"
#include "bench/harness/report.hpp"
#include "core/small_file.hpp"
#include "options/verb.hpp"
#include "report/ending.hpp"
#include "stepwell/error.hpp"

/// `bench compare`: compares the cases of two files, matched by their descriptions.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

struct CompareRequest {
  std::string before, after;
  CompareOptions options;
  bool json = false;
};

/// One measured ratio of a file.
struct Case {
  std::vector<double> pairs;
  std::string baseline;  ///< library, version, core and threads
};
using Cases = std::map<std::string, Case>;

constexpr const char* kDescribing[] = {
    "bench",    "op",     "rung",   "size",    "matrix", "kind",   "condition", "clustered",
    "residual", "length", "nugget", "seed",    "sorted", "m",      "n",         "k",
    "columns",  "layout", "map",    "refiner", "qr",     "vector", "transposed"};

std::string describe(const ordered_json& c) {
  std::string text;
  for (const char* const key : kDescribing) {
    if (!c.contains(key) || c[key].is_structured() || c[key] == "") continue;
    const std::string value = c[key].is_string() ? c[key].get<std::string>() : c[key].dump();
    const bool named = c[key].is_string();
    text += (text.empty() ? "" : " ") + (named ? value : fmt::format("{}={}", key, value));
  }
  return text;
}

std::string identity(const ordered_json& side) {
  if (!side.is_object()) return "";
  return fmt::format("{} {} {}, {} threads", side.value("library", ""), side.value("version", ""),
                     side.value("core_name", ""), side.value("threads", 0));
}

void add_case(Cases& cases, const std::string& name, const ordered_json& ratio,
              const std::string& baseline) {
  Case& c = cases[name];
  c.baseline = baseline;
  for (const ordered_json& pair : ratio["pairs"]) c.pairs.push_back(pair.get<double>());
}

/// Adds the cases in 'json'. 'part' is the section of a paper.json, 'sides' are that section's
/// sides.
void collect(const ordered_json& json, const std::string& part, const ordered_json& sides,
             Cases& cases) {
  if (json.is_array()) {
    for (const ordered_json& item : json) collect(item, part, sides, cases);
  }
  if (!json.is_object()) return;
  if (json.value("bench", "") == "paper") {
    for (const auto& [name, section] : json.items()) {
      if (!section.is_object() || !section.contains("cases")) continue;
      collect(section["cases"], name + ": ", section.value("sides", ordered_json()), cases);
    }
    return;
  }
  if (!json.contains("ratio") || !json["ratio"].is_object()) return;
  const ordered_json& ratio = json["ratio"];
  const std::string name = part + describe(json) + " against ";
  if (ratio.contains("pairs")) {
    const ordered_json baseline = json.value("baseline", ordered_json::object());
    add_case(cases, name + json.value("against", baseline.value("name", "")), ratio,
             identity(baseline));
    return;
  }
  for (const auto& [against, one] : ratio.items()) {
    if (!one.is_object() || !one.contains("pairs")) continue;
    add_case(cases, name + against, one,
             sides.is_object() ? identity(sides.value(against, ordered_json())) : "");
  }
}

Cases read_cases(const std::string& path) {
  Cases cases;
  try {
    collect(ordered_json::parse(core::read_small_file(path, kLongestReport)), "", ordered_json(),
            cases);
  } catch (const std::system_error& e) {
    throw Error(ErrorCode::cannot_open, "'" + path + "' can't be opened: " + e.code().message());
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorCode::malformed,
                "'" + path + "' is not JSON of 'stepwell bench': " + e.what());
  }
  if (cases.empty()) {
    throw Error(ErrorCode::malformed,
                "'" + path +
                    "' has no ratio with its pairs; create it with 'stepwell bench ... "
                    "--json' or 'stepwell bench paper'");
  }
  return cases;
}

struct Row {
  std::string name;
  Comparison result;
  std::size_t before, after;  ///< number of pairs
  std::string note;
};

std::vector<Row> compare(const Cases& before, const Cases& after, const CompareOptions& options) {
  std::vector<Row> rows;
  std::vector<Samples> samples;
  for (const auto& [name, old] : before) {
    const auto found = after.find(name);
    if (found == after.end()) continue;
    samples.push_back({old.pairs, found->second.pairs});
    Row row{name, {}, old.pairs.size(), found->second.pairs.size(), ""};
    if (old.baseline != found->second.baseline) {
      row.note = fmt::format("another baseline: {}, then {}", old.baseline, found->second.baseline);
    }
    rows.push_back(row);
  }
  const std::vector<Comparison> results = compare_samples(samples, options);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].result = results[i];
    if (!rows[i].note.empty()) {
      rows[i].result.verdict = Change::unknown;
    } else if (results[i].verdict == Change::unknown) {
      rows[i].note = fmt::format("too few pairs: {} and {}", rows[i].before, rows[i].after);
    }
  }
  return rows;
}

std::size_t count(const std::vector<Row>& rows, Change verdict) {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const Row& r) { return r.result.verdict == verdict; }));
}

std::string counts_text(const std::vector<Row>& rows) {
  return fmt::format("{} slower, {} faster, {} same, {} unknown", count(rows, Change::slower),
                     count(rows, Change::faster), count(rows, Change::same),
                     count(rows, Change::unknown));
}

void print_json(const std::vector<Row>& rows, std::size_t only_before, std::size_t only_after) {
  ordered_json list = ordered_json::array();
  for (const Row& r : rows) {
    list.push_back({{"case", r.name},
                    {"before", rounded(r.result.before)},
                    {"after", rounded(r.result.after)},
                    {"change", rounded(r.result.change)},
                    {"probability", rounded(r.result.probability)},
                    {"verdict", to_string(r.result.verdict)}});
    if (!r.note.empty()) list.back()["note"] = r.note;
  }
  ordered_json json = {{"bench", "compare"}, {"cases", list}};
  for (const Change verdict : {Change::slower, Change::faster, Change::same, Change::unknown}) {
    json[std::string(to_string(verdict))] = count(rows, verdict);
  }
  json["only_before"] = only_before;
  json["only_after"] = only_after;
  fmt::print("{}\n", pretty(json));
}

void print_table(std::vector<Row> rows, std::size_t only_before, std::size_t only_after) {
  std::size_t width = 4;
  for (const Row& r : rows) width = std::max(width, r.name.size());
  const auto order = [](const Row& r) {
    return r.result.verdict == Change::slower ? 0 : r.result.verdict == Change::faster ? 1 : 2;
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return order(a) < order(b); });
  fmt::print("{:<{}}  {:>8}  {:>8}  {:>7}  {:>7}  {}\n", "case", width, "before", "after", "change",
             "p", "verdict");
  for (const Row& r : rows) {
    fmt::print("{:<{}}  {:>8.4g}  {:>8.4g}  {:>+6.1f}%  {:>7.2g}  {}{}\n", r.name, width,
               r.result.before, r.result.after, 100 * r.result.change, r.result.probability,
               to_string(r.result.verdict), r.note.empty() ? "" : " (" + r.note + ")");
  }
  fmt::print("{}\n", counts_text(rows));
  if (only_before > 0) fmt::print("{} only in the first file\n", only_before);
  if (only_after > 0) fmt::print("{} only in the second file\n", only_after);
}

void bench_compare(const CompareRequest& request) {
  const Cases before = read_cases(request.before);
  const Cases after = read_cases(request.after);
  const std::vector<Row> rows = compare(before, after, request.options);
  if (rows.empty()) {
    throw Error(ErrorCode::shape, "no case is in both files: '" + before.begin()->first +
                                      "' in the first, '" + after.begin()->first +
                                      "' in the second; run the same benchmark twice");
  }
  const std::size_t only_before = before.size() - rows.size();
  const std::size_t only_after = after.size() - rows.size();
  request.json ? print_json(rows, only_before, only_after)
               : print_table(rows, only_before, only_after);
  if (const std::size_t slower = count(rows, Change::slower); slower > 0) {
    throw tool::Failure{1, fmt::format("{} of {} cases became slower", slower, rows.size())};
  }
}

}  // namespace

void add_compare(tool::Verb bench) {
  const tool::Verb verb =
      bench.add_subcommand("compare", "Report what became slower between two files of bench");
  const auto r = std::make_shared<CompareRequest>();
  verb.add_option("before", r->before, "JSON of a bench verb, or a paper.json").required();
  verb.add_option("after", r->after, "The same for the program under test").required();
  verb.add_option("--alpha", r->options.alpha, "Accepted fraction of false alarms")
      .check(tool::Range(1e-6, 0.5))
      .capture_default_str();
  verb.add_option("--least-change", r->options.least_change,
                  "Changes of the ratio below this are too small to matter")
      .check(tool::Range(0.0, 10.0))
      .capture_default_str();
  verb.add_flag("--json", r->json, "Print one JSON object");
  verb.callback([r] { bench_compare(*r); });
  verb.footer(
      "Compares the ratios to a baseline with a rank test. Exit code 1: something is slower.\n\n"
      "Example:\n  stepwell bench compare before.json after.json");
}

}  // namespace stepwell::bench
