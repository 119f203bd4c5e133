// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/ladder/climb.hpp"

#include <algorithm>
#include <cmath>

#include "core/clock.hpp"
#include "core/numeric/worst.hpp"

namespace stepwell::solvers {

void list_step(Certificate& c, LadderStep step) {
  if (!c.rungs.empty() && c.rungs.back().reason.empty() && c.rungs.back().method == step.method) {
    const LadderStep& before = c.rungs.back();
    step.iterations = std::max(step.iterations, before.iterations);
    step.error = core::worst(step.error, before.error);
    step.seconds += before.seconds;
    c.rungs.pop_back();
  }
  c.rungs.push_back(std::move(step));
}

Climbed climb(const System& system, Ladder& ladder, const Progress* progress, Certificate& c) {
  const SolveOutcome before = c.outcome;  // of other columns
  const auto cancelled = [&] {
    if (progress != nullptr && progress->cancel) c.outcome = SolveOutcome::cancelled;
    return c.outcome == SolveOutcome::cancelled;
  };
  while (!cancelled()) {
    const Step& step = ladder.step();
    if (step.kind != StepKind::unpreconditioned) {
      const auto start = core::Clock::now();
      std::string reason;
      const Factored factored = system.factorize(step, c, reason);
      if (!reason.empty()) {
        Method failed = c.method;
        failed.refiner.reset();
        c.rungs.push_back({failed, false, 0, 1, reason, core::seconds_since(start)});
      }
      if (factored == Factored::failed) return Climbed::stopped;
      if (factored == Factored::breakdown) {
        if (!ladder.has_next()) {
          c.outcome = SolveOutcome::not_converged;
          return Climbed::stopped;
        }
        ladder.current = system.next(c);
        continue;
      }
    }
    if (!system.refine) return Climbed::solved;
    const bool may_leave = ladder.has_next();
    const double alternative = may_leave ? system.cost(ladder.steps[ladder.current + 1]) : HUGE_VAL;
    LadderStep refined = system.refine(step, alternative, c);
    const bool solved = refined.reason.empty();
    list_step(c, std::move(refined));
    if (c.outcome != before) return Climbed::stopped;
    if (solved) return Climbed::solved;
    if (cancelled()) break;
    if (!may_leave) return Climbed::exhausted;
    ladder.current = system.next(c);
  }
  return Climbed::stopped;
}

}  // namespace stepwell::solvers
