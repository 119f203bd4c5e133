// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwell/certificate.hpp"
#include "stepwell/export.hpp"
#include "stepwell/map.hpp"
#include "stepwell/options.hpp"
#include "stepwell/solve.hpp"
#include "stepwell/tall.hpp"
#include "stepwell/view.hpp"

/// Least squares by the normal equations: the Gram matrix is formed in low precision and the
/// solution is refined with A itself (Higham & Pranesh, Algorithm 5.1).
namespace stepwell {

/// Options of lstsq() and ridge().
struct LeastSquaresOptions {
  /// Precision map of the Gram matrix, the same rung for all tiles; none: the plan starts at the
  /// rung that it predicts to be fastest.
  std::optional<PrecisionMap> map;
  /// Climb to the next rung when one is not good enough, up to QR in FP64. Off: the result of the
  /// first rung is returned, with an outcome that says whether it meets the tolerance.
  bool climb = true;
  /// Use QR in FP64 from the start: for columns that are known to be nearly dependent.
  bool qr = false;
  /// Where the minimiser is not unique, because columns depend on each other or A has fewer rows
  /// than columns: the one of least norm, by a complete orthogonal factorization in FP64. Off: the
  /// coefficients of dependent columns are zero, and an A with fewer rows than columns is refused.
  bool minimum_norm = false;
  double tolerance = 0;  ///< on the backward error; 0: sqrt(n) 2^-53, at least 2^-52
  double lambda = 0;     ///< ridge parameter, at least 0
  /// The diagonal of D in lambda D: one weight of at least 0 for each column of A, 0 for a column
  /// that is not penalised (an intercept); empty: the identity.
  std::vector<double> weights;
  RefineOptions refine;  ///< working and exact_residual are not supported
  EngineOptions engine;
};

/// Minimises ||b - A x||_2 for each column b of B; with options.lambda, ||b - A x||^2 +
/// lambda x'Dx.
///
/// Entry: A is m x n with m >= n; any m if lambda D is positive, or if lambda is 0 with
/// minimum_norm and an A in memory. B is m x columns, X is n x columns and does not overlap A or B.
///
/// Exit: X and the certificate. 'backward_error' is an upper bound on the smallest relative change
/// of A for which x is the exact solution, in the Frobenius norm of A with its columns scaled by
/// powers of two to norms in [1, 2), and it includes all rounding errors; 'measure' says which
/// bound was the smallest. 'condition' is an estimate of ||A||_F ||A^+||_2 in the same scaling,
/// 'norm' is ||A||_F without scaling. 'rank_deficient' means that x is a minimiser but not the only
/// one: 'dependent' lists columns that depend on the others in FP64; their coefficients are zero,
/// or with minimum_norm x is the one of least norm ('minimum_norm' of the certificate; if that x
/// can't be certified, the coefficients are zero). If m < n, the backward error is relative to
/// ||A||_F without scaling, and includes the change of A for which x is in the range of A'. X is
/// written for the same outcomes as in solve_spd(), and for 'rank_deficient'. Throws Error as
/// solve_spd() does, and whatever the function that supplies A throws.
///
/// The bits of x do not depend on the number of threads. They are the same for A stored by rows,
/// mapped from a file or supplied by a function; for A stored by columns the sums of a product are
/// in a different order.
///
/// Cost: m n^2 flop at the rung, and one pass over A per iteration.
/// Workspace: plan_lstsq().bytes, independent of m.
STEPWELL_API Certificate lstsq(const TallMatrix& a, MatrixView<const double> b,
                               MatrixView<double> x, const LeastSquaresOptions& options = {});

/// Ridge regression: lstsq() with options.lambda = lambda.
STEPWELL_API Certificate ridge(const TallMatrix& a, MatrixView<const double> b,
                               MatrixView<double> x, double lambda,
                               const LeastSquaresOptions& options = {});

/// The prediction of the cost model for lstsq(); its map is that of the Gram
/// matrix.
STEPWELL_API Plan plan_lstsq(std::int64_t m, std::int64_t n, std::int64_t columns,
                             const LeastSquaresOptions& options = {});

}  // namespace stepwell
