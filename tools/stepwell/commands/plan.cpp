// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <memory>

#include <nlohmann/json.hpp>
#include "commands/forecast.hpp"
#include "commands/plan.hpp"
#include "commands/verbs.hpp"
#include "core/machine/system.hpp"
#include "core/machine/threads.hpp"
#include "engine/simulation/simulated_run.hpp"
#include "io/matrix_file.hpp"
#include "options/distributed_options.hpp"
#include "options/recipe_options.hpp"
#include "options/solve_options.hpp"
#include "report/certificate.hpp"
#include "report/screen.hpp"
#include "stepwell/error.hpp"

/// `plan`: what `solve` or `lstsq` would do, how much memory it would need and how long it would
/// take.
namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

struct PlanRequest : SolveOptionsRequest, DistributedRequest {
  std::string file;
  std::int64_t n = 0;
  std::int64_t m = 0;  ///< rows, for least squares
  std::int64_t columns = 1;
  RecipeRequest recipe;
  int ranks = 0;  ///< 0: one process, without mpirun
  bool json = false;
};

/// The shape of A from its file or from --n. Without a file, A is assumed to be symmetric.
io::MatrixShape shape_of(const PlanRequest& r) {
  if (r.file.empty() == (r.n == 0)) {
    throw Error(ErrorCode::invalid_argument,
                "give the size of the matrix: either --n or a file; see 'stepwell plan --help'");
  }
  if (r.file.empty()) return {r.m == 0 ? r.n : r.m, r.n, true};
  const io::MatrixShape shape = io::read_shape(r.file);
  if (shape.rows < shape.cols) {
    throw Error(ErrorCode::shape,
                fmt::format("{}: A is {} x {}; it must be square, or have more rows than columns",
                            io::in_quotes(r.file), shape.rows, shape.cols));
  }
  return shape;
}

/// Whether A will be solved by LU: as --assume says, or else according to the kind. Without a kind,
/// a Matrix Market file says whether A is symmetric; A of other files is assumed to be symmetric.
bool plan_for_general(const PlanRequest& r, io::MatrixShape shape,
                      const std::optional<gallery::Recipe>& recipe) {
  const Structure structure = structure_of(r);
  if (structure != Structure::automatic) return structure == Structure::general;
  if (recipe) return gallery::is_general(recipe->kind);
  return !shape.symmetric && !r.file.ends_with(".npy");
}

void print_json(std::int64_t n, bool general, const PlanRequest& r, const Forecast& f,
                const Timetable& table, std::int64_t available) {
  ordered_json left = ordered_json::array();
  for (const LadderStep& a : f.left) {
    left.push_back(
        {{"map", map_text(a.method)}, {"iterations", a.iterations}, {"left_because", a.reason}});
  }
  const ordered_json json = {
      {"n", n},
      {"columns", r.columns},
      {"kind", r.recipe.kind},
      {"structure", general ? "general" : "spd"},
      {"map", map_text(f.method)},
      {"refiner", refiner_text(f.method)},
      {"iterations", f.iterations},
      {"rungs_left", left},
      {"rehearsed_at", f.rehearsed},
      {"seconds",
       {{"analysis", f.analysis},
        {"factor", f.factor},
        {"refine", f.refine},
        {"wall", f.seconds()}}},
      {"rates_measured_on", table.measured_on},
      {"simulated_cores", f.simulated},
      {"bytes",
       {{"data", f.data_bytes}, {"workspace", f.bytes}, {"workspace_at_most", f.top_bytes}}},
      {"bytes_available", available}};
  fmt::print("{}\n", json.dump(2));
}

/// Adds a line that says whether there is enough memory.
void add_verdict(Screen& screen, const Forecast& f, std::int64_t available) {
  const auto fits = [&](std::int64_t workspace) {
    // Halves, because the sum may overflow.
    return f.data_bytes / 2 + workspace / 2 <= available / 2;
  };
  const std::string there = size_text(available) + " are available: ";
  if (!fits(f.bytes)) {
    screen.bad("", there + "it does not fit");
  } else if (!fits(f.top_bytes)) {
    screen.bad("", there + "it fits unless it has to climb");
  } else {
    screen.good("", there + "it fits");
  }
}

