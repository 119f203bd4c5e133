// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <optional>
#include <string>

#include <nlohmann/json.hpp>
#include "commands/plan.hpp"
#include "core/buffer.hpp"
#include "core/machine/threads.hpp"
#include "engine/communicator.hpp"
#include "gallery/gallery.hpp"
#include "gallery/tile_filler.hpp"
#include "io/matrix_file.hpp"
#include "options/launcher.hpp"
#include "options/requirements.hpp"
#include "options/system_request.hpp"
#include "report/certificate.hpp"
#include "report/ending.hpp"
#include "report/progress_line.hpp"
#include "report/screen.hpp"
#include "stepwell/distributed.hpp"
#include "stepwell/error.hpp"

/// `solve --kind`: A from the gallery, b of seeded noise, in one process or on ranks.
namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

/// The measured cost of a solve over ranks, next to the predicted cost.
struct RanksReport {
  int ranks = 1;
  std::string layout;
  std::int64_t sent = 0, sent_model = 0;     ///< bytes for the factor, of all ranks
  std::int64_t memory = 0, memory_plan = 0;  ///< of the rank that needs the most
  std::int64_t resident = 0;  ///< peak resident memory of a rank according to the system
};

core::Buffer<double> right_hand_sides(const SystemRequest& r) {
  core::Buffer<double> b(core::size_product(r.n, r.columns, "right-hand sides"));
  for (std::int64_t i = 0; i < b.size(); ++i) {
    b[i] = gallery::noise(gallery::stream(r.recipe.seed, 0x62) + static_cast<std::uint64_t>(i));
  }
  return b;
}

std::string name_of(const SystemRequest& r) {
  return fmt::format("{} of order {}", r.recipe.kind, r.n);
}

