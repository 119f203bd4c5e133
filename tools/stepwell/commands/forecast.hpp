// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "commands/timetable.hpp"
#include "gallery/recipe.hpp"
#include "stepwell/solve.hpp"

/// Predicts what a solve will do, and its time and memory, without running it.
namespace stepwell::tool {

struct Forecast {
  Method method;  ///< how x will be found
  int iterations = 0;
  std::vector<LadderStep> left;  ///< rungs that will be tried before
  double analysis = 0;           ///< seconds
  double factor = 0;
  double refine = 0;
  std::int64_t rehearsed = 0;  ///< order of the small matrix that took this path; 0: none did
  int simulated = 0;  ///< cores of the machine that the times were simulated for; 0: this machine
  std::int64_t data_bytes = 0;
  std::int64_t bytes = 0;      ///< in addition to A, b and x
  std::int64_t top_bytes = 0;  ///< the same if the solve has to climb to FP64

  double seconds() const { return analysis + factor + refine; }
};

/// Without a recipe, A is assumed to suit the first rung. With a recipe, a small matrix of the kind
/// is solved with the decisions that the large one would take: the number of iterations for a given
/// spectrum hardly depends on n. 'general': by LU, whatever the kind is. Throws
/// Error(invalid_argument, too_large) and, if the small matrix can't be solved, Failure.
Forecast forecast(std::int64_t n, std::int64_t columns, bool general, const SolveOptions& options,
                  const std::optional<gallery::Recipe>& recipe, const Timetable& table);

/// False for a solve without a factor in tiles, with several columns, with too many tasks, or where
/// memory is short.
bool can_simulate(const Forecast& f, std::int64_t n, std::int64_t columns, bool general);
/// Replaces the times by those on a machine with so many cores, which this one need not have:
/// simulated, with the times of one core here (ten seconds).
void simulate_times(Forecast& f, std::int64_t n, bool general, int cores);

/// Explains why the solve will take this path.
std::string reason_text(const Forecast& f);

}  // namespace stepwell::tool
