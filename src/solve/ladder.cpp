// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "factor/factor_data.hpp"
#include "solve/cost.hpp"
#include "solve/spd.hpp"
#include "solve/watch.hpp"

/// The ladder: no factor at all, then the rungs from cheap to dear, FP64 at the top. A rung is left
/// when its factor breaks down, when refinement with it ends without meeting the tolerance, and as
/// soon as finishing there would cost more than the next rung does.
namespace stepwell::solve {
namespace {

using factor::Clock;
using factor::seconds_since;

constexpr double kUnit = 0x1p-53;

}  // namespace

bool Spd::cancelled() const {
  return options_.progress != nullptr && options_.progress->cancel;
}

refine::Request Spd::request_for(const Batch& batch) const {
  refine::Request q;
  q.error_of = [this, &batch](std::int64_t k, const double* r, const double* x, const double* d) {
    return backward_error(survey_.norm_inf,
                          sizes_of(exponents_, batch.b.data() + k * order(), x, r, d));
  };
  q.refiner = options_.refiner;
  q.norm = norm_;
  q.fp32 = options_.working == Format::fp32;
  // A system is done at kDone times the goal.
  q.goal = std::min(q.fp32 ? 0x1p-24 : kUnit, tolerance() / 2);
  q.sums = sums();
  if (options_.iterations > 0) q.iterations = options_.iterations;
  return q;
}

/// The true errors in the caller's norm. True when all meet the tolerance.
bool Spd::assess(const refine::Outcome& outcome, Batch& batch, Certificate& c) const {
  const std::int64_t n = order();
  bool all = true;
  for (std::int64_t k = 0; k < batch.count; ++k) {
    const auto s = static_cast<std::size_t>(k);
    const double* const y = batch.y.data() + k * n;
    const Sizes sizes = sizes_of(exponents_, batch.b.data() + k * n, y, batch.r.data() + k * n);
    const refine::System& system = outcome.system[s];
    const bool untouched = system.b_norm > 0 && system.x_norm == 0;
    batch.error[s] = untouched ? 1 : backward_error(survey_.norm_inf, sizes);
    if (!(batch.error[s] <= tolerance())) all = false;
    ColumnCertificate& column = c.columns[static_cast<std::size_t>(batch.first + k)];
    column.iterations = system.iterations;
    column.history.insert(column.history.end(), system.history.begin(), system.history.end());
  }
  return all;
}

namespace {

/// Lists a rung; the next batch of columns at the same one is no other rung.
void list_rung(Certificate& c, RungAttempt attempt) {
  if (!c.rungs.empty() && c.rungs.back().reason.empty() && c.rungs.back().map == attempt.map &&
      c.rungs.back().refiner == attempt.refiner) {
    const RungAttempt& before = c.rungs.back();
    attempt.iterations = std::max(attempt.iterations, before.iterations);
    if (!(before.error <= attempt.error)) attempt.error = before.error;
    attempt.seconds += before.seconds;
    c.rungs.pop_back();
  }
  c.rungs.push_back(std::move(attempt));
}

/// The largest; a NaN is the worst of all.
double worst_of(const std::vector<double>& error) {
  double worst = 0;
  for (const double e : error) {
    if (!(e <= worst)) worst = e;
  }
  return worst;
}

}  // namespace

/// The bottom: CG with the diagonal, or with A as it is where scaling would smear the clusters.
bool Spd::without_factor(Batch& batch, Certificate& c) {
  const auto start = Clock::now();
  const std::int64_t n = order();
  std::vector<double> inverse(static_cast<std::size_t>(n));
  const bool plain = few_eigenvalues_carry_it();
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    const double h = scale_.row[i] * diagonal_.value[i] * scale_.col[i];
    const double identity = scale_.row[i] * (scale_.row[i] * scale_.gain);
    inverse[i] = 1 / (plain ? identity : h);
  }
  refine::DiagonalPreconditioner diagonal(std::move(inverse));
  refine::Request q = request_for(batch);
  const Rung first = ladder()[0];
  const double factored =
      factor_seconds(first, priced_) +
      expected_iterations(first) * iteration_seconds(first, priced_, batch.count);
  // It is a gamble: a quarter of what the first rung costs may go into it.
  Watch watch(iteration_seconds(std::nullopt, priced_, batch.count), factored / 4, q.goal,
              options_.progress);
  q.go_on = [&](int k, double error) { return watch(k, error); };
  const refine::Outcome outcome = refine::refine(operator_, diagonal, batch.view_of(batch.b),
                                                 batch.view_of(batch.y), batch.view_of(batch.r), q);
  const bool all = assess(outcome, batch, c);
  list_rung(c, {"none", std::string(to_string(q.refiner)), true, most_iterations(outcome),
                worst_of(batch.error),
                all ? "" : reason_of(outcome, batch.error, tolerance(), options_.iterations == 0),
                seconds_since(start)});
  c.times.refine += seconds_since(start);
  if (!all) std::fill(batch.y.begin(), batch.y.end(), 0.0);
  return all;
}

bool Spd::next_rung() {
  if (!options_.climb || rung_ + 1 >= maps_.size()) return false;
  ++rung_;
  preconditioner_.reset();
  factor_.reset();
  return true;
}

