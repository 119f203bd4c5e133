// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cstdio>
#include <new>
#include <optional>
#include <vector>

#include "core/numeric/hash.hpp"
#include "factor/distributed/cholesky.hpp"
#include "factor/distributed/process_context.hpp"
#include "factor/setup.hpp"
#include "kernels/table.hpp"
#include "solvers/api/checks.hpp"
#include "solvers/distributed/matrix.hpp"
#include "solvers/distributed/plan.hpp"
#include "solvers/distributed/replicated.hpp"
#include "solvers/distributed/solve.hpp"
#include "solvers/ladder/cost.hpp"
#include "solvers/systems/square_solver.hpp"
#include "stepwell/distributed.hpp"

/// solve_spd() and plan_spd() over ranks.
namespace stepwell {
namespace solvers {
namespace {

using engine::Agreement;
using engine::Communicator;

std::uint64_t hash_of(MatrixView<const double> b) {
  std::uint64_t h = 1;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    for (std::int64_t i = 0; i < b.rows; ++i) {
      h = core::hash(h ^ std::bit_cast<std::uint64_t>(b(i, c)));
    }
  }
  return h;
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t h = 1;
  for (const char c : text) h = core::hash(h ^ static_cast<unsigned char>(c));
  return h;
}

std::vector<Replicated> replicated_of(std::int64_t n, std::int64_t columns,
                                      const SolveOptions& options,
                                      const DistributedOptions& distributed) {
  const auto number = [](auto x) { return static_cast<std::uint64_t>(x); };
  const auto real = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  const std::uint64_t flags = number(options.climb) | number(options.refine.exact_residual) << 1 |
                              number(options.condition) << 2 | number(options.prove) << 3 |
                              number(options.cholesky.scaling) << 4 |
                              number(options.refine.working) << 8;
  return {
      {"n", number(n)},
      {"the number of columns", number(columns)},
      {"the tile", number(options.tile)},
      {"the precision map", options.map ? hash_of(to_string(*options.map)) : 0},
      {"the refiner", options.refine.refiner ? number(*options.refine.refiner) + 1 : 0},
      {"the tolerance", real(options.tolerance)},
      {"the iteration limit", number(options.refine.iterations)},
      {"theta", real(options.theta)},
      {"the shift", real(options.cholesky.shift)},
      {"an option flag", flags},
      {"the layout", number(distributed.layout) | number(distributed.grid_rows) << 8},
      {"the checkpoint",
       number(!distributed.checkpoint.empty()) | hash_of(distributed.checkpoint_name) << 1},
      {"checkpoint_interval", real(distributed.checkpoint_interval)},
      {"keep_tiles", number(distributed.keep_tiles)},
      {"the instruction set", number(kernels::table().update_at(Rung::bf16).isa)},
  };
}

/// The layout of A, with the number of threads of this rank. Collective.
DistributedLayout layout_for(Agreement& agreement, std::int64_t n, const SolveOptions& options,
                             const DistributedOptions& distributed) {
  DistributedLayout layout;
  agreement.attempt([&] { layout = layout_of(agreement.ranks().size(), n, options, distributed); });
  layout.rank = agreement.ranks().rank();
  layout.threads = factor::ProcessContext(agreement.ranks(), layout.distribution)
                       .threads(options.engine.context);
  return layout;
}

}  // namespace

Certificate solve_distributed(Communicator& ranks, std::int64_t n, const factor::BlockSource& a,
                              MatrixView<const double> b, MatrixView<double> x,
                              const SolveOptions& options, const DistributedOptions& distributed) {
  Agreement agreement(ranks, options.engine.progress);
  agreement.attempt([&] {
    const Checks check("solve_spd over ranks");
    check.distributed(n, options, b, x);
    check_distributed_options(options);
  });
  std::vector<Replicated> replicated = replicated_of(n, b.cols, options, distributed);
  replicated.push_back({"B", hash_of(b)});
  require_same(agreement, replicated);
  DistributedLayout layout = layout_for(agreement, n, options, distributed);
  if (!a.needs_scratch()) layout.source = TileSource::in_place;
  Plan plan;
  agreement.attempt([&] { plan = plan_of_rank(layout, b.cols, options); });
  factor::ProcessContext(ranks, layout.distribution)
      .require_memory(plan.bytes, "solving with a matrix of order " + std::to_string(n));
  SolveOptions agreed_options = options;
  agreed_options.engine.progress = &agreement.agreed();
  std::optional<factor::Checkpointing> checkpoints;
  agreement.attempt([&] {
    if (distributed.checkpoint.empty()) return;
    checkpoints.emplace(factor::ProcessContext(ranks, layout.distribution), distributed.checkpoint,
                        distributed.checkpoint_interval, distributed.checkpoint_name);
  });
  SquareSolver solver(
      std::make_unique<DistributedMatrix>(agreement, options.engine.progress, layout, a,
                                          checkpoints ? &*checkpoints : nullptr),
      agreed_options);
  Certificate c = solver.solve(b, x);
  if (c.threads_reason == kSmallSystem) c.threads_reason = "this rank's part of its machine";
  if (checkpoints && c.ok()) checkpoints->remove();
  ranks.largest({&c.peak_bytes, 1});
  return c;
}

void end_all(const Ranks& ranks, const std::exception& e) {
  const auto* const error = dynamic_cast<const Error*>(&e);
  const bool memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
  std::fprintf(stderr, "stepwell: rank %d of %d: %s; aborting all ranks\n", ranks.rank(),
               ranks.size(), e.what());
  RanksData::of(ranks).abort(static_cast<int>(error != nullptr ? error->code()
                                              : memory         ? ErrorCode::out_of_memory
                                                               : ErrorCode::internal));
}

}  // namespace solvers

Certificate solve_spd(const Ranks& ranks, std::int64_t n, const FillTile& fill,
                      MatrixView<const double> b, MatrixView<double> x, const SolveOptions& options,
                      const DistributedOptions& distributed) {
  return solvers::with_all(ranks, [&] {
    engine::Agreement(RanksData::of(ranks)).attempt([&] {
      if (fill) return;
      throw Error(ErrorCode::invalid_argument,
                  "solve_spd over ranks: there is no function that fills the tiles of A");
    });
    return solvers::solve_distributed(RanksData::of(ranks), n, factor::FilledBlocks(fill), b, x,
                                      options, distributed);
  });
}

Plan plan_spd(const Ranks& ranks, std::int64_t n, std::int64_t columns, const SolveOptions& options,
              const DistributedOptions& distributed) {
  return solvers::with_all(ranks, [&] {
    engine::Agreement agreement(RanksData::of(ranks));
    agreement.attempt([&] {
      solvers::Checks("plan_spd over ranks").plan(n, columns);
      solvers::check_distributed_options(options);
    });
    solvers::require_same(agreement, solvers::replicated_of(n, columns, options, distributed));
    const solvers::DistributedLayout layout =
        solvers::layout_for(agreement, n, options, distributed);
    Plan plan;
    agreement.attempt([&] { plan = solvers::plan_of_rank(layout, columns, options); });
    std::int64_t bytes[] = {plan.bytes, plan.top_bytes};
    RanksData::of(ranks).largest(bytes);
    plan.bytes = bytes[0];
    plan.top_bytes = bytes[1];
    return plan;
  });
}

}  // namespace stepwell