void print(const SystemRequest& r, const Certificate& c, const RanksReport* ranks) {
  if (r.json) {
    ordered_json json = {{"gen", r.recipe.kind}, {"x", c.ok() ? r.out : ""}, {"n", r.n}};
    if (ranks != nullptr) {
      json["ranks"] = {{"ranks", ranks->ranks},
                       {"layout", ranks->layout},
                       {"sent_bytes", ranks->sent},
                       {"sent_bytes_model", ranks->sent_model},
                       {"peak_bytes", ranks->memory},
                       {"peak_bytes_plan", ranks->memory_plan},
                       {"peak_resident_bytes", ranks->resident}};
      if (!r.checkpoint.empty()) {
        json["ranks"]["checkpoints"] = {{"resumed_columns", c.factor.resumed_columns},
                                        {"written", c.factor.checkpoints},
                                        {"seconds", c.factor.checkpoint_seconds}};
      }
    }
    json["certificate"] = certificate_json(c);
    json["peak_resident_bytes"] = peak_resident_bytes();
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("{}", certificate_text(c, colour_on_stdout()));
  if (ranks == nullptr) return;
  Screen screen(colour_on_stdout());
  screen.line("ranks", fmt::format("{}, {}", ranks->ranks, ranks->layout));
  screen.line("sent", fmt::format("{} for the factor, model {}", size_text(ranks->sent),
                                  size_text(ranks->sent_model)));
  screen.line("a rank's memory",
              fmt::format("{}, plan {}; {} resident", size_text(ranks->memory),
                          size_text(ranks->memory_plan), size_text(ranks->resident)));
  if (!r.checkpoint.empty()) {
    screen.line("checkpoints", fmt::format("{} written in {:.2g} s; {} block columns resumed",
                                           c.factor.checkpoints, c.factor.checkpoint_seconds,
                                           c.factor.resumed_columns));
  }
  fmt::print("{}", screen.take());
}

/// Throws the exit code and the message of a solve that failed; with 'says' false, without the
/// message.
void conclude(const SystemRequest& r, const Certificate& c, bool says) {
  if (c.ok()) return;
  throw Failure{exit_code(c.outcome), says ? name_of(r) + ": " + c.reason : ""};
}

SolveOptions options_for(const SystemRequest& r) {
  SolveOptions options = options_of(r);
  options.condition = r.condition;
  options.prove = r.prove;
  options.tile = r.tile;
  return options;
}

void solve_here(const SystemRequest& r, const gallery::Recipe& recipe) {
  const std::int64_t bytes = core::size_product(r.n, r.n, 8, "matrix");
  require_memory(bytes + core::size_product(r.n, r.columns, 16, "b and x"));
  require_place(r.out, {});
  Context context(r.threads);
  SolveOptions options = options_for(r);
  options.engine.context = &context;
  options.transposed = r.transposed;
  Certificate c;
  {
    ProgressLine line(!r.quiet, {{Phase::analysis, "analyzing A", 0},
                                 {Phase::factor, "factoring", 0},
                                 {Phase::refine, "refining", 0}});
    options.engine.progress = line.progress();
    const core::Buffer<double> a(r.n * r.n, core::Contents::any);
    gallery::fill(view(a.data(), r.n, r.n), recipe, core::default_threads());
    const core::Buffer<double> b = right_hand_sides(r), x(b.size());
    const MatrixView<double> solution = view(x.data(), r.n, r.columns);
    c = solve(view<const double>(a.data(), r.n, r.n), view<const double>(b.data(), r.n, r.columns),
              solution, options, r.lower ? Structure::spd : structure_of(r));
    if (c.ok() && !r.out.empty()) io::write_matrix(r.out, solution, false, line.progress());
  }
  print(r, c, nullptr);
  conclude(r, c, true);
}

DistributedOptions distributed_options(const SystemRequest& r) {
  DistributedOptions distributed = distributed_options_of(r);
  distributed.checkpoint = r.checkpoint;
  distributed.checkpoint_interval = r.checkpoint_interval;
  distributed.checkpoint_name =
      fmt::format("{} {} {} {} {} {}", r.recipe.kind, r.recipe.condition, r.recipe.length,
                  r.recipe.nugget, r.recipe.seed, r.recipe.sorted);
  return distributed;
}

void solve_on(const Ranks& ranks, const SystemRequest& r, const gallery::Recipe& recipe) {
  if (r.transposed || structure_of(r) == Structure::general) {
    throw Error(ErrorCode::invalid_argument,
                "over ranks A must be symmetric positive definite; omit --transposed and --assume");
  }
  const bool first = ranks.rank() == 0;
  std::optional<Context> context;
  SolveOptions options = options_for(r);
  if (r.threads > 0) options.engine.context = &context.emplace(r.threads);
  const DistributedOptions distributed = distributed_options(r);
  const tiles::Distribution distribution = tiles::Distribution::choose(ranks.size(), distributed);
  if (first) require_place(r.out, {});
  RanksReport report;
  Certificate c;
  {
    ProgressLine line(!r.quiet && first, {{Phase::analysis, "analyzing A", 0},
                                          {Phase::factor, "factoring", 0},
                                          {Phase::refine, "refining", 0}});
    options.engine.progress = line.progress();
    const core::Buffer<double> b = right_hand_sides(r), x(b.size());
    const MatrixView<double> solution = view(x.data(), r.n, r.columns);
    c = solve_spd(ranks, r.n, gallery::tile_filler(r.n, recipe),
                  view<const double>(b.data(), r.n, r.columns), solution, options, distributed);
    if (first && c.ok() && !r.out.empty()) {
      io::write_matrix(r.out, solution, false, line.progress());
    }
  }
  report.ranks = ranks.size();
  report.layout = distribution.name();
  report.sent = c.factor.sent_bytes;
  report.sent_model = modelled_bytes(c.method, r.n, r.tile, distribution);
  // The plan for the factor that was computed: the rung at which the ladder starts depends on A.
  options.engine.progress = nullptr;
  if (c.method.factorization != Factorization::none) options.map = c.method.map;
  report.memory_plan = plan_spd(ranks, r.n, r.columns, options, distributed).bytes;
  report.memory = c.peak_bytes;
  report.resident = peak_resident_bytes();
  RanksData::of(ranks).largest({&report.resident, 1});
  if (first) print(r, c, &report);
  conclude(r, c, first);
}

}  // namespace

void solve_generated(const SystemRequest& r) {
  const gallery::Recipe recipe = recipe_of(r.recipe);
  if (r.n < 1) throw Error(ErrorCode::invalid_argument, "--kind needs --n, the order of A");
  if (!r.mpi && launched_ranks() == 1) {
    if (r.regenerate || !r.checkpoint.empty()) {
      throw Error(ErrorCode::invalid_argument,
                  "--regenerate and --checkpoint are for ranks: start it with mpirun, or give "
                  "--mpi");
    }
    return solve_here(r, recipe);
  }
  const Ranks ranks = load_ranks();
  try {
    solve_on(ranks, r, recipe);
  } catch (const Error& e) {
    // All ranks have the error; only rank 0 reports it.
    if (ranks.rank() == 0) throw;
    throw Failure{static_cast<int>(e.code()), ""};
  }
}

}  // namespace stepwell::tool