/// The factor at the current rung, or at the first above that can be made. False: there is none,
/// and the certificate says why.
bool Spd::ensure_factor(Certificate& c) {
  const auto columns = std::max<std::int64_t>(1, static_cast<std::int64_t>(c.columns.size()));
  const std::int64_t beside = refinement_bytes(order(), columns, options_.refiner);
  const std::int64_t vectors = vector_bytes(order(), columns, options_.refiner);
  if (factor_) {
    c.factor = factor_->report();
    c.map = c.factor.map;
    c.shift = c.factor.shift;
    c.peak_bytes = std::max(c.peak_bytes, beside + c.factor.bytes);
  }
  while (!factor_) {
    const auto start = Clock::now();
    const bool top = rung_ + 1 == maps_.size();
    FactorOptions f;
    f.map = maps_[rung_];
    f.tile = options_.tile;
    f.scaling = options_.scaling;
    f.theta = options_.theta;
    f.shift = rung_ == start_ ? options_.shift : 0;
    // Shifts are for a map that was asked for; on the way up the next rung is cheaper than a weak
    // factor's iterations.
    f.escalate = options_.map.has_value() && rung_ == 0;
    f.spread = f.map.graded() && sorted_;
    f.context = options_.context;
    f.progress = options_.progress;
    product_.release();  // a factorization needs all the memory there is
    Factor factor = cholesky(a_, f);
    c.factor = factor.report();
    c.map = c.factor.map;
    c.shift = c.factor.shift;
    c.peak_bytes = std::max({c.peak_bytes, vectors + c.factor.peak_bytes, beside + c.factor.bytes});
    c.times.factor += seconds_since(start);
    switch (c.factor.outcome) {
      case FactorOutcome::ok:
        factor_ = std::move(factor);
        preconditioner_ = std::make_unique<refine::FactorPreconditioner>(team_, factor_->data(),
                                                                         scale_.row, scale_.col);
        return true;
      case FactorOutcome::cancelled:
        c.outcome = SolveOutcome::cancelled;
        return false;
      case FactorOutcome::non_finite:
        c.outcome = SolveOutcome::non_finite;
        c.row = c.factor.row;
        c.col = c.factor.col;
        return false;
      case FactorOutcome::singular:  // not of Cholesky
      case FactorOutcome::breakdown:
      case FactorOutcome::not_positive_definite:
        break;
    }
    c.rungs.push_back({c.factor.map, "", false, 0, 1,
                       "pivot " + std::to_string(c.factor.pivot) + " failed",
                       seconds_since(start)});
    if (c.factor.outcome == FactorOutcome::not_positive_definite || top || !next_rung()) {
      const bool proven = c.factor.outcome == FactorOutcome::not_positive_definite;
      c.outcome = proven ? SolveOutcome::not_positive_definite : SolveOutcome::not_converged;
      c.pivot = c.factor.pivot;
      c.pivot_value = c.factor.pivot_value;
      return false;
    }
  }
  return true;
}

bool Spd::refine_with_factor(Batch& batch, Certificate& c) {
  const auto start = Clock::now();
  const Rung rung = factor_->data().l.map().coarsest();
  refine::Request q = request_for(batch);
  if (rung == Rung::fp64 && options_.refiner == Refiner::cg) q.refiner = Refiner::ir;
  double alternative = HUGE_VAL;
  if (options_.climb && options_.iterations == 0 && rung_ + 1 < maps_.size()) {
    const Rung next = maps_[rung_ + 1].layers[0];
    alternative = factor_seconds(next, priced_) +
                  expected_iterations(next) * iteration_seconds(next, priced_, batch.count);
  }
  Watch watch(iteration_seconds(rung, priced_, batch.count), alternative, q.goal,
              options_.progress);
  q.go_on = [&](int k, double error) { return watch(k, error); };
  const refine::Outcome outcome =
      refine::refine(operator_, *preconditioner_, batch.view_of(batch.b), batch.view_of(batch.y),
                     batch.view_of(batch.r), q);
  const bool all = assess(outcome, batch, c);
  c.refiner = to_string(q.refiner);
  c.iterations = std::max(c.iterations, most_iterations(outcome));
  list_rung(c, {c.factor.map, c.refiner, true, most_iterations(outcome), worst_of(batch.error),
                all ? "" : reason_of(outcome, batch.error, tolerance(), alternative < HUGE_VAL),
                seconds_since(start)});
  c.times.refine += seconds_since(start);
  return all;
}

/// True when every column of the batch meets the tolerance.
bool Spd::climb(Batch& batch, Certificate& c) {
  if (worth_trying_without_factor() && without_factor(batch, c)) {
    c.map = "none";
    c.refiner = to_string(Refiner::cg);
    c.iterations = std::max(c.iterations, c.rungs.back().iterations);
    return true;
  }
  do {
    if (cancelled()) break;
    if (!ensure_factor(c)) return false;
    c.iterations = 0;
    if (refine_with_factor(batch, c)) return true;
  } while (!cancelled() && next_rung());
  c.outcome = cancelled() ? SolveOutcome::cancelled : SolveOutcome::not_converged;
  return false;
}

}  // namespace stepwell::solve
