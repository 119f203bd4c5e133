// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "solvers/ladder/ladder.hpp"
#include "stepwell/certificate.hpp"
#include "stepwell/progress.hpp"

/// The ladder: no factor at all, then the rungs from cheap to expensive, FP64 at the top. A step is
/// left when its factor breaks down, when refinement with it ends without meeting the tolerance,
/// and as soon as finishing there would cost more than the next step.
namespace stepwell::solvers {

/// What came of a factorization.
enum class Factored : unsigned char {
  ok,
  breakdown,  ///< a more accurate step may succeed
  failed      ///< no step can: the certificate's outcome says why
};

/// What the ladder asks of a system: symmetric positive definite, general, least squares or
/// distributed.
struct System {
  /// Makes the factor of a step unless there is one. Sets c.method, adds to c.times.factor, and
  /// gives a 'reason' where the factorization breaks down or fails.
  std::function<Factored(const Step& step, Certificate& c, std::string& reason)> factorize;
  /// Refines with that factor, and says how far it got. An empty 'reason' means solved. Refinement
  /// is stopped when it is predicted to take longer than 'alternative' seconds.
  std::function<LadderStep(const Step& step, double alternative, Certificate& c)> refine;
  /// The predicted seconds of a step.
  std::function<double(const Step& step)> cost;
  /// Called when a step is left: releases its factor and returns the index of the next step.
  std::function<std::size_t(Certificate& c)> next;
};

enum class Climbed : unsigned char {
  solved,
  exhausted,  ///< the last step did not meet the tolerance; its x is the best there is
  stopped     ///< there is no x: the certificate's outcome says why
};

/// Climbs from the current step until one solves the system. Without 'refine' it stops at the first
/// step that has a factor.
Climbed climb(const System& system, Ladder& ladder, const Progress* progress, Certificate& c);

/// Adds a step to the certificate. The same step for other columns is not listed again.
void list_step(Certificate& c, LadderStep step);

}  // namespace stepwell::solvers
