// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/clock.hpp"
#include "core/numeric/roundoff.hpp"
#include "refine/vectors.hpp"
#include "solvers/ladder/cost.hpp"
#include "solvers/ladder/stopping_rule.hpp"
#include "solvers/systems/square_solver.hpp"

/// The steps of a square system's ladder: how a factor is made, and how x is refined with it.
namespace stepwell::solvers {
namespace {

using core::kUnit;

/// The largest growth times unit roundoff, relative to sqrt(n), that a factor below FP64 may have:
/// above it the factor has no correct digits left, and no refiner converges with it.
constexpr double kMostGrowth = 1;

/// Iterations without a factor before the first prediction of their number: a matrix with two
/// different eigenvalues needs two.
constexpr std::size_t kPatience = 2;

/// If x is larger than this share of 1 / (sqrt(n) u) times b, A is singular to working accuracy,
/// and may be singular exactly.
constexpr double kNearSingular = 0x1p-4;

/// Why a factor is not worth refining with; empty if it is.
std::string flaw_of(const FactorReport& report, std::int64_t n) {
  if (report.map == uniform(Rung::fp64)) return "";
  const double most = kMostGrowth * std::sqrt(static_cast<double>(n));
  if (report.growth * report.unit_roundoff <= most) return "";
  char growth[32];
  std::snprintf(growth, sizeof growth, "%.1e", report.growth);
  return std::string("the growth factor is ") + growth;
}

}  // namespace

System SquareSolver::factor_steps() {
  System system;
  system.factorize = [this](const Step& step, Certificate& c, std::string& reason) {
    return factorize_step(step, c, reason);
  };
  system.next = [this](Certificate&) { return next_step(); };
  return system;
}

System SquareSolver::system_for(Batch& batch) {
  System system = factor_steps();
  system.refine = [this, &batch](const Step& step, double alternative, Certificate& c) {
    if (step.kind == StepKind::unpreconditioned) return refine_unpreconditioned(batch, c);
    if (step.restart) return refine_from_zero(batch, step, alternative, c);
    return refine_with_factor(batch, step, alternative, c);
  };
  system.cost = [this, &batch](const Step& step) {
    if (options_.refine.iterations > 0) return HUGE_VAL;
    return rung_seconds(step.map.layers[0], cost_order_, batch.count, a_->structure());
  };
  return system;
}

Factored SquareSolver::factorize_step(const Step& step, Certificate& c, std::string& reason) {
  const auto columns = std::max<std::int64_t>(1, static_cast<std::int64_t>(c.columns.size()));
  const RefinementBytes bytes = a_->bytes(columns, refiner_);
  const auto report = [&](const MadeFactor& of) {
    c.factor = of.report;
    c.method.factorization = general() ? Factorization::lu : Factorization::cholesky;
    c.method.map = of.report.map;
    c.shift = of.report.shift;
    const std::int64_t refining =
        bytes.vectors + bytes.products + (wants_copy(of.report.map) ? bytes.copy : 0);
    c.peak_bytes = std::max(c.peak_bytes, refining + of.report.bytes);
  };
  if (made_) {
    report(*made_);
  } else {
    side().product.release();  // a factorization may need all the memory there is
    other_side().product.release();
    a_->pool().release();  // it has its own workers
    const auto start = core::Clock::now();
    const MadeFactor made = a_->factorize(step, *analysis_, options_);
    c.times.factor += core::seconds_since(start);
    report(made);
    c.peak_bytes = std::max(c.peak_bytes, bytes.vectors + c.factor.peak_bytes);
    if (step.kind == StepKind::lapack) zero_pivot_ = made.report.pivot;
    switch (c.factor.outcome) {
      case FactorOutcome::ok:
        reason = ladder_.has_next() ? flaw_of(c.factor, order()) : "";
        if (!reason.empty()) return Factored::breakdown;
        made_ = made;
        break;
      case FactorOutcome::cancelled:
        c.outcome = SolveOutcome::cancelled;
        return Factored::failed;
      case FactorOutcome::non_finite:
        c.outcome = SolveOutcome::non_finite;
        c.row = c.factor.row;
        c.col = c.factor.col;
        return Factored::failed;
      case FactorOutcome::corrupted: {
        const WrongSums& wrong = c.factor.attempts.back().wrong_sums;
        reason = "sums of tile (" + std::to_string(wrong.row) + ", " +
                 std::to_string(wrong.column) + ") were wrong on worker " +
                 std::to_string(wrong.worker);
        return Factored::breakdown;
      }
      case FactorOutcome::not_positive_definite:
      case FactorOutcome::singular:
      case FactorOutcome::breakdown: {
        const char* const how = general() && c.factor.pivot_value == 0 ? " is zero" : " failed";
        reason = c.factor.pivot < 0 ? "a value overflowed in the factor"
                                    : "pivot " + std::to_string(c.factor.pivot) + how;
        if (c.factor.outcome != FactorOutcome::not_positive_definite) return Factored::breakdown;
        c.outcome = SolveOutcome::not_positive_definite;
        return Factored::failed;
      }
    }
  }
  Side& of = side();
  if (!of.preconditioner) of.preconditioner = a_->precondition(*analysis_, of.transposed);
  return Factored::ok;
}

void SquareSolver::forget_factor() {
  for (std::optional<Side>& side : side_) {
    if (side) side->preconditioner.reset();
  }
  made_.reset();
}

std::size_t SquareSolver::next_step() {
  forget_factor();
  if (may_be_singular_ && lapack_is_above()) return ladder_.steps.size() - 1;
  return ladder_.current + 1;
}

/// LAPACK's factor is the last step where it is not the first.
bool SquareSolver::lapack_is_above() const {
  return ladder_.has_next() && ladder_.steps.back().kind == StepKind::lapack;
}

refine::Request SquareSolver::request_for(const Batch& batch) {
  refine::Request q;
  const Side& of = side();
  q.error_of = [this, &of, &batch](std::int64_t k, const double* r, const double* x,
                                   const double* d) {
    return backward_error(of.norm, sizes_of(of.exponents, batch.b.data() + k * order(), x, r, d));
  };
  q.refiner = refiner_;
  q.norm = of.scaled_norm;
  q.fp32 = options_.refine.working == Format::fp32;
  // A system is done at kDone times the goal.
  q.goal = std::min(q.fp32 ? 0x1p-24 : kUnit, tolerance() / 2);
  if (batch.direct) q.goal = tolerance() / 4;
  q.sums = sums();
  if (options_.refine.iterations > 0) q.iterations = options_.refine.iterations;
  return q;
}

LadderStep SquareSolver::refine_with_factor(Batch& batch, const Step& step, double alternative,
                                            Certificate& c) {
  const auto start = core::Clock::now();
  const Rung rung = made_->coarsest;
  const bool exact = rung == Rung::fp64 && refiner_ == default_refiner(a_->structure());
  refine::Request q = request_for(batch);
  if ((exact && !step.last_resort) || batch.direct) q.refiner = Refiner::ir;
  const auto columns = static_cast<std::int64_t>(c.columns.size());
  q.copy = a_->bytes(columns, q.refiner).copy > 0 && wants_copy(made_->report.map) && !q.fp32 &&
           q.sums == refine::Sums::fp64;
  if (!q.copy && side().product.has_copy()) side().product.release();  // an earlier solve's
  StoppingRule stopping_rule(iteration_seconds(rung, cost_order_, batch.count, a_->structure()),
                             alternative, q.goal, options_.engine.progress);
  q.go_on = [&](int k, double error) { return stopping_rule(k, error); };
  const refine::Outcome outcome = refine_and_measure(*side().preconditioner, q, batch, c);
  const std::string reason =
      all_met(batch) ? doubt_about(batch)
                     : reason_of(outcome, batch.measured, tolerance(), alternative < HUGE_VAL);
  c.method.refiner = q.refiner;
  const double seconds = core::seconds_since(start);
  c.times.refine += seconds;
  return {c.method, true, most_iterations(outcome), worst_of(batch.measured), reason, seconds};
}

/// Tries one column first: if it takes too long, the others would, too.
LadderStep SquareSolver::refine_unpreconditioned(Batch& batch, Certificate& c) {
  if (batch.count > 1) {
    Batch first = part_of(batch, {0});
    const LadderStep tried = refine_unpreconditioned(first, c);
    if (!tried.reason.empty()) return tried;
  }
  const auto start = core::Clock::now();
  refine::DiagonalPreconditioner diagonal(analysis_->inverse_diagonal);
  refine::Request q = request_for(batch);
  // It may spend a quarter of what the cheapest factor costs.
  const Structure structure = a_->structure();
  StoppingRule stopping_rule(
      iteration_seconds(std::nullopt, cost_order_, batch.count, structure),
      rung_seconds(ladder_rungs()[0], cost_order_, batch.count, structure) / 4, q.goal,
      options_.engine.progress, kPatience);
  q.drop_if_stopped = true;
  q.go_on = [&](int k, double error) { return stopping_rule(k, error); };
  const refine::Outcome outcome = refine_and_measure(diagonal, q, batch, c);
  LadderStep tried{{Factorization::none, {}, q.refiner},
                   true,
                   most_iterations(outcome),
                   worst_of(batch.measured),
                   "",
                   core::seconds_since(start)};
  c.times.refine += tried.seconds;
  if (all_met(batch)) {
    c.method = tried.method;
    return tried;
  }
  tried.reason = reason_of(outcome, batch.measured, tolerance(), options_.refine.iterations == 0);
  tried.error = last_error(outcome);  // x was dropped
  std::fill(batch.y.begin(), batch.y.end(), 0.0);
  return tried;
}

/// Refines from zero, and goes back to the x before in the columns where that was better.
LadderStep SquareSolver::refine_from_zero(Batch& batch, const Step& step, double alternative,
                                          Certificate& c) {
  const std::int64_t n = order();
  core::Buffer<double> y(n * batch.count), r(n * batch.count);
  std::swap(batch.y, y);
  std::copy(batch.r.begin(), batch.r.end(), r.begin());
  const std::vector<Measured> before = batch.measured;
  LadderStep tried = refine_with_factor(batch, step, alternative, c);
  if (tried.reason.empty()) return tried;
  const bool doubtful = all_met(batch);
  for (std::int64_t k = 0; k < batch.count; ++k) {
    const auto e = static_cast<std::size_t>(k);
    if (batch.measured[e].error <= before[e].error) continue;
    std::copy_n(y.data() + k * n, n, batch.y.data() + k * n);
    std::copy_n(r.data() + k * n, n, batch.r.data() + k * n);
    batch.measured[e] = before[e];
  }
  if (!doubtful && all_met(batch)) tried.reason.clear();
  return tried;
}

/// Why a solution that meets the tolerance is not to be trusted; empty if it is. In the scale of H,
/// where the size of x says something about the matrix.
std::string SquareSolver::doubt_about(const Batch& batch) {
  const bool lapack_above = lapack_is_above();
  if (!lapack_above && zero_pivot_ < 0) return "";
  const std::int64_t n = order();
  const double most = kNearSingular / (std::sqrt(static_cast<double>(n)) * kUnit);
  for (std::int64_t k = 0; k < batch.count; ++k) {
    const double b = refine::norm2(n, batch.b.data() + k * n);
    const double y = refine::norm2(n, batch.y.data() + k * n);
    const bool fits =
        batch.column[static_cast<std::size_t>(k)].fits(side().exponents, batch.y.data() + k * n);
    if (side().scaled_norm * y <= most * b && fits) continue;
    if (!lapack_above && !fits) continue;  // the outcome is 'overflow'
    may_be_singular_ = true;
    if (!fits) return "x overflows; with LAPACK's factor it may not";
    return zero_pivot_ < 0 ? "A may be singular; LAPACK's factor decides"
                           : "A is singular to working accuracy, and LAPACK finds a zero pivot";
  }
  return "";
}

}  // namespace stepwell::solvers
