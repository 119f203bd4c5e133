// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stepwell/certificate.hpp"

/// How long the parts of a solve take on this machine: as `stepwell tune` measured them, or by the
/// library's cost model where nobody has. Forecasts follow from it and nothing else does: what a
/// solve decides, and so its bits, must not depend on what was measured on some day.
namespace stepwell::tool {

/// Seconds of one solve of order n with one right-hand side.
struct SolveSeconds {
  std::string map;  ///< "none": without a factor
  std::int64_t n = 0;
  double analysis = 0;   ///< looking at A, and whatever is neither factor nor refinement
  double factor = 0;     ///< the factorization
  double iteration = 0;  ///< one iteration of the refinement
};

struct Timetable {
  std::string measured_on;  ///< a date; empty: not measured, the cost model's
  double start = 0;         ///< seconds that the first solve of a process takes longer
  std::vector<SolveSeconds> rows;
};

/// Seconds at order n, between the measured orders and beyond them. What is measured is spd; LU has
/// twice the flops of Cholesky, and an iteration with it reads twice the bytes.
SolveSeconds seconds_at(const Timetable& table, const std::string& map, std::int64_t n,
                        std::int64_t columns, bool general = false);

/// What a certificate says of one solve.
SolveSeconds seconds_of(const Certificate& c, std::int64_t n);

/// Where `tune` keeps it: below $XDG_CACHE_HOME or ~/.cache. Empty: there is no such place.
std::string timetable_path();

/// Creates the directory. Throws Error(cannot_open).
void save(const Timetable& table, const std::string& path, int threads);

/// The kept one, if it was measured by this version on this CPU with as many threads; else one
/// without rows. A file that can't be used is no error: it is only a forecast.
Timetable load_timetable(int threads);

nlohmann::ordered_json to_json(const Timetable& table, int threads);

}  // namespace stepwell::tool
