// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solve_options.hpp"

#include "stepwell/error.hpp"

namespace stepwell::tool {

void add_solve_options(CLI::App& verb, SolveOptionsRequest& r) {
  verb.add_option("--map", r.map, "Precision map of the factor; default: the plan's");
  verb.add_option("--refiner", r.refiner,
                  "ir, cg, gmres, fgmres, ir(cg), ir(gmres) or gmres(gmres)")
      ->capture_default_str();
  verb.add_option("--tolerance", r.tolerance, "Of the backward error; default: sqrt(n) 2^-53")
      ->check(CLI::Range(0.0, 1.0));
  verb.add_flag("--no-climb", r.no_climb, "Stay at the first rung, good enough or not");
  verb.add_option("--threads", r.threads, "Workers; default: as many as the process may use")
      ->check(CLI::Range(1, 1024));
}

SolveOptions options_of(const SolveOptionsRequest& r) {
  SolveOptions options;
  if (!r.map.empty()) options.map = parse_map(r.map);
  const auto refiner = refiner_from_string(r.refiner);
  if (!refiner) {
    throw Error(ErrorCode::invalid_argument, "there is no refiner '" + r.refiner +
                                                 "'; there are ir, cg, gmres, fgmres, "
                                                 "ir(cg), ir(gmres) and gmres(gmres)");
  }
  options.refiner = *refiner;
  options.tolerance = r.tolerance;
  options.climb = !r.no_climb;
  return options;
}

}  // namespace stepwell::tool
