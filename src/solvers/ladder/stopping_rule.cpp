// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/ladder/stopping_rule.hpp"

#include <algorithm>
#include <cmath>

#include "core/numeric/worst.hpp"

namespace stepwell::solvers {
namespace {

using refine::Status;

/// The pace is taken over the last ten iterations.
constexpr std::size_t kWindow = 10;

std::int64_t thousandths(double gain) {
  return static_cast<std::int64_t>(1000 * std::log(gain));
}

std::string name_of(Status status, bool by_cost) {
  switch (status) {
    case Status::indefinite:
      return "the preconditioned matrix is not positive definite";
    case Status::non_finite:
      return "a value overflowed";
    case Status::stopped:
      return by_cost ? "refinement was predicted to take longer than the next rung"
                     : "the iteration limit was reached";
    default:
      return "refinement stagnated";
  }
}

}  // namespace

StoppingRule::StoppingRule(double iteration, double alternative, double goal, Progress* progress,
                           std::size_t patience)
    : iteration_(iteration),
      alternative_(alternative),
      goal_(goal),
      progress_(progress),
      patience_(patience) {
  if (progress_ != nullptr) progress_->enter(Phase::refine, thousandths(1 / goal_));
}

bool StoppingRule::operator()(int, double error) {
  if (progress_ != nullptr) {
    if (progress_->cancel) return false;
    progress_->done = thousandths(1 / std::clamp(error, goal_, 1.0));
  }
  errors_.push_back(error);
  return remaining() * iteration_ <= alternative_;
}

double StoppingRule::remaining() const {
  const std::size_t done = errors_.size();
  if (done < patience_) return 0;
  const double before = done > kWindow ? errors_[done - 1 - kWindow] : 1;
  const auto span = static_cast<double>(std::min(done, kWindow));
  const double pace = std::log(before / errors_.back()) / span;
  const double left = std::log(errors_.back() / goal_);
  return pace > 0 ? left / pace : HUGE_VAL;
}

int most_iterations(const refine::Outcome& outcome) {
  int most = 0;
  for (const refine::System& s : outcome.system) most = std::max(most, s.iterations);
  return most;
}

double last_error(const refine::Outcome& outcome) {
  double worst = 0;
  for (const refine::System& s : outcome.system) {
    worst = core::worst(worst, s.history.empty() ? s.error : s.history.back());
  }
  return worst;
}

std::string reason_of(const refine::Outcome& outcome, const std::vector<double>& error,
                      double tolerance, bool by_cost) {
  for (std::size_t s = 0; s < error.size(); ++s) {
    if (!(error[s] <= tolerance)) return name_of(outcome.system[s].status, by_cost);
  }
  return "";
}

std::string reason_of(const refine::Outcome& outcome, const std::vector<Measured>& measured,
                      double tolerance, bool by_cost) {
  for (std::size_t s = 0; s < measured.size(); ++s) {
    if (judge(measured[s], tolerance) == Verdict::met) continue;
    return name_of(outcome.system[s].status, by_cost);
  }
  return "";
}

}  // namespace stepwell::solvers
