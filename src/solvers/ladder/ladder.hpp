// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "solvers/analysis/analysis.hpp"
#include "stepwell/lstsq.hpp"
#include "stepwell/map.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::solvers {

/// Right-hand sides that are refined together: A and its factor are read once for all of them.
inline constexpr std::int64_t kBatch = 64;

/// How a step of the ladder preconditions the refinement.
enum class StepKind : unsigned char {
  unpreconditioned,  ///< no factor: the refiner with the diagonal of A
  factor,            ///< Cholesky or LU at the rungs of a map; least squares: of the Gram matrix
  lapack,            ///< LAPACK's LU in FP64
  qr                 ///< least squares: Householder QR in FP64
};

/// One step of the ladder. Plain data.
struct Step {
  StepKind kind = StepKind::factor;
  PrecisionMap map;          ///< of the factor; least squares: the rung of the Gram matrix
  bool first = false;        ///< the first factor: the options' shift applies to it
  bool restart = false;      ///< refine from x = 0, because nothing is gained by the x before
  bool last_resort = false;  ///< refine with the requested refiner although the factor is FP64
};

/// The refiner where the caller names none.
Refiner default_refiner(Structure structure);

/// The factorization and the map of a least squares step; the refiner is added when x is refined.
Method least_squares_method(const Step& step);

/// The steps that may be tried, cheap to expensive, and the one that is current.
struct Ladder {
  std::vector<Step> steps;
  std::size_t current = 0;
  bool may_climb = true;  ///< from one factor to the next

  const Step& step() const { return steps[current]; }
  bool has_next() const {
    const bool allowed = may_climb || step().kind == StepKind::unpreconditioned;
    return allowed && current + 1 < steps.size();
  }
};

/// The ladder of a square system whose cost is predicted for order n. It follows from the analysis
/// of A and the options alone.
Ladder ladder_for(Structure structure, std::int64_t n, const Analysis& analysis,
                  const SolveOptions& options);

/// The ladder of an m x n least squares problem: Gram matrices, then QR.
Ladder ladder_for(std::int64_t m, std::int64_t n, std::int64_t columns,
                  const LeastSquaresOptions& options);

}  // namespace stepwell::solvers
