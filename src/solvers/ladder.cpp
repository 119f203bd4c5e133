// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/clock.hpp"
#include "solvers/cost.hpp"
#include "solvers/solver.hpp"
#include "solvers/stopping_rule.hpp"

/// The ladder: no factor at all, then the rungs from cheap to dear, FP64 at the top. A rung is left
/// when its factor breaks down, when refinement with it ends without meeting the tolerance, and as
/// soon as finishing there would cost more than the next rung does.
namespace stepwell::solvers {
namespace {

using core::Clock;
using core::seconds_since;

constexpr double kUnit = 0x1p-53;

}  // namespace

bool Solver::cancelled() const {
  return options_.progress != nullptr && options_.progress->cancel;
}

refine::Request Solver::request_for(const Batch& batch) {
  refine::Request q;
  const Side& of = side();
  q.error_of = [this, &of, &batch](std::int64_t k, const double* r, const double* x,
                                   const double* d) {
    return backward_error(of.norm, sizes_of(of.exponents, batch.b.data() + k * order(), x, r, d));
  };
  q.refiner = refiner_;
  q.norm = of.scaled_norm;
  q.fp32 = options_.working == Format::fp32;
  // A system is done at kDone times the goal.
  q.goal = std::min(q.fp32 ? 0x1p-24 : kUnit, tolerance() / 2);
  q.sums = sums();
  if (options_.iterations > 0) q.iterations = options_.iterations;
  return q;
}

void list_rung(Certificate& c, LadderStep attempt) {
  if (!c.rungs.empty() && c.rungs.back().reason.empty() && c.rungs.back().map == attempt.map &&
      c.rungs.back().refiner == attempt.refiner) {
    const LadderStep& before = c.rungs.back();
    attempt.iterations = std::max(attempt.iterations, before.iterations);
    if (!(before.error <= attempt.error)) attempt.error = before.error;
    attempt.seconds += before.seconds;
    c.rungs.pop_back();
  }
  c.rungs.push_back(std::move(attempt));
}

double worst_of(const std::vector<double>& error) {
  double worst = 0;
  for (const double e : error) {
    if (!(e <= worst)) worst = e;
  }
  return worst;
}

double Solver::iteration_price(std::optional<Rung> rung, std::int64_t columns) const {
  return iteration_seconds(rung, priced_, columns, structure_);
}

double Solver::rung_price(Rung rung, std::int64_t columns) const {
  return factor_seconds(rung, priced_, structure_) +
         expected_iterations(rung) * iteration_price(rung, columns);
}

Refiner Solver::refiner_for(Rung coarsest) const {
  const bool exact = coarsest == Rung::fp64 && refiner_ == default_refiner(structure_);
  return exact ? Refiner::ir : refiner_;
}

bool Solver::next_rung() {
  if (!may_climb()) return false;
  rung_ = rung_above();
  forget_factor();
  return true;
}

void Solver::forget_factor() {
  side().preconditioner.reset();
  other_side().preconditioner.reset();
  made_.reset();
  drop_factor();
}

/// The factor at the current rung, or at the first above that can be made. False: there is none,
/// and the certificate says why.
bool Solver::ensure_factor(Certificate& c) {
  const auto columns = std::max<std::int64_t>(1, static_cast<std::int64_t>(c.columns.size()));
  const std::int64_t held = held_bytes(columns);
  const std::int64_t beside = held + product_bytes(columns);
  const auto take = [&](const FactorReport& report) {
    c.factor = report;
    c.map = report.map;
    c.shift = report.shift;
    c.peak_bytes = std::max(c.peak_bytes, beside + report.bytes);
  };
  if (made_) take(made_->report);
  while (!made_) {
    const auto start = Clock::now();
    side().product.release();  // a factorization needs all the memory there is
    other_side().product.release();
    pool_.release();  // others work on it
    Made made = make_factor();
    take(made.report);
    c.peak_bytes = std::max(c.peak_bytes, held + c.factor.peak_bytes);
    c.times.factor += seconds_since(start);
    const auto leave = [&](const std::string& reason) {
      c.rungs.push_back({c.factor.map, "", false, 0, 1, reason, seconds_since(start)});
    };
    bool proven = false;
    switch (c.factor.outcome) {
      case FactorOutcome::ok: {
        const std::string flaw = may_climb() ? flaw_of(c.factor) : "";
        if (!flaw.empty()) {
          leave(flaw);
          next_rung();
          continue;
        }
        made_ = std::move(made);
        break;
      }
      case FactorOutcome::cancelled:
        c.outcome = SolveOutcome::cancelled;
        return false;
      case FactorOutcome::non_finite:
        c.outcome = SolveOutcome::non_finite;
        c.row = c.factor.row;
        c.col = c.factor.col;
        return false;
      case FactorOutcome::not_positive_definite:
        proven = true;
        [[fallthrough]];
      case FactorOutcome::singular:
      case FactorOutcome::breakdown:
        leave(c.factor.pivot < 0 ? "a number overflowed in the factor"
                                 : "pivot " + std::to_string(c.factor.pivot) + " failed");
        if (!proven && next_rung()) continue;
        c.outcome = proven ? SolveOutcome::not_positive_definite : SolveOutcome::not_converged;
        c.pivot = c.factor.pivot;
        c.pivot_value = c.factor.pivot_value;
        conclude(c);
        return false;
    }
  }
  Side& of = side();
  if (!of.preconditioner) of.preconditioner = precondition(of);
  return true;
}

bool Solver::refine_with_factor(Batch& batch, Certificate& c) {
  const auto start = Clock::now();
  const Rung rung = made_->coarsest;
  refine::Request q = request_for(batch);
  q.refiner = refiner_for(rung);
  double alternative = HUGE_VAL;
  if (may_climb() && options_.iterations == 0) {
    alternative = rung_price(maps_[rung_ + 1].layers[0], batch.count);
  }
  StoppingRule stopping_rule(iteration_price(rung, batch.count), alternative, q.goal,
                             options_.progress);
  q.go_on = [&](int k, double error) { return stopping_rule(k, error); };
  Side& of = side();
  const refine::Outcome outcome = refine_and_settle(*of.preconditioner, q, batch, c);
  const bool all = all_met(batch);
  const std::string reason =
      all ? doubt_about(batch)
          : reason_of(outcome, batch.measured, tolerance(), alternative < HUGE_VAL);
  c.refiner = to_string(q.refiner);
  c.iterations = std::max(c.iterations, most_iterations(outcome));
  list_rung(c, {c.factor.map, c.refiner, true, most_iterations(outcome), worst_of(batch.measured),
                reason, seconds_since(start)});
  c.times.refine += seconds_since(start);
  return all && reason.empty();
}

bool Solver::refine_unpreconditioned(std::vector<double> inverse_diagonal, Batch& batch,
                                     Certificate& c) {
  const auto start = Clock::now();
  refine::DiagonalPreconditioner diagonal(std::move(inverse_diagonal));
  refine::Request q = request_for(batch);
  // A quarter of what the first rung costs may go into it.
  StoppingRule stopping_rule(iteration_price(std::nullopt, batch.count),
                             rung_price(ladder()[0], batch.count) / 4, q.goal, options_.progress);
  q.go_on = [&](int k, double error) { return stopping_rule(k, error); };
  const refine::Outcome outcome = refine_and_settle(diagonal, q, batch, c);
  const bool all = all_met(batch);
  list_rung(c,
            {"none", std::string(to_string(q.refiner)), true, most_iterations(outcome),
             worst_of(batch.measured),
             all ? "" : reason_of(outcome, batch.measured, tolerance(), options_.iterations == 0),
             seconds_since(start)});
  c.times.refine += seconds_since(start);
  if (!all) std::fill(batch.y.begin(), batch.y.end(), 0.0);
  return all;
}

/// From zero, and back to what there was for columns where that was better.
bool Solver::refine_afresh(Batch& batch, Certificate& c) {
  const std::int64_t n = order();
  core::Buffer<double> y(n * batch.count), r(n * batch.count);
  std::swap(batch.y, y);
  std::copy(batch.r.begin(), batch.r.end(), r.begin());
  const std::vector<Measured> before = batch.measured;
  if (refine_with_factor(batch, c)) return true;
  const bool met = all_met(batch);  // and there is a doubt
  for (std::int64_t k = 0; k < batch.count; ++k) {
    const auto e = static_cast<std::size_t>(k);
    if (batch.measured[e].error <= before[e].error) continue;
    std::copy_n(y.data() + k * n, n, batch.y.data() + k * n);
    std::copy_n(r.data() + k * n, n, batch.r.data() + k * n);
    batch.measured[e] = before[e];
  }
  const bool all = !met && all_met(batch);
  if (all) c.rungs.back().reason.clear();
  return all;
}

/// True when every column of the batch meets the tolerance.
bool Solver::climb(Batch& batch, Certificate& c) {
  if (!made_ && without_factor(batch, c)) {
    c.map = "none";
    c.refiner = c.rungs.back().refiner;
    c.iterations = std::max(c.iterations, c.rungs.back().iterations);
    return true;
  }
  do {
    if (cancelled()) break;
    if (!ensure_factor(c)) return false;
    c.iterations = 0;
    if (starts_afresh() ? refine_afresh(batch, c) : refine_with_factor(batch, c)) return true;
  } while (!cancelled() && next_rung());
  c.outcome = cancelled() ? SolveOutcome::cancelled : SolveOutcome::not_converged;
  conclude(c);
  return false;
}

}  // namespace stepwell::solvers
