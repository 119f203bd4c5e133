// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <string_view>

#include <nlohmann/json.hpp>
#include "bench/experiments/solve.hpp"
#include "bench/harness/compete.hpp"
#include "bench/harness/guards.hpp"
#include "bench/harness/report.hpp"
#include "core/machine/threads.hpp"
#include "options/requirements.hpp"
#include "stepwell/error.hpp"

/// `bench solve` with several orders or baselines: a row for each order.
namespace stepwell::bench {

using nlohmann::ordered_json;

namespace {

/// What was measured for one order.
struct Row {
  std::int64_t n = 0;
  double seconds = 0;                       ///< ours, median
  std::string path;                         ///< map, refiner, iterations
  double error = 0;                         ///< backward error
  std::vector<double> theirs;               ///< seconds of the baselines, median
  std::vector<std::vector<double>> ratios;  ///< theirs / ours, by baseline and round
};

Row measure(const SolveRequest& request, const std::vector<std::string>& against) {
  const bool general = request.assume == "general";
  for (const std::string& name : against) {
    tool::require_memory(system_bytes(request.n, name, general));
  }
  const auto s = std::make_shared<System>(request);
  const auto room = std::make_shared<LapackRoom>();
  std::vector<Side> sides = {solver_side(s)};
  for (const std::string& name : against) {
    sides.push_back(lapack_side(s, room, name));
    refuse_slow_blas(sides.back(), request.allow_slow_blas);
  }
  RotateOptions options;
  options.rounds = request.pairs;
  const std::vector<std::vector<double>> seconds = rotate(sides, Clock::wall, options);
  Row row;
  row.n = request.n;
  row.seconds = summarize(seconds[0]).median;
  row.path = fmt::format("{}, {}, {}", map_text(s->last.method), refiner_text(s->last.method),
                         s->last.iterations);
  row.error = backward_error(*s, s->x.data());
  for (std::size_t k = 1; k < seconds.size(); ++k) {
    row.theirs.push_back(summarize(seconds[k]).median);
    std::vector<double>& ratios = row.ratios.emplace_back();
    for (std::size_t i = 0; i < seconds[k].size(); ++i) {
      ratios.push_back(seconds[k][i] / seconds[0][i]);
    }
  }
  return row;
}

ordered_json json_of(const Row& row, const std::vector<std::string>& against) {
  ordered_json json = {{"n", row.n},
                       {"seconds", rounded(row.seconds)},
                       {"path", row.path},
                       {"backward_error", row.error}};
  for (std::size_t k = 0; k < against.size(); ++k) {
    json["against"][against[k]] = {{"seconds", rounded(row.theirs[k])},
                                   {"ratio", ratio_json(row.ratios[k])}};
  }
  return json;
}

void print_heading(const SolveRequest& r, const std::vector<std::string>& against) {
  fmt::print(
      "solve {}, {} column{}, {} threads; milliseconds, and times as fast (median, and the "
      "middle half)\n{:>8}{:>11}  ",
      r.kind, r.columns, r.columns == 1 ? "" : "s", r.threads, "n", "stepwell");
  for (const std::string& name : against) fmt::print("{:>11}{:>21}", name, "");
  fmt::print("  path\n");
}

void print(const Row& row) {
  fmt::print("{:>8}{:>11.4g}  ", row.n, 1e3 * row.seconds);
  for (std::size_t k = 0; k < row.theirs.size(); ++k) {
    std::vector<double> sorted = row.ratios[k];
    std::sort(sorted.begin(), sorted.end());
    const std::string ratio = fmt::format("{:.2f} ({:.2f}-{:.2f})", quantile(sorted, 0.5),
                                          quantile(sorted, 0.25), quantile(sorted, 0.75));
    fmt::print("{:>11.4g}{:>21}", 1e3 * row.theirs[k], ratio);
  }
  fmt::print("  {}\n", row.path);
  std::fflush(stdout);
}

}  // namespace

std::vector<std::string> words_in(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= list.size() && !list.empty();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    words.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  return words;
}

std::vector<std::int64_t> sizes_in(const std::string& option, const std::string& list,
                                   std::int64_t most) {
  std::vector<std::int64_t> sizes;
  for (const std::string& word : words_in(list)) {
    double value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool whole = error == std::errc() && stop == word.data() + word.size() &&
                       value == std::floor(value) && value >= 1 &&
                       value <= static_cast<double>(most);
    if (!whole) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("{} '{}': numbers are written '1000' or '50,1000,1e4', each from 1 to {}",
                      option, list, most));
    }
    sizes.push_back(static_cast<std::int64_t>(value));
  }
  if (sizes.empty()) {
    throw Error(ErrorCode::invalid_argument, option + " is empty; give at least one number");
  }
  return sizes;
}

void bench_solve_table(const SolveRequest& asked, const std::vector<std::int64_t>& orders,
                       const std::vector<std::string>& against) {
  SolveRequest request = asked;
  if (request.threads == 0) request.threads = core::default_threads();
  const bool general = is_general(request);
  request.assume = general ? "general" : "spd";
  const std::vector<std::string>& names = lapack_names(general);
  const std::vector<std::string> sides = against.empty() ? std::vector{names[0]} : against;
  for (const std::string& name : sides) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a table of 'solve' with structure {} can't have '{}'; its baselines "
                            "are {}",
                            request.assume, name, fmt::join(names, ", ")));
  }
  const BlasThreads blas_threads(request.threads);
  ordered_json rows = ordered_json::array();
  if (!request.json) print_heading(request, sides);
  for (const std::int64_t n : orders) {
    request.n = n;
    const Row row = measure(request, sides);
    if (request.json) {
      rows.push_back(json_of(row, sides));
    } else {
      print(row);
    }
  }
  if (!request.json) return;
  fmt::print("{}\n", pretty({{"bench", "solve"},
                             {"kind", request.kind},
                             {"structure", request.assume},
                             {"condition", request.condition},
                             {"columns", request.columns},
                             {"threads", request.threads},
                             {"rows", rows}}));
}

}  // namespace stepwell::bench
