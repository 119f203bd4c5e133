// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "commands/timetable.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/log.hpp"
#include "core/machine/system.hpp"
#include "core/small_file.hpp"
#include "io/sink.hpp"
#include "io/source.hpp"
#include "solvers/ladder/cost.hpp"
#include "stepwell/error.hpp"
#include "stepwell/machine.hpp"
#include "stepwell/map.hpp"

namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

constexpr int kFormat = 1;

/// The rung that takes most of the time with a map.
Rung main_rung(const std::string& map) {
  const PrecisionMap m = parse_map(map);
  return m.adaptive() ? Rung::bf16x2 : m.layers.back();
}

SolveSeconds modelled(const std::string& map, std::int64_t n) {
  if (map == "none") {
    const double pass = solvers::iteration_seconds(std::nullopt, n, 1);
    return {map, n, pass, 0, pass};
  }
  const Rung rung = main_rung(map);
  return {map, n, solvers::iteration_seconds(std::nullopt, n, 1), solvers::factor_seconds(rung, n),
          solvers::iteration_seconds(rung, n, 1)};
}

/// Interpolates between the values at two orders, linearly in logarithms.
double between(double x0, double y0, double x1, double y1, double x) {
  if (!(y0 > 0 && y1 > 0)) return std::max(y0, y1);
  const double slope = std::log(y1 / y0) / std::log(x1 / x0);
  return y0 * std::pow(x / x0, slope);
}

/// The power of n with which the factorization time grows beyond the largest row: half-way between
/// the power that the last two rows show and the cube, to which it tends (n = 16384 from 8192:
/// within a tenth, where the cube is a third off).
double factor_power(const std::vector<SolveSeconds>& rows) {
  if (rows.size() < 2) return 3;
  const SolveSeconds& last = rows.back();
  const SolveSeconds& before = rows[rows.size() - 2];
  if (!(before.factor > 0 && last.factor > 0)) return 3;
  const double shown = std::log(last.factor / before.factor) /
                       std::log(static_cast<double>(last.n) / static_cast<double>(before.n));
  return std::clamp((shown + 3) / 2, 2.0, 3.0);
}

SolveSeconds beyond(const std::vector<SolveSeconds>& rows, std::int64_t n) {
  SolveSeconds t = rows.back();
  const double ratio = static_cast<double>(n) / static_cast<double>(t.n);
  t.analysis *= ratio * ratio;
  t.factor *= std::pow(ratio, factor_power(rows));
  t.iteration *= ratio * ratio;
  t.n = n;
  return t;
}

SolveSeconds interpolated(const SolveSeconds& below, const SolveSeconds& above, std::int64_t n) {
  const auto at = [&](double SolveSeconds::*part) {
    return between(static_cast<double>(below.n), below.*part, static_cast<double>(above.n),
                   above.*part, static_cast<double>(n));
  };
  return {below.map, n, at(&SolveSeconds::analysis), at(&SolveSeconds::factor),
          at(&SolveSeconds::iteration)};
}

}  // namespace

SolveSeconds seconds_at(const Timetable& table, const std::string& map, std::int64_t n,
                        std::int64_t columns, bool general) {
  std::vector<SolveSeconds> rows;
  std::copy_if(table.rows.begin(), table.rows.end(), std::back_inserter(rows),
               [&](const SolveSeconds& t) { return t.map == map; });
  std::sort(rows.begin(), rows.end(),
            [](const SolveSeconds& s, const SolveSeconds& t) { return s.n < t.n; });
  SolveSeconds t = modelled(map, n);
  if (!rows.empty() && n >= rows.back().n) {
    t = beyond(rows, n);
  } else if (rows.size() > 1) {
    auto above =
        std::upper_bound(rows.begin() + 1, rows.end() - 1, n,
                         [](std::int64_t m, const SolveSeconds& row) { return m < row.n; });
    t = interpolated(*(above - 1), *above, n);
  }
  if (columns > 1) {
    // A and L are read once for all columns; the cost model says how the time grows.
    const std::optional<Rung> rung =
        map == "none" ? std::nullopt : std::optional<Rung>(main_rung(map));
    t.iteration *=
        solvers::iteration_seconds(rung, n, columns) / solvers::iteration_seconds(rung, n, 1);
  }
  if (general) {
    t.factor *= 2;
    t.iteration *= 2;
  }
  return t;
}

SolveSeconds seconds_of(const Certificate& c, std::int64_t n) {
  return {map_text(c.method), n, std::max(0.0, c.times.wall - c.times.factor - c.times.refine),
          c.times.factor, c.times.refine / std::max(1, c.iterations)};
}

std::string timetable_path() {
  const std::string directory = core::cache_directory();
  return directory.empty() ? "" : directory + "/rates.json";
}

ordered_json to_json(const Timetable& table, int threads) {
  const MachineReport machine = describe_machine();
  ordered_json rows = ordered_json::array();
  for (const SolveSeconds& t : table.rows) {
    rows.push_back({{"map", t.map},
                    {"n", t.n},
                    {"analysis", t.analysis},
                    {"factor", t.factor},
                    {"iteration", t.iteration}});
  }
  return {
      {"format", kFormat},
      {"stepwell", machine.version},
      {"cpu_model", machine.cpu_model},
      {"isa", machine.isa},
      {"blas", machine.blas.library + " " + machine.blas.version + " " + machine.blas.core_name},
      {"threads", threads},
      {"measured_on", table.measured_on},
      {"start", table.start},
      {"rows", rows}};
}

void save(const Timetable& table, const std::string& path, int threads) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  io::Sink sink(path);  // reports the error if the directory could not be created
  sink.write(to_json(table, threads).dump(2) + "\n");
  sink.commit();
}

namespace {

/// The contents of the file that 'tune' wrote; empty if there is none, or if it is not a readable
/// file.
std::string kept_text() {
  constexpr std::size_t kMostBytes = 1 << 20;  // 'tune' writes some thousand bytes
  const std::string path = timetable_path();
  if (path.empty()) return "";
  try {
    return core::read_small_file(path, kMostBytes);
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::no_such_file_or_directory &&
        e.code() != std::errc::not_a_directory) {
      core::warn_once(io::in_quotes(path) + " can't be read: " + e.code().message() +
                      "; times come from a cost model. Run 'stepwell tune', or delete the file");
    }
    return "";
  }
}

}  // namespace

Timetable load_timetable(int threads) {
  Timetable table;
  const ordered_json j = ordered_json::parse(kept_text(), nullptr, false);
  if (!j.is_object()) return table;
  const ordered_json here = to_json(table, threads);
  for (const char* key : {"format", "stepwell", "cpu_model", "isa", "blas", "threads"}) {
    if (!j.contains(key) || j[key] != here[key]) return table;
  }
  try {
    std::vector<SolveSeconds> rows;
    for (const ordered_json& row : j.at("rows")) {
      const SolveSeconds t{row.at("map").get<std::string>(), row.at("n").get<std::int64_t>(),
                           row.at("analysis").get<double>(), row.at("factor").get<double>(),
                           row.at("iteration").get<double>()};
      if (!(t.n > 0 && t.analysis >= 0 && t.factor >= 0 && t.iteration >= 0)) return table;
      rows.push_back(t);
    }
    table.start = j.at("start").get<double>();
    table.measured_on = j.at("measured_on").get<std::string>();
    table.rows = std::move(rows);
  } catch (const ordered_json::exception&) {
    return {};
  }
  return table;
}

}  // namespace stepwell::tool
