// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options/solve_options.hpp"

#include "options/verb.hpp"
#include "stepwell/error.hpp"

namespace stepwell::tool {

void add_method_options(Verb verb, std::string& refiner, std::string& pivoting) {
  verb.add_option(
      "--refiner", refiner,
      "ir, cg, gmres, fgmres, ir(cg), ir(gmres) or gmres(gmres); default: cg, or fgmres "
      "for a general A");
  verb.add_option("--pivoting", pivoting,
                  "Pivoting for a general A: partial, or butterfly (random mixing, no exchanges)")
      .check(OneOf{"partial", "butterfly"})
      .capture_default_str();
}

void add_solve_options(Verb verb, SolveOptionsRequest& r) {
  verb.add_option("--assume", r.assume,
                  "Structure of A: spd (symmetric positive definite), general, or auto (analyze A)")
      .check(OneOf{"auto", "spd", "general"})
      .capture_default_str();
  verb.add_option("--map", r.map, "Precision map of the factor; default: the plan's");
  add_method_options(verb, r.refiner, r.pivoting);
  verb.add_option("--tolerance", r.tolerance, "Limit of the backward error; default: sqrt(n) 2^-53")
      .check(Range(0.0, 1.0));
  verb.add_flag("--no-climb", r.no_climb, "Stay at the first rung, even if x misses the tolerance");
  verb.add_option("--threads", r.threads, "Workers; default: as many as the process may use")
      .check(Range(1, 1024));
}

SolveOptions options_of(const SolveOptionsRequest& r) {
  SolveOptions options;
  if (!r.map.empty()) options.map = parse_map(r.map);
  options.refine.refiner = refiner_of(r.refiner);
  options.lu.pivoting = pivoting_of(r.pivoting);
  options.tolerance = r.tolerance;
  options.climb = !r.no_climb;
  return options;
}

Structure structure_of(const SolveOptionsRequest& r) {
  if (r.assume == "spd") return Structure::spd;
  return r.assume == "general" ? Structure::general : Structure::automatic;
}

std::optional<Refiner> refiner_of(const std::string& name) {
  if (name.empty()) return std::nullopt;
  const auto refiner = refiner_from_string(name);
  if (!refiner) {
    throw Error(ErrorCode::invalid_argument, "there is no refiner '" + name +
                                                 "'; the refiners are ir, cg, gmres, fgmres, "
                                                 "ir(cg), ir(gmres) and gmres(gmres)");
  }
  return refiner;
}

Pivoting pivoting_of(const std::string& name) {
  return name == "butterfly" ? Pivoting::butterfly : Pivoting::partial;
}

}  // namespace stepwell::tool
