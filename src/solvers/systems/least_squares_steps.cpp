// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/clock.hpp"
#include "refine/normal_operator.hpp"
#include "refine/vectors.hpp"
#include "solvers/certify/inverse_norm.hpp"
#include "solvers/ladder/cost.hpp"
#include "solvers/ladder/stopping_rule.hpp"
#include "solvers/systems/least_squares.hpp"
#include "solvers/systems/square_solver.hpp"

/// The steps of the ladder of least squares: Gram matrices at rungs from cheap to expensive, then
/// QR in FP64.
namespace stepwell::solvers {

System LeastSquares::system() {
  System system;
  system.factorize = [this](const Step& step, Certificate&, std::string& reason) {
    return factorize(step, reason);
  };
  system.refine = [this](const Step& step, double alternative, Certificate&) {
    LadderStep tried = refine(step, alternative);
    a_.rethrow();
    note_changes();
    if (cancelled()) c_.outcome = SolveOutcome::cancelled;
    return tried;
  };
  system.cost = [this](const Step& step) {
    return options_.refine.iterations > 0 ? HUGE_VAL : step_seconds(step, m_, n_, b_.cols);
  };
  system.next = [this](Certificate&) {
    if (ladder_.current == 0) skip_rungs();
    return ladder_.current + 1;
  };
  return system;
}

Factored LeastSquares::factorize(const Step& step, std::string& reason) {
  const auto start = core::Clock::now();
  const bool qr = step.kind == StepKind::qr;
  const Rung rung = step.map.layers[0];
  const bool made = qr ? make_qr() : make_gram(rung) && factor_gram(rung);
  c_.times.factor += core::seconds_since(start);
  c_.method = least_squares_method(step);
  a_.rethrow();
  note_changes();
  if (cancelled()) c_.outcome = SolveOutcome::cancelled;
  if (c_.outcome != SolveOutcome::converged) return Factored::failed;
  if (made) return Factored::ok;
  reason = qr ? "a value overflowed in QR"
              : "the Gram matrix at this rung is not positive definite: the squared condition "
                "number of A is too large for it";
  return Factored::breakdown;
}

/// Drops the rungs after the current one at which the Gram matrix can't be good enough.
void LeastSquares::skip_rungs() {
  // A sample must cost little compared with the rungs that it may save.
  constexpr std::int64_t kRowsForSample = 16;
  std::vector<Step>& steps = ladder_.steps;
  const std::size_t next = ladder_.current + 1;
  if (m_ < kRowsForSample * n_ || steps.size() < next + 2) return;
  const auto start = core::Clock::now();
  const double inverse = sample_inverse();
  c_.times.analysis += core::seconds_since(start);
  // Rounding errors of A's elements cancel in a sum over many rows, those of FP64 sums less so.
  const double spread = std::sqrt(static_cast<double>(n_) / static_cast<double>(m_));
  while (steps.size() > next + 1 && steps[next].kind == StepKind::factor) {
    const Rung rung = steps[next].map.layers[0];
    const double error = info(rung).unit_roundoff * (rung == Rung::fp64 ? 1 : spread) * inverse;
    if (error <= 2) break;
    c_.rungs.push_back({least_squares_method(steps[next]), false, 0, 1,
                        "not tried: in a sample of rows the squared condition number of A is too "
                        "large for it",
                        0});
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(next));
  }
}

void LeastSquares::estimate_condition() {
  const auto solve_with = [&](std::vector<double>& v) {
    std::vector<double> z(v.size());
    preconditioner_->apply(view<const double>(v.data(), n_, 1), view(z.data(), n_, 1));
    v = std::move(z);
  };
  inverse_ = std::max(inverse_norm(n_, solve_with, solve_with), inverse_by_power());
  c_.condition = norm_ * std::sqrt(inverse_);
}

