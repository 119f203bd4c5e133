// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "paper.hpp"
#include "system.hpp"

/// What the parts of `bench paper` that measure whole solves share.
namespace stepwell::tool {

/// From here on a LAPACK run takes so long that it is measured beside the first matrix only.
inline constexpr std::int64_t kSharedFrom = 12000;
/// The time of LAPACK's mixed solvers depends on the matrix: measured up to here, to keep the run
/// short.
inline constexpr std::int64_t kLargestMixed = 12000;

/// LAPACK's routines that do not depend on the matrix, once for a size. Empty where each case has
/// its own.
using Shared = std::map<std::string, Timing>;

/// Seconds of one case with its baselines, by a guess.
double solve_cost(const PaperRun& run, std::int64_t n, bool first, bool general);

/// Measures a system, ours and LAPACK's solvers in turn. Adds who they are and the baselines' times
/// to the section, and returns the case: 'what', times, ratios, path, backward errors.
nlohmann::ordered_json measure_solve(const PaperRun& run, nlohmann::ordered_json what,
                                     const std::shared_ptr<System>& s, Shared& shared,
                                     nlohmann::ordered_json& section);

/// The error after each iteration with a factor at one map, without climbing.
nlohmann::ordered_json refinement_history(System& s, const char* map, const char* refiner,
                                          int iterations);

/// Whether there is as much memory; if not, notes what is left out.
bool fits(Budget& budget, const std::string& what, std::int64_t bytes);

/// Runs 'make' and adds what it returns to the section's cases; where memory does not suffice or
/// LAPACK has no answer, notes why it was left out.
void add_case(Budget& budget, const std::string& what, nlohmann::ordered_json& section,
              std::int64_t bytes, const std::function<nlohmann::ordered_json()>& make);

}  // namespace stepwell::tool
