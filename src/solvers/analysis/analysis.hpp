// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/threads/thread_pool.hpp"
#include "factor/scaling.hpp"
#include "refine/operators/operator.hpp"
#include "stepwell/certificate.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::solvers {

/// What one pass over a square matrix A found: whether it can be solved with, its norms, the scale
/// in which vectors stay near 1, and the facts that choose the ladder. Plain data.
struct Analysis {
  /// 'converged' means that nothing is wrong with A; otherwise the place where something is.
  SolveOutcome outcome = SolveOutcome::converged;
  std::int64_t row = -1, col = -1;
  std::int64_t pivot = -1;
  double pivot_value = 0;

  refine::MatrixScan found;
  double norm = 0;             ///< ||A||_inf
  double transposed_norm = 0;  ///< ||A'||_inf
  factor::Scale scale;         ///< powers of two: H = diag(row) A diag(col)
  double scaled_norm = 0;      ///< a lower bound on ||H||_2

  /// SPD: trace(H)^2 / (n ||H||_F^2), estimated: 1 if all eigenvalues are equal.
  double flatness = 1;
  bool sorted = false;           ///< SPD: neighbouring rows are more alike than others
  bool random_diagonal = false;  ///< general: the diagonal is no larger than other elements
  /// The inverse of a diagonal that is a good preconditioner by itself; empty if there is none.
  std::vector<double> inverse_diagonal;

  bool usable() const { return outcome == SolveOutcome::converged; }
};

/// Below this flatness a few eigenvalues dominate the matrix. There may be only a few distinct
/// ones, which CG finds within as many products.
inline constexpr double kClusters = 0.125;

/// One pass over a symmetric matrix: y = A x, what A holds, and the values of some elements of its
/// lower triangle. 'both': also compares the two triangles.
using SymmetricScan =
    std::function<void(MatrixView<const double> x, MatrixView<double> y, refine::MatrixScan& found,
                       bool both, std::span<refine::Element> elements)>;

/// Analyzes a symmetric matrix by its diagonal and, unless that is not finite, one scan.
Analysis analyze_spd(const factor::Diagonal& diagonal, const SymmetricScan& scan,
                     const SolveOptions& options);

/// Analyzes a general matrix in one pass, or in two where it has to be equilibrated.
Analysis analyze_general(engine::ThreadPool& pool, MatrixView<const double> a);

/// Whether A is its own transpose, to the bits, with a positive diagonal.
bool is_symmetric_with_positive_diagonal(MatrixView<const double> a, const Context* context);

}  // namespace stepwell::solvers
