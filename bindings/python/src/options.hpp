// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "run.hpp"
#include "stepwell/error.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::python {

/// Python's arguments for a solve: plain values with the names of the keyword arguments.
struct Options {
  std::string structure = "automatic";
  bool upper = false;  ///< refers to the column-major view, not to NumPy's array
  bool transposed = false;
  double tolerance = 0;
  int iterations = 0;
  std::optional<std::string> map;
  std::optional<std::string> refiner;
  bool climb = true;
  bool exact_residual = false;
  bool check_symmetry = false;
  bool condition = false;
  bool prove = false;
  int threads = 0;

  Structure structure_of() const {
    if (structure == "spd") return Structure::spd;
    if (structure == "general") return Structure::general;
    return Structure::automatic;
  }

  SolveOptions options(Progress* progress) const {
    SolveOptions o;
    if (map) o.map = parse_map(*map);
    if (refiner) {
      o.refine.refiner = refiner_from_string(*refiner);
      if (!o.refine.refiner) {
        throw Error(
            ErrorCode::invalid_argument,
            "there is no refiner '" + *refiner +
                "'; the refiners are ir, cg, gmres, fgmres, ir(cg), ir(gmres), gmres(gmres)");
      }
    }
    o.triangle = upper ? Triangle::upper : Triangle::lower;
    o.transposed = transposed;
    o.tolerance = tolerance;
    o.refine.iterations = iterations;
    o.climb = climb;
    o.refine.exact_residual = exact_residual;
    o.check_symmetry = check_symmetry;
    o.condition = condition;
    o.prove = prove;
    o.engine.context = context(threads);
    o.engine.progress = progress;
    return o;
  }
};

}  // namespace stepwell::python
