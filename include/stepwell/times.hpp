// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace stepwell {

/// Seconds of work, summed over the workers; 'wall' is the call's own time.
struct PhaseTimes {
  double load = 0;      ///< reading A: scaling, narrowing, scanning
  double update = 0;    ///< products
  double diagonal = 0;  ///< factoring diagonal tiles and inverting their blocks
  double solve = 0;     ///< tiles below the diagonal
  double reorder = 0;   ///< copies of L as right operands
  double norms = 0;     ///< adaptive maps: the pass over A that finds the tiles' norms (wall time)
  double wall = 0;
  int workers = 1;
  std::int64_t tasks = 0;
};

}  // namespace stepwell
