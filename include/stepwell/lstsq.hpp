// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwell/certificate.hpp"
#include "stepwell/context.hpp"
#include "stepwell/export.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/refiner.hpp"
#include "stepwell/rung.hpp"
#include "stepwell/solve.hpp"
#include "stepwell/tall.hpp"
#include "stepwell/view.hpp"

/// Least squares by the normal equations, with their matrix formed in low precision and the
/// solution refined with A itself (Higham & Pranesh, Algorithm 5.1).
namespace stepwell {

struct LeastSquaresOptions {
  /// Of the Gram matrix; none: the plan starts at the rung it expects to be the fastest.
  std::optional<Rung> rung;
  std::optional<Refiner> refiner;  ///< none: cg
  /// Go on at the next rung when one is not good enough, up to QR in FP64. Off: what was reached
  /// comes back, with an outcome that says whether it meets the tolerance.
  bool climb = true;
  /// FP64 QR at once: for those who know that the columns nearly depend on each other.
  bool qr = false;
  double tolerance = 0;  ///< of the backward error; 0: sqrt(n) 2^-53, at least 2^-52
  int iterations = 0;    ///< of each column at a rung, most; 0: while cheaper than the next rung
  double lambda = 0;     ///< of ridge regression, at least 0
  /// D of lambda D, one number of at least 0 for each column of A, 0 for one that is not to be
  /// penalised (an intercept); empty: the identity.
  std::vector<double> weights;
  Context* context = nullptr;    ///< null: the shared one, with as many workers as allowed
  Progress* progress = nullptr;  ///< null: nobody watches
};

/// Finds X that minimises ||b - A x||_2 for each column b of B; with options.lambda,
/// ||b - A x||^2 + lambda x'Dx. A: m x n with m >= n (any m where lambda D is positive). B: m x
/// columns. X: n x columns, without overlap with A or B.
///
/// The certificate: 'backward_error' is an upper bound on the smallest relative change of A for
/// which x is the exact answer, in the Frobenius norm of A with its columns scaled by powers of two
/// to norms in [1, 2), with all rounding counted in; 'measure' says which bound was the smallest.
/// 'condition' is an estimate of ||A||_F ||A^+||_2 in the same scale, 'norm' is ||A||_F as it is.
/// 'rank_deficient': x minimises, but is not the only one: 'dependent' lists columns that depend on
/// the others in FP64, their coefficients are zero. X is written as solve_spd() says, and with
/// 'rank_deficient'. Errors as solve_spd(), and what options and A's function throw.
///
/// The bits of x do not depend on the number of threads. By rows, mapped from a file or given by a
/// function they are the same; by columns the sums of a product have another order.
///
/// Cost: m n^2 products at the rung, and one pass over A each iteration. Memory:
/// plan_lstsq().bytes, whatever m.
STEPWELL_API Certificate lstsq(const TallMatrix& a, MatrixView<const double> b,
                               MatrixView<double> x, const LeastSquaresOptions& options = {});

/// lstsq() with lambda: ridge regression.
STEPWELL_API Certificate ridge(const TallMatrix& a, MatrixView<const double> b,
                               MatrixView<double> x, double lambda,
                               const LeastSquaresOptions& options = {});

/// What the cost model says before work starts; 'map' is the rung of the Gram matrix, or "qr".
STEPWELL_API Plan plan_lstsq(std::int64_t m, std::int64_t n, std::int64_t columns,
                             const LeastSquaresOptions& options = {});

}  // namespace stepwell