refine::Outcome LeastSquares::refine_batch(Batch& batch, const Step& step, double alternative) {
  const bool direct = step.kind == StepKind::qr;
  // The x from QR in FP64 is expected to be good at once.
  const double first_error = direct ? 0 : info(step.map.layers[0]).unit_roundoff;
  if (!batch.measured) {
    const bool zero = refine::max_abs(batch.x.size(), batch.x.data()) == 0;
    const refine::Sums how = direct ? std::max(sums(), refine::Sums::split) : sums();
    h_->residual(batch.right, zero ? MatrixView<const double>{} : batch.state.x, batch.state.g,
                 batch.state.squares, how);
    batch.state.sums.assign(batch.state.sums.size(), how);
    batch.measured = true;
  }
  batch.proof.clear();
  const double goal = std::min(2 * 0x1p-53, tolerance() / 2);
  const auto columns = static_cast<std::int64_t>(batch.right.column.size());
  StoppingRule stopping_rule(pass_seconds(m_, n_, columns), alternative, goal,
                             options_.engine.progress);
  const auto go_on = [&](int k, double error) { return !a_.failed() && stopping_rule(k, error); };
  const int most = options_.refine.iterations > 0 ? options_.refine.iterations : 1000;
  if (refiner_ == Refiner::cg) {
    refine::NormalRequest q;
    q.goal = goal;
    q.tolerance = tolerance();
    q.norm = norm_;
    q.inverse = direct ? 0 : inverse_;
    q.iterations = most;
    q.sums = sums();
    q.last_sums = refine::Sums::split;
    q.first_error = first_error;
    q.go_on = go_on;
    return refine::normal_cg(*h_, *preconditioner_, batch.right, batch.state, q);
  }
  refine::Request q;
  q.refiner = refiner_;
  q.goal = goal;
  q.iterations = most;
  q.sums = sums();
  q.go_on = go_on;
  return refine::refine_normal(*h_, *preconditioner_, batch.right, batch.state, norm_,
                               direct ? 0 : inverse_, q);
}

/// Refines all columns. Solved means that each is proven to meet the tolerance, and that the rank
/// of A is known.
LadderStep LeastSquares::refine(const Step& step, double alternative) {
  const auto start = core::Clock::now();
  const bool qr = step.kind == StepKind::qr;
  const Rung rung = step.map.layers[0];
  if (options_.engine.progress != nullptr) options_.engine.progress->enter(Phase::refine);
  estimate_condition();
  Method method = least_squares_method(step);
  method.refiner = refiner_;
  LadderStep tried{method, true, 0, 0, "", 0};
  std::vector<core::Buffer<double>> direct;  // x as QR gave it
  std::vector<double> error;
  for (Batch& batch : batch_) {
    direct.emplace_back(qr ? batch.x.size() : 0);
    std::copy_n(batch.x.begin(), direct.back().size(), direct.back().begin());
    const refine::Outcome outcome = refine_batch(batch, step, alternative);
    if (a_.failed()) return tried;
    std::vector<double> reached;
    for (std::size_t k = 0; k < outcome.system.size(); ++k) {
      reached.push_back(batch.state.error[k].value);
      ColumnCertificate& column = c_.columns[static_cast<std::size_t>(batch.right.column[k])];
      const refine::System& system = outcome.system[k];
      column.iterations = system.iterations;
      column.history.insert(column.history.end(), system.history.begin(), system.history.end());
    }
    tried.iterations = std::max(tried.iterations, most_iterations(outcome));
    error.insert(error.end(), reached.begin(), reached.end());
    if (tried.reason.empty()) {
      tried.reason = reason_of(outcome, reached, tolerance(), alternative < HUGE_VAL);
    }
  }
  tried.error = worst_of(error);
  rank_known_ = qr || (options_.climb && tried.reason.empty() ? shows_rank(rung, tried.iterations)
                                                              : factor_shows_rank(rung));
  if (options_.climb && tried.reason.empty() && !rank_known_) {
    tried.reason = "this rung is too coarse to determine whether columns are linearly dependent";
  }
  if (tried.reason.empty() || !ladder_.has_next()) settle_all(direct, tried);
  c_.method = tried.method;
  tried.seconds = core::seconds_since(start);
  c_.times.refine += tried.seconds;
  return tried;
}

/// Proves what can be proven about x; tried.reason and tried.error report the result.
void LeastSquares::settle_all(const std::vector<core::Buffer<double>>& direct, LadderStep& tried) {
  std::vector<double> error;
  bool all = true;
  for (std::size_t k = 0; k < batch_.size() && !a_.failed(); ++k) {
    settle(batch_[k], tried.reason.empty(), direct[k]);
    all = all && proven(batch_[k]);
    for (const Proof& proof : batch_[k].proof) error.push_back(proof.measured.most());
  }
  if (all) {
    tried.reason.clear();
  } else if (tried.reason.empty()) {
    tried.reason = "the computed bounds do not prove that x meets the tolerance";
  }
  tried.error = worst_of(error);
}

}  // namespace stepwell::solvers
