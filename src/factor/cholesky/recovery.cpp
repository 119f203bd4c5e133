// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/cholesky/recovery.hpp"
#include "core/clock.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/checks.hpp"
#include "core/numeric/checksum.hpp"
#include "factor/scan.hpp"
#include "kernels/kernels.hpp"
#include "stepwell/version.hpp"

namespace stepwell::factor {
namespace {

using tiles::Distribution;
using tiles::Grid;
using tiles::Rounding;
using tiles::RungMap;

/// Shifts c tried after a breakdown: 1/4, doubled up to 4096 or until c u reaches 1/16. With larger
/// shifts the factor would hardly be a better preconditioner than the diagonal, and an indefinite
/// matrix would pass for a definite one.
constexpr double kFirstShift = 0.25;
constexpr double kLastShift = 4096;
constexpr double kLargestShift = 0x1p-4;

/// The rungs that an adaptive map chooses from, from cheap to expensive. bf16x3 and fp32 are
/// equally accurate; on a matrix engine six bf16 products are faster.
std::vector<Rung> adaptive_ladder() {
  const bool engine = kernels::table().update_at(Rung::bf16x3).isa == core::Isa::amx;
  return {Rung::bf16, Rung::bf16x2, engine ? Rung::bf16x3 : Rung::fp32, Rung::fp64};
}

}  // namespace

BreakdownRecovery::BreakdownRecovery(const BlockSource& source, Diagonal diagonal,
                                     std::vector<std::int64_t> order, const Grid& grid,
                                     const FactorOptions& options, ProcessContext process,
                                     Checkpointing* checkpoints)
    : source_(source),
      diagonal_(std::move(diagonal)),
      options_(options),
      grid_(grid),
      process_(process),
      checkpoints_(checkpoints),
      start_(core::Clock::now()) {
  data_->n = grid.n;
  data_->order = std::move(order);
  if (checkpoints_ != nullptr) identity_ = checkpoints_->identity(source_, grid_, diagonal_);
}

Factor BreakdownRecovery::run(OddPowers odd) {
  odd_ = odd;
  report().map = options_.map;
  report().scaling = options_.cholesky.scaling;
  report().tile = grid_.tile;
  if (!diagonal_.finite) {
    report_non_finite();
  } else if (!diagonal_.positive && options_.climb) {
    attempt(fp64_map(), 0, Rounding::nearest);  // it can't succeed, but reports the failing pivot
  } else {
    try_attempts();
  }
  const FactorOutcome outcome = report().outcome;
  if (outcome == FactorOutcome::breakdown || outcome == FactorOutcome::not_positive_definite) {
    report_non_finite();  // a non-finite element explains the failure
  }
  report().times.wall = core::seconds_since(start_);
  return FactorData::make(std::move(data_));
}

/// Makes the attempts, cheapest first.
void BreakdownRecovery::try_attempts() {
  const RungMap map = resolve_map();
  const double u = unit_of(map);
  double shift = options_.cholesky.shift;
  Rounding rounding = Rounding::nearest;
  bool done = attempt(map, shift, rounding);
  if (report().outcome == FactorOutcome::corrupted) done = attempt(map, shift, rounding);
  if (done || !options_.climb) return;
  if (report_non_finite()) return;
  if (has_fp64_accuracy(map.coarsest())) return;
  const bool rounds = info(map.coarsest()).planes > 0 && map.coarsest() != Rung::bf16x3;
  if (rounds) {
    rounding = Rounding::toward_zero;
    if (attempt(map, shift, rounding)) return;
  }
  for (shift = std::max(kFirstShift, 2 * shift); shift <= kLastShift && shift * u <= kLargestShift;
       shift *= 2) {
    if (attempt(map, shift, rounding)) return;
  }
  attempt(fp64_map(), 0, Rounding::nearest);
}

/// The unit of the shifts: the error that the map makes.
double BreakdownRecovery::unit_of(const RungMap& map) const {
  const bool asked = options_.map.adaptive() && !has_fp64_accuracy(map.coarsest());
  return asked ? options_.map.eps : info(map.coarsest()).unit_roundoff;
}

RungMap BreakdownRecovery::resolve_map() {
  if (options_.map == uniform(Rung::fp64) || is_in_residues(options_.map)) return fp64_map();
  if (!options_.map.adaptive()) return RungMap(grid_, options_.map);
  const auto start = core::Clock::now();
  const Scale scale = scale_factors(diagonal_, options_.cholesky.scaling);
  engine::GraphOptions g =
      graph_for(RungMap(grid_, uniform(Rung::fp32)), options_, process_, false);
  g.ranks = nullptr;  // each rank reads its own tiles only
  g.scratch_bytes = tiles::scratch_bytes(grid_.tile) +
                    (source_.needs_scratch() ? 8 * grid_.tile * grid_.tile : 0);
  announce(options_.engine.progress, grid_.count());
  std::vector<double> norms;
  process_.together([&] {
    engine::Graph graph(g);
    norms = tile_norms(graph, source_, grid_, scale, process_.distribution(), process_.rank());
  });
  process_.sum(norms);
  const RungMap map(grid_, options_.map.eps, norms, adaptive_ladder());
  report().times.norms = core::seconds_since(start);
  return map;
}

RungMap BreakdownRecovery::fp64_map() const {
  return choose_fp64_map(grid_, options_, process_.alone() && checkpoints_ == nullptr,
                         [this](const RungMap& map) { return plan(map).bytes; });
}

BreakdownRecovery::AttemptPlan BreakdownRecovery::plan(const RungMap& map) const {
  const Distribution& distribution = process_.distribution();
  const Windows windows = checkpoints_ != nullptr ? Windows::always : Windows::by_memory;
  AttemptPlan p;
  p.graph = graph_for(map, options_, process_, source_.needs_scratch());
  p.schedule = schedule_for(map, distribution, windows, workers_of(p.graph));
  p.bytes = peak_bytes(map, p.graph, distribution, p.schedule, process_.rank());
  return p;
}

bool BreakdownRecovery::attempt(const RungMap& map, double shift, Rounding rounding) {
  const auto start = core::Clock::now();
  FactorReport& r = report();
  const AttemptPlan planned = plan(map);
  r.peak_bytes = planned.bytes;
  data_->l = {};
  process_.require_memory(r.peak_bytes, "a factor of order " + std::to_string(grid_.n));
  process_.together(
      [&] { data_->l = tiles::TileMatrix(map, process_.distribution(), process_.rank()); });
  r.scaling = map.residues() > 0 ? Scaling::powers_of_two : options_.cholesky.scaling;
  data_->scale =
      map.residues() > 0 ? fixed_point_scale(diagonal_, odd_) : scale_factors(diagonal_, r.scaling);
  r.mu = choose_mu(map, diagonal_, data_->scale, options_.theta, shift);
  data_->scale.multiply_gain(r.mu);
  r.unit_roundoff = unit_of(map);

  CholeskyState state;
  state.source = &source_;
  state.scale = &data_->scale;
  state.diagonal_factor = 1 + shift * r.unit_roundoff;
  std::vector<double> diagonal;
  if (map.residues() > 0) {
    diagonal = scaled_diagonal(diagonal_, data_->scale, state.diagonal_factor);
    state.diagonal = diagonal;
  }
  state.rounding = rounding;
  state.l = &data_->l;
  state.rank = process_.rank();
  state.checkpoints = checkpoints_;
  factor(state, planned.schedule, planned.graph);

  const bool cancelled =
      process_.any(options_.engine.progress != nullptr && options_.engine.progress->cancel);
  const bool all_fp64 = has_fp64_accuracy(map.coarsest());
  const WrongSums& wrong = state.results.wrong_sums;
  r.outcome = cancelled                  ? FactorOutcome::cancelled
              : wrong.count > 0          ? FactorOutcome::corrupted
              : state.results.pivot.ok() ? FactorOutcome::ok
              : all_fp64                 ? FactorOutcome::not_positive_definite
                                         : FactorOutcome::breakdown;
  const bool as_asked = map.residues() > 0 && options_.map == uniform(map.at(0, 0));
  r.map = all_fp64 && map.is_uniform() && !as_asked ? uniform(Rung::fp64) : options_.map;
  r.pivot = state.results.pivot.index;
  const std::vector<std::int64_t>& order = data_->order;
  if (r.pivot >= 0 && !order.empty()) r.pivot = order[static_cast<std::size_t>(r.pivot)];
  r.pivot_value = state.results.pivot.value;
  r.tiles = map.counts();
  r.shift = shift;
  r.toward_zero = rounding == Rounding::toward_zero;
  r.bytes = data_->l.bytes();
  if (map.residues() > 0) data_->l.set_restored();
  r.attempts.push_back(
      {r.map, shift, r.toward_zero, r.pivot, r.pivot_value, core::seconds_since(start), wrong});
  if (r.outcome == FactorOutcome::ok) summarize_scans(state);
  return r.outcome != FactorOutcome::breakdown;
}

/// Runs the graph, unless an earlier run saw this attempt fail.
void BreakdownRecovery::factor(CholeskyState& state, const Schedule& schedule,
                               const engine::GraphOptions& options) {
  if (checkpoints_ != nullptr) {
    const auto verdict = checkpoints_->begin(facts(state, schedule), schedule);
    if (verdict) {
      state.results.pivot = *verdict;
      return;
    }
  }
  const RungMap& map = state.l->map();
  announce(options_.engine.progress,
           task_count(map, process_.distribution(), schedule, process_.rank()));
  const std::int64_t sent = process_.bytes_sent();
  engine::Graph graph(options);
  process_.together([&] { left_looking(graph, state, schedule); });
  state.results.pivot = process_.first(state.results.pivot);
  report().sent_bytes += process_.bytes_sent() - sent;
  book(graph.times(), report().times);
  if (checkpoints_ == nullptr) return;
  const CheckpointReport& saved = checkpoints_->report();
  report().resumed_columns = saved.resumed;
  report().checkpoints += saved.written;
  report().checkpoint_seconds += saved.seconds;
  if (!state.results.pivot.ok()) checkpoints_->failed(state.results.pivot);
}

tiles::Facts BreakdownRecovery::facts(const CholeskyState& state, const Schedule& schedule) const {
  const RungMap& map = state.l->map();
  core::Checksum rungs;
  for (std::int64_t j = 0; j < grid_.tiles(); ++j) {
    for (std::int64_t i = j; i < grid_.tiles(); ++i) {
      const Rung rung = map.at(i, j);
      rungs.add(std::as_bytes(std::span(&rung, 1)));
    }
  }
  core::Checksum scale;
  scale.add(std::as_bytes(std::span(state.scale->row)));
  scale.add(std::as_bytes(std::span(state.scale->col)));
  const auto bits = [](double x) { return std::to_string(std::bit_cast<std::uint64_t>(x)); };
  return {{"version", version()},
          {"matrix", identity_},
          {"order", std::to_string(grid_.n)},
          {"tile", std::to_string(grid_.tile)},
          {"layout", process_.distribution().name()},
          {"map", to_string(options_.map)},
          {"window", std::to_string(schedule.window)},
          {"rungs", std::to_string(rungs.value())},
          {"scaling", std::to_string(scale.value())},
          {"shift", bits(state.diagonal_factor)},
          {"rounding", state.rounding == Rounding::toward_zero ? "toward zero" : "nearest"},
          {"kernels", kernels_in_use()}};
}

/// ||A||_F and max |a_ij| of the symmetric matrix from the scans of its lower tiles.
void BreakdownRecovery::summarize_scans(const CholeskyState& state) {
  kernels::Scan lower;
  for (std::int64_t j = 0; j < grid_.tiles(); ++j) {
    for (std::int64_t i = j; i < grid_.tiles(); ++i) {
      if (!process_.owns(i, j)) continue;
      kernels::combine(lower, state.results.scans[static_cast<std::size_t>(grid_.index(i, j))],
                       i * grid_.tile, j * grid_.tile);
    }
  }
  std::array<double, 3> sums = {lower.big, lower.mid, lower.small};
  process_.sum(sums);
  report().max_abs = process_.largest(lower.max_abs);
  lower.big = sums[0];
  lower.mid = sums[1];
  lower.small = sums[2];
  report().norm = symmetric_norm(lower, diagonal_);
}

bool BreakdownRecovery::report_non_finite() {
  ProcessContext::Place found;
  process_.together([&] { found = first_non_finite(source_, grid_, process_); });
  found = process_.first(found);
  if (!found) return false;
  report().outcome = FactorOutcome::non_finite;
  report().row = found->first;
  report().col = found->second;
  if (options_.triangle == Triangle::upper) std::swap(report().row, report().col);
  report().pivot = -1;
  return true;
}

}  // namespace stepwell::factor
