// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "factor/simulation.hpp"

/// How long a whole solve with one right-hand side would take on a machine with more cores: the
/// factorization is simulated task by task; analysis and refinement, which read A and the factor
/// again and again, by a formula.
namespace stepwell::solvers {

/// What the parts of a solve take on one core of this machine, and what they read.
struct SolveCosts {
  std::int64_t n = 0;     ///< order of the system that was solved
  double analysis = 0;    ///< seconds: analysis of A and proof, everything but the other parts
  double iteration = 0;   ///< an iteration of refinement
  double solve_tile = 0;  ///< substitution with a diagonal tile that is in the cache
  double apply_part = 0;  ///< applying the part of a tile that one of many threads has
};

/// Solves a system of order measured_order(f.n) on the calling thread, without the tasks of the
/// factorization (factor::measure_tasks). Cost: five seconds on a matrix engine, 800 MB.
SolveCosts measure_solve(const factor::SimulatedFactor& f);
/// n, but at most 8192.
std::int64_t measured_order(std::int64_t n);

struct SimulatedSolve {
  engine::SimulatedTimes factor;
  double analysis = 0;
  double iteration = 0;
  /// Seconds that an iteration can't be below: the work of all cores, what the memory has to
  /// transfer, and the chain of substitution.
  double cores = 0, memory = 0, chain = 0;

  double seconds(int iterations) const {
    return analysis + factor.seconds + iterations * iteration;
  }
};
SimulatedSolve simulate_solve(const factor::SimulatedFactor& f,
                              const engine::SimulatedMachine& machine,
                              const engine::TaskTimes& tasks, const SolveCosts& costs);

}  // namespace stepwell::solvers
