// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/simulation/simulated_run.hpp"
#include "stepwell/map.hpp"
#include "stepwell/solve.hpp"

/// How long a factorization would take on a machine with more cores than this one: its real graph
/// is inserted, and replayed with the times of its tasks on one core of this machine.
namespace stepwell::factor {

struct SimulatedFactor {
  Factorization kind = Factorization::cholesky;  ///< or lu
  Rung rung = Rung::bf16;
  std::int64_t n = 0;
  std::int64_t tile = 0;  ///< 0: the tile that the factorization would have
};

/// The tile, if it was 0.
std::int64_t tile_of(const SimulatedFactor& f);

/// Measures the tasks of such a factorization, of any order: factors a matrix of 18 tiles per side,
/// so that each number of products in a sweep occurs, on the calling thread. Cost at tile 512:
/// five seconds on a matrix engine, and 680 MB; a fifth of both at tile 256.
engine::TaskTimes measure_tasks(const SimulatedFactor& f);

/// The largest order that can be simulated: 256 tiles per side, whose tasks take 1 GB.
std::int64_t largest_simulated(const SimulatedFactor& f);

/// Inserts the tasks and replays them. Memory is mapped as for the factorization, but not touched.
/// Throws Error(too_large) above the largest order.
engine::SimulatedTimes simulate(const SimulatedFactor& f, const engine::SimulatedMachine& machine,
                                const engine::TaskTimes& times);

}  // namespace stepwell::factor
