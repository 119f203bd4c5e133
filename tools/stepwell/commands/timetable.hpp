// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwell/certificate.hpp"

/// How long the parts of a solve take on this machine: as `stepwell tune` measured them, or
/// according to the library's cost model if nothing was measured. Only forecasts use it: the
/// decisions of a solve, and therefore its bits, must not depend on measured times.
namespace stepwell::tool {

/// Seconds of one solve of order n with one right-hand side.
struct SolveSeconds {
  std::string map;  ///< "none": without a factor
  std::int64_t n = 0;
  double analysis = 0;   ///< analysis of A, and everything except factor and refinement
  double factor = 0;     ///< the factorization
  double iteration = 0;  ///< one iteration of the refinement
};

struct Timetable {
  std::string measured_on;  ///< a date; empty: not measured, from the cost model
  double start = 0;         ///< additional seconds of the first solve of a process
  std::vector<SolveSeconds> rows;
};

/// Seconds at order n, interpolated between the measured orders or extrapolated beyond them. The
/// measurements are for spd; LU has twice the flops of Cholesky, and an iteration with it reads
/// twice the bytes.
SolveSeconds seconds_at(const Timetable& table, const std::string& map, std::int64_t n,
                        std::int64_t columns, bool general = false);

/// The seconds of one solve according to its certificate.
SolveSeconds seconds_of(const Certificate& c, std::int64_t n);

/// The file of `tune`, below $XDG_CACHE_HOME or ~/.cache. Empty if there is no such directory.
std::string timetable_path();

/// Writes the file and creates its directory. Throws Error(cannot_open).
void save(const Timetable& table, const std::string& path, int threads);

/// The saved table if it was measured by this version on this CPU with as many threads, else a
/// table without rows. An unusable file is no error, because only forecasts depend on it.
Timetable load_timetable(int threads);

nlohmann::ordered_json to_json(const Timetable& table, int threads);

}  // namespace stepwell::tool
