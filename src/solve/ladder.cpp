// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "factor/factor_data.hpp"
#include "refine/vectors.hpp"
#include "solve/cost.hpp"
#include "solve/spd.hpp"

/// The ladder: no factor at all, then the rungs from cheap to dear, FP64 at the top. A rung is left
/// when its factor breaks down, when refinement with it ends without meeting the tolerance, and as
/// soon as finishing there would cost more than the next rung does.
namespace stepwell::solve {
namespace {

using factor::Clock;
using factor::seconds_since;
using refine::Status;

constexpr double kUnit = 0x1p-53;

/// Eigenvalues within this of their mean (standard deviation by mean): CG gains a digit in every
/// product or two, and no factor is as cheap.
constexpr double kNarrowSpectrum = 0.3;
/// Below this flatness a few eigenvalues carry the matrix: there may be only a few different ones,
/// which CG finds out within as many products.
constexpr double kClusters = 0.125;
/// Below this flatness bf16 breaks down or needs a hundred iterations as a rule (log-uniform
/// spectra from a condition number of 3e3 on: 2 / ln kappa), and its factor is time lost.
constexpr double kTooSteepForBf16 = 0.25;

/// Neighbours in A that are this much larger than other elements on average: sorted points.
constexpr double kSorted = 1.25;

/// 'watched': it was stopped as soon as the next rung was cheaper.
std::string name_of(Status status, bool watched) {
  switch (status) {
    case Status::indefinite:
      return "the preconditioned matrix is not positive definite";
    case Status::non_finite:
      return "a number overflowed";
    case Status::stopped:
      return watched ? "it would have taken longer than the next rung"
                     : "the limit of iterations was reached";
    default:
      return "refinement stagnated";
  }
}

/// Whether to go on with a refinement: not when the rest, at the pace of the last iterations, takes
/// longer than 'alternative' seconds.
class Watch {
 public:
  Watch(double iteration, double alternative, double goal, const Progress* progress)
      : iteration_(iteration), alternative_(alternative), goal_(goal), progress_(progress) {}

  bool operator()(int, double error) {
    if (progress_ != nullptr && progress_->cancel) return false;
    errors_.push_back(error);
    return remaining() * iteration_ <= alternative_;
  }

 private:
  /// CG has plateaus: the pace is that of the last ten iterations, and the first few prove nothing.
  static constexpr std::size_t kWindow = 10;
  static constexpr std::size_t kPatience = 4;

  double remaining() const {
    const std::size_t done = errors_.size();
    if (done < kPatience) return 0;
    const double before = done > kWindow ? errors_[done - 1 - kWindow] : 1;
    const auto span = static_cast<double>(std::min(done, kWindow));
    const double pace = std::log(before / errors_.back()) / span;
    const double left = std::log(errors_.back() / goal_);
    return pace > 0 ? left / pace : HUGE_VAL;
  }

  double iteration_, alternative_, goal_;
  const Progress* progress_;
  std::vector<double> errors_;
};

}  // namespace

bool Spd::cancelled() const {
  return options_.progress != nullptr && options_.progress->cancel;
}

PrecisionMap Spd::current_map() const {
  return maps_[rung_];
}

/// One pass over A: what it holds, and by a product with random signs its Frobenius norm in the
/// scale of H (E ||H w||^2 = ||H||_F^2).
void Spd::look(Certificate& c) {
  if (looked_) return;
  const auto start = Clock::now();
  const std::int64_t n = order();
  core::Buffer<double> signs(n), product(n);
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  for (std::int64_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    signs[i] = (state >> 63) != 0 ? scale_.col[static_cast<std::size_t>(i)]
                                  : -scale_.col[static_cast<std::size_t>(i)];
  }
  product_.apply(view<const double>(signs.data(), n, 1), view(product.data(), n, 1), &survey_,
                 options_.check_symmetry);
  double trace = 0;
  double squares = 0;
  double largest = 0;
  double neighbours = 0;
  double others = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double d = scale_.row[k] * diagonal_.value[k] * scale_.col[k];
    trace += d;
    largest = std::max(largest, d);
    const double h = scale_.row[k] * product[i];
    squares += h * h;
    if (i == 0) continue;
    const auto size = [&](std::int64_t j) {
      return std::abs(scale_.row[k] * a_(i, j) * scale_.col[static_cast<std::size_t>(j)]);
    };
    state = state * 6364136223846793005U + 1442695040888963407U;
    neighbours += size(i - 1);
    others += size(static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(i)));
  }
  norm_ = std::max(largest, std::sqrt(squares / static_cast<double>(n)));
  sorted_ = neighbours > kSorted * others;
  flatness_ = trace * trace / (static_cast<double>(n) * squares);
  if (!std::isfinite(survey_.norm_inf)) survey_.norm_inf = survey_.scan.max_abs;
  looked_ = true;
  choose_rung();
  c.times.survey += seconds_since(start);
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
  // A system is done at twice the goal.
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

