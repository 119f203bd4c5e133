// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace stepwell {

/// Seconds of work in each phase, summed over the workers.
struct PhaseTimes {
  double load = 0;      ///< reading A: scaling, conversion to low precision, scan
  double update = 0;    ///< matrix products
  double diagonal = 0;  ///< factoring diagonal tiles and inverting their blocks
  double solve = 0;     ///< triangular solves of the tiles below the diagonal
  double reorder = 0;   ///< copying L into the layout of right operands
  double norms = 0;     ///< adaptive maps: the pass over A that computes tile norms (wall time)
  double wall = 0;      ///< wall time of the call
  int workers = 1;
  std::int64_t tasks = 0;
};

}  // namespace stepwell
