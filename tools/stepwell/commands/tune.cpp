// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>

#include <nlohmann/json.hpp>
#include "commands/timetable.hpp"
#include "commands/verbs.hpp"
#include "core/buffer.hpp"
#include "core/machine/threads.hpp"
#include "gallery/gallery.hpp"
#include "gallery/recipe.hpp"
#include "io/sink.hpp"
#include "options/requirements.hpp"
#include "solvers/ladder/cost.hpp"
#include "stepwell/error.hpp"
#include "stepwell/solve.hpp"

/// `tune`: measures how long the parts of a solve take on this machine, for forecasts.
namespace stepwell::tool {
namespace {

struct TuneRequest {
  std::int64_t max_n = 8192;
  int threads = 0;
  bool json = false;
};

/// A solve is repeated until its runs have taken this many seconds or are this many, in each of two
/// sweeps over the sizes: the machine may have been busy with something else during one of them.
constexpr double kLongEnough = 0.75;
constexpr int kMostRuns = 4;
constexpr int kSweeps = 2;

double median_of(std::vector<SolveSeconds> runs, double SolveSeconds::*part) {
  std::sort(runs.begin(), runs.end(),
            [&](const SolveSeconds& s, const SolveSeconds& t) { return s.*part < t.*part; });
  return runs[runs.size() / 2].*part;
}

/// A matrix with two different eigenvalues, for which CG needs no factor.
gallery::Recipe clusters() {
  gallery::Recipe recipe;
  recipe.kind = gallery::Kind::clustered;
  recipe.condition = 1e8;
  return recipe;
}

class Tuner {
 public:
  Tuner(std::int64_t most, int threads)
      : a_(core::size_product(most, most, "matrix")), b_(most), x_(most), context_(threads) {
    for (std::int64_t i = 0; i < most; ++i) b_[i] = gallery::noise(static_cast<std::uint64_t>(i));
  }

  void fill(std::int64_t n, const gallery::Recipe& recipe) {
    n_ = n;
    gallery::fill(view(a_.data(), n, n), recipe, context_.threads());
  }

  Certificate solve(const std::optional<PrecisionMap>& map) {
    SolveOptions options;
    options.map = map;
    options.engine.context = &context_;
    options.check_symmetry = true;  // as `solve` does
    const Certificate c =
        solve_spd(view<const double>(a_.data(), n_, n_), view<const double>(b_.data(), n_, 1),
                  view(x_.data(), n_, 1), options);
    if (!c.ok()) throw Error(ErrorCode::internal, "a test system was not solved: " + c.reason);
    return c;
  }

  /// How much longer the first solve of this process takes than the next ones, because threads are
  /// started and kernels are chosen and tested.
  double start_seconds() {
    fill(1024, {});
    const double first = solve(std::nullopt).times.wall;
    std::vector<double> next;
    for (int k = 0; k < 5; ++k) next.push_back(solve(std::nullopt).times.wall);
    std::sort(next.begin(), next.end());
    return std::max(0.0, first - next[2]);
  }

  /// Adds the times of solves at a map.
  void measure(const std::optional<PrecisionMap>& map) {
    double together = 0;
    for (int k = 0; k == 0 || (together < kLongEnough && k < kMostRuns); ++k) {
      const Certificate c = solve(map);
      runs_[{n_, map_text(c.method)}].push_back(seconds_of(c, n_));
      together += c.times.wall;
    }
  }

  /// The medians of all measurements.
  std::vector<SolveSeconds> rows() const {
    std::vector<SolveSeconds> rows;
    for (const auto& [key, runs] : runs_) {
      rows.push_back({key.second, key.first, median_of(runs, &SolveSeconds::analysis),
                      median_of(runs, &SolveSeconds::factor),
                      median_of(runs, &SolveSeconds::iteration)});
    }
    return rows;
  }

 private:
  core::Buffer<double> a_, b_, x_;
  Context context_;
  std::int64_t n_ = 0;
  std::map<std::pair<std::int64_t, std::string>, std::vector<SolveSeconds>> runs_;  // by n and map
};

void tune(const TuneRequest& r) {
  const int threads = r.threads > 0 ? r.threads : core::default_threads();
  const std::string path = timetable_path();
  if (path.empty()) {
    throw Error(ErrorCode::cannot_open,
                "there is no directory for the rates: set HOME or XDG_CACHE_HOME");
  }
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  { const io::Sink probe(path); }  // before the work: reports what is wrong with the directory
  require_memory(core::size_product(r.max_n, r.max_n, 16, "matrix"));
  Tuner tuner(r.max_n, threads);
  std::vector<PrecisionMap> maps;
  for (const Rung rung : solvers::ladder_rungs()) maps.push_back(uniform(rung));

  Timetable table;
  table.measured_on = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  table.start = tuner.start_seconds();
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::int64_t n = 512; n <= r.max_n; n *= 2) {
      fmt::print(stderr, "measuring solves with n = {}\n", n);
      tuner.fill(n, {});
      if (n < solvers::direct_below()) {
        tuner.measure(std::nullopt);
        continue;
      }
      for (const PrecisionMap& map : maps) tuner.measure(map);
      if (maps[0] == uniform(Rung::bf16)) tuner.measure(solvers::covariance_map(n));
      tuner.fill(n, clusters());
      tuner.measure(std::nullopt);  // without a factor
    }
  }
  table.rows = tuner.rows();
  if (r.json) fmt::print("{}\n", to_json(table, threads).dump(2));
  save(table, path, threads);
  if (!r.json) {
    fmt::print("{:>8}  {:<32}{:>12}{:>12}{:>12}   seconds\n", "n", "map", "analysis", "factor",
               "iteration");
    for (const SolveSeconds& t : table.rows) {
      fmt::print("{:>8}  {:<32}{:>12.3g}{:>12.3g}{:>12.3g}\n", t.n, t.map, t.analysis, t.factor,
                 t.iteration);
    }
    fmt::print("saved in {}; 'plan' and the progress of 'solve' use it\n", path);
  }
}

}  // namespace

void add_tune(Verb app, const Arguments& given) {
  const Verb verb =
      app.add_subcommand("tune", "Measure this machine, so that plan can predict the time");
  const auto r = std::make_shared<TuneRequest>();
  verb.add_option("--max-n", r->max_n, "Order of the largest system that is measured")
      .check(Range(1024, 65536))
      .capture_default_str();
  verb.add_option("--threads", r->threads, "Workers; default: as many as the process may use")
      .check(Range(1, 1024));
  verb.add_flag("--json", r->json, "Print one JSON object");
  add_tune_batch(verb, given);
  verb.callback([r, verb] {
    if (!verb.has_subcommand()) tune(*r);
  });
  verb.footer(
      "It takes a minute, and six times that at twice the order. The result is saved in\n"
      "stepwell/rates.json below $XDG_CACHE_HOME or ~/.cache. It changes forecasts only,\n"
      "never what a solve does: x has the same bits with and without it.\n"
      "\nExample:\n  stepwell tune");
}

}  // namespace stepwell::tool
