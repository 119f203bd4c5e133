// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "commands/plan.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/forecast.hpp"
#include "core/machine/threads.hpp"
#include "factor/distributed/cholesky.hpp"
#include "factor/distributed/process_context.hpp"
#include "report/certificate.hpp"
#include "report/screen.hpp"
#include "solvers/distributed/plan.hpp"
#include "stepwell/error.hpp"

/// `plan --ranks`: predicts a solve over ranks, in one process.
namespace stepwell::tool {
namespace {

/// The prediction of a solve over ranks.
struct DistributedForecast {
  Forecast path;            ///< the rungs; times and memory are for one process
  std::string measured_on;  ///< date of these times, with a rank's threads; empty: not measured
  std::string layout;
  int threads = 1;  ///< per rank
  std::int64_t sent = 0;
  std::int64_t bytes = 0, top_bytes = 0;  ///< of the rank that needs the most
};

DistributedForecast forecast_of(const DistributedPlanRequest& r) {
  DistributedForecast f;
  const DistributedOptions distributed = distributed_options_of(r.where);
  const tiles::Distribution distribution = tiles::Distribution::choose(r.ranks, distributed);
  f.layout = distribution.name();
  const int allowed = core::default_threads();
  f.threads = r.how.threads > 0 ? r.how.threads
                                : factor::part_of_machine(allowed, std::int64_t{allowed} * r.ranks);
  SolveOptions options = options_of(r.how);
  options.tile = r.where.tile;
  const Timetable table = load_timetable(f.threads);
  f.measured_on = table.measured_on;
  f.path = forecast(r.n, r.columns, false, options, r.recipe, table);
  f.top_bytes =
      solvers::plan_of_all(r.ranks, f.threads, r.n, r.columns, options, distributed).top_bytes;
  if (f.path.method.factorization != Factorization::none) options.map = f.path.method.map;
  options.climb = false;
  f.bytes = solvers::plan_of_all(r.ranks, f.threads, r.n, r.columns, options, distributed).bytes;
  f.sent = modelled_bytes(f.path.method, r.n, r.where.tile, distribution);
  return f;
}

/// Seconds of one process, divided by the number of ranks. No solve is faster, and the time that
/// the network adds is not known before there are ranks.
double least_seconds(const DistributedPlanRequest& r, const DistributedForecast& f) {
  return f.path.seconds() / r.ranks;
}

/// The library's own rates are for two cores and do not apply to a rank's threads.
void add_time(Screen& screen, const DistributedPlanRequest& r, const DistributedForecast& f) {
  if (f.measured_on.empty()) {
    screen.line("time",
                fmt::format("not predicted: 'stepwell tune --threads {}' on a rank's machine "
                            "measures the rates",
                            f.threads));
  } else {
    const auto text = [](double seconds) { return time_text({0, 0, 0, 0, seconds}); };
    screen.line(
        "time",
        fmt::format("at least {}: {} of one process with as many threads, divided by the number of "
                    "ranks",
                    text(least_seconds(r, f)), text(f.path.seconds())));
    screen.line("", "by this machine's rates of " + f.measured_on);
  }
  if (r.ranks > 1)
    screen.line("", "the time of the network is not included: it has not been measured");
}

}  // namespace

std::int64_t modelled_bytes(const Method& method, std::int64_t n, std::int64_t tile,
                            const tiles::Distribution& distribution) {
  if (method.factorization == Factorization::none || distribution.ranks() == 1) return 0;
  FactorOptions f;
  f.map = method.map;
  f.tile = tile;
  return f.map.adaptive() ? 0 : factor::distributed_bytes_to_send(n, f, distribution);
}

void print_distributed_plan(const DistributedPlanRequest& r, bool json) {
  const bool general = r.recipe && gallery::is_general(r.recipe->kind);
  if (general || structure_of(r.how) == Structure::general) {
    throw Error(ErrorCode::invalid_argument,
                "over ranks A must be symmetric positive definite; choose another --kind, and omit "
                "--assume");
  }
  const DistributedForecast f = forecast_of(r);
  if (json) {
    nlohmann::ordered_json seconds;  // null: not predicted
    if (!f.measured_on.empty()) {
      seconds = {{"at_least", least_seconds(r, f)}, {"one_process", f.path.seconds()}};
    }
    const nlohmann::ordered_json out = {{"n", r.n},
                                        {"columns", r.columns},
                                        {"kind", r.kind},
                                        {"map", map_text(f.path.method)},
                                        {"refiner", refiner_text(f.path.method)},
                                        {"iterations", f.path.iterations},
                                        {"rehearsed_at", f.path.rehearsed},
                                        {"seconds", seconds},
                                        {"rates_measured_on", f.measured_on},
                                        {"ranks",
                                         {{"ranks", r.ranks},
                                          {"layout", f.layout},
                                          {"threads", f.threads},
                                          {"sent_bytes_model", f.sent},
                                          {"peak_bytes_plan", f.bytes},
                                          {"peak_bytes_at_most", f.top_bytes}}}};
    fmt::print("{}\n", out.dump(2));
    return;
  }
  Screen screen(colour_on_stdout());
  screen.line("path", path_text(f.path.method, f.path.iterations));
  screen.line("", reason_text(f.path) + (f.path.rehearsed > 0 ? " in one process" : ""));
  add_time(screen, r, f);
  screen.line("ranks", fmt::format("{}, {}; {} thread{} each", r.ranks, f.layout, f.threads,
                                   f.threads == 1 ? "" : "s"));
  screen.line("sent", size_text(f.sent) + " for the factor, by all ranks together");
  screen.line(
      "a rank's memory",
      fmt::format("{}{}; {} if it has to climb to FP64", size_text(f.bytes),
                  r.where.regenerate ? "" : ", including A's tiles", size_text(f.top_bytes)));
  fmt::print("{}", screen.take());
}

}  // namespace stepwell::tool