int most_iterations(const refine::Outcome& outcome) {
  int most = 0;
  for (const refine::System& s : outcome.system) most = std::max(most, s.iterations);
  return most;
}

/// Why the first column that failed did.
std::string reason_of(const refine::Outcome& outcome, const std::vector<double>& error,
                      double tolerance, bool watched) {
  for (std::size_t s = 0; s < error.size(); ++s) {
    if (!(error[s] <= tolerance)) return name_of(outcome.system[s].status, watched);
  }
  return "";
}

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

bool Spd::worth_trying_without_factor() const {
  if (factor_ || options_.map || maps_.size() == 1 || options_.refiner != Refiner::cg) return false;
  const double spread = std::sqrt(std::max(0.0, 1 / flatness_ - 1));
  return spread < kNarrowSpectrum || flatness_ < kClusters;
}

/// The bottom: CG with the diagonal, or with A as it is where scaling would smear the clusters.
bool Spd::without_factor(Batch& batch, Certificate& c) {
  const auto start = Clock::now();
  const std::int64_t n = order();
  std::vector<double> inverse(static_cast<std::size_t>(n));
  const bool plain = flatness_ < kClusters;
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    const double h = scale_.row[i] * diagonal_.value[i] * scale_.col[i];
    const double identity = scale_.row[i] * (scale_.row[i] * scale_.gain);
    inverse[i] = 1 / (plain ? identity : h);
  }
  refine::DiagonalPreconditioner diagonal({std::move(inverse)});
  refine::Request q = request_for(batch);
  const Rung first = ladder()[0];
  const double factored = factor_seconds(first, n) +
                          expected_iterations(first) * iteration_seconds(first, n, batch.count);
  // It is a gamble: a quarter of what the first rung costs may go into it.
  Watch watch(iteration_seconds(std::nullopt, n, batch.count), factored / 4, q.goal,
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
    f.map = current_map();
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
    c.peak_bytes = std::max(c.peak_bytes, beside + c.factor.peak_bytes);
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
  const std::int64_t n = order();
  const Rung rung = factor_->data().l.map().coarsest();
  refine::Request q = request_for(batch);
  if (rung == Rung::fp64 && options_.refiner == Refiner::cg) q.refiner = Refiner::ir;
  double alternative = HUGE_VAL;
  if (options_.climb && options_.iterations == 0 && rung_ + 1 < maps_.size()) {
    const Rung next = maps_[rung_ + 1].layers[0];
    alternative = factor_seconds(next, n) +
                  expected_iterations(next) * iteration_seconds(next, n, batch.count);
  }
  Watch watch(iteration_seconds(rung, n, batch.count), alternative, q.goal, options_.progress);
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

/// Where to start, once A has been looked at.
void Spd::choose_rung() {
  if (options_.map || rung_ > 0 || maps_.size() == 1 || ladder()[0] != Rung::bf16) return;
  if (flatness_ < kClusters) {
    maps_[0] = covariance_map();
    maps_.erase(maps_.begin() + 1);  // where that breaks down, uniform bf16x2 does so too
  } else if (flatness_ < kTooSteepForBf16) {
    rung_ = start_ = 1;
  }
}

}  // namespace stepwell::solve
