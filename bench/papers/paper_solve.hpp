// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench/papers/paper.hpp"
#include "bench/problems/system.hpp"

/// Common code of the parts of `bench paper` that measure whole solves.
namespace stepwell::bench {

/// From this order on, a LAPACK run takes so long that it is measured with the first matrix only.
inline constexpr std::int64_t kSharedFrom = 12000;
/// The time of LAPACK's mixed-precision solvers depends on the matrix. They are measured up to this
/// order, to keep the run short.
inline constexpr std::int64_t kLargestMixed = 12000;

/// Timings of LAPACK's routines whose time does not depend on the matrix, measured once per size.
/// Empty if each case has its own.
using Shared = std::map<std::string, Timing>;

/// Estimated seconds of one case with its baselines.
double solve_cost(const PaperRun& run, std::int64_t n, bool first, bool general);

/// Measures our solver and LAPACK's on a system, in turn. Adds the identities of the sides and the
/// baselines' times to the section, and returns the case: 'what', times, ratios, path, backward
/// errors.
nlohmann::ordered_json measure_solve(const PaperRun& run, nlohmann::ordered_json what,
                                     const std::shared_ptr<System>& s, Shared& shared,
                                     nlohmann::ordered_json& section);

/// The error after each iteration with a factor at one map, without climbing.
nlohmann::ordered_json refinement_history(System& s, const char* map, const char* refiner,
                                          int iterations);

/// Whether this much memory is available; if not, records what is left out.
bool fits(Budget& budget, const std::string& what, std::int64_t bytes);

/// Runs 'make' and adds its result to the section's cases. If memory does not suffice or LAPACK has
/// no answer, records why the case was left out.
void add_case(Budget& budget, const std::string& what, nlohmann::ordered_json& section,
              std::int64_t bytes, const std::function<nlohmann::ordered_json()>& make);

}  // namespace stepwell::bench