void print_text(bool general, const Forecast& f, const Timetable& table, std::int64_t available) {
  Screen screen(colour_on_stdout());
  if (general) screen.line("solved as", "a general matrix, by LU");
  for (const LadderStep& a : f.left) screen.line("will try", attempt_text(a));
  screen.line("path", path_text(f.method, f.iterations));
  screen.line("", reason_text(f));
  screen.line("time", time_text({f.analysis, f.factor, f.refine, 0, f.seconds()}));
  screen.line("",
              f.simulated > 0
                  ? fmt::format("simulated for {} cores like those of this machine, "
                                "with {:g} GB/s from memory",
                                f.simulated, engine::SimulatedMachine::server(1).bandwidth / 1e9)
              : table.measured_on.empty()
                  ? "by the rates of the machine Stepwell was developed on; 'stepwell tune' "
                    "measures this one"
                  : "by this machine's rates of " + table.measured_on);
  screen.line("memory",
              fmt::format("{} for A, b and x, {} in addition; {} if it has to climb to "
                          "FP64",
                          size_text(f.data_bytes), size_text(f.bytes), size_text(f.top_bytes)));
  if (available > 0) add_verdict(screen, f, available);
  fmt::print("{}", screen.take());
}

void plan(const PlanRequest& r) {
  const io::MatrixShape shape = shape_of(r);
  std::optional<gallery::Recipe> recipe;
  if (!r.recipe.kind.empty()) recipe = recipe_of(r.recipe);
  if (r.ranks > 0) {
    return print_distributed_plan({r.ranks, shape.rows, r.columns, r, r, recipe, r.recipe.kind},
                                  r.json);
  }
  if (r.regenerate || r.grid_rows > 0 || r.layout != "grid") {
    throw Error(ErrorCode::invalid_argument,
                "--layout, --grid-rows and --regenerate are for ranks: give --ranks, too");
  }
  if (shape.rows != shape.cols) {
    return print_tall_plan(shape.rows, shape.cols, r.columns, r, r.json);
  }
  const std::int64_t n = shape.rows;
  Context context(r.threads);
  SolveOptions options = options_of(r);
  options.engine.context = &context;
  options.tile = r.tile;
  const Timetable table = load_timetable(r.threads > 0 ? r.threads : core::default_threads());
  const bool general = plan_for_general(r, shape, recipe);
  Forecast f = forecast(n, r.columns, general, options, recipe, table);
  if (r.threads > core::usable_cpus() && table.measured_on.empty() &&
      can_simulate(f, n, r.columns, general)) {
    if (!r.json) fmt::print(stderr, "measuring on one core, to simulate {} of them\n", r.threads);
    simulate_times(f, n, general, r.threads);
  }
  const std::int64_t available = core::memory_allowance().available;
  if (r.json) return print_json(n, general, r, f, table, available);
  print_text(general, f, table, available);
}

}  // namespace

void add_plan(Verb app) {
  const Verb verb = app.add_subcommand(
      "plan", "Show what solve or lstsq would do, its memory and time, without running it");
  const auto r = std::make_shared<PlanRequest>();
  r->recipe.kind.clear();
  const Range size(std::int64_t{1}, std::int64_t{1} << 31);
  const Range order(std::int64_t{1}, kLargestOrder);
  verb.add_option("A", r->file, "File with A, of which only the size is read").type_name("FILE");
  verb.add_option("--n", r->n, "Order of A, if there is no file").check(order);
  verb.add_option("--m", r->m, "Rows of A, if more than --n: least squares")
      .check(Range(std::int64_t{1}, std::int64_t{1} << 40))
      .needs("--n");
  verb.add_option("--nrhs", r->columns, "Right-hand sides").check(size).capture_default_str();
  verb.add_option("--kind", r->recipe.kind, "Kind of matrix, see below; default: unknown");
  add_recipe_options(verb, r->recipe);
  add_solve_options(verb, *r);
  verb.add_option("--ranks", r->ranks,
                  "Plan for mpirun with this many processes, each with --threads")
      .check(Range(1, 1 << 16))
      .excludes("A")
      .excludes("--m");
  add_distributed_options(verb, *r);
  verb.add_flag("--json", r->json, "Print one JSON object");
  verb.callback([r] { plan(*r); });
  verb.footer(kinds_help() +
              "\nExample:\n  stepwell plan --n 16384 --kind geometric --cond 1e5\n"
              "  stepwell plan --m 1000000 --n 500\n"
              "  stepwell plan --n 16384 --threads 64    more than there are: simulated\n"
              "  stepwell plan --n 100000 --ranks 16 --threads 32");
}

}  // namespace stepwell::tool
