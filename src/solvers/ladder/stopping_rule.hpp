// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "refine/refine.hpp"
#include "solvers/certify/verdict.hpp"
#include "stepwell/progress.hpp"

namespace stepwell::solvers {

/// Decides whether a refinement continues. It stops if the rest, at the pace of the last
/// iterations, would take longer than 'alternative' seconds, or if the caller has cancelled.
class StoppingRule {
 public:
  /// 'iteration': predicted seconds of one iteration. 'goal': the error to reach. 'patience':
  /// iterations before the first prediction, because CG has plateaus.
  StoppingRule(double iteration, double alternative, double goal, Progress* progress,
               std::size_t patience = 4);

  bool operator()(int, double error);

 private:
  double remaining() const;

  double iteration_, alternative_, goal_;
  Progress* progress_;
  std::size_t patience_;
  std::vector<double> errors_;
};

/// Number of iterations of the slowest system.
int most_iterations(const refine::Outcome& outcome);

/// The largest error that refinement itself has computed last.
double last_error(const refine::Outcome& outcome);

/// Why the first column whose error is above the tolerance failed; empty if there is none.
/// 'by_cost': refinement may have been stopped because the next rung was cheaper.
std::string reason_of(const refine::Outcome& outcome, const std::vector<double>& error,
                      double tolerance, bool by_cost);
std::string reason_of(const refine::Outcome& outcome, const std::vector<Measured>& measured,
                      double tolerance, bool by_cost);

}  // namespace stepwell::solvers
