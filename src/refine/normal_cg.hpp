// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "refine/operators/normal_product.hpp"
#include "refine/refine.hpp"
#include "stepwell/certificate.hpp"

/// Refinement of least squares problems with the scaled matrix H = A diag(power), see
/// NormalProduct.
namespace stepwell::refine {

/// Upper bounds on the smallest change dH of H for which x is the exact solution, relative to the
/// Frobenius norm of H. With r = b - H x and g = H'r:
///   residual    dH = r x' / ||x||^2: then H x = b
///   gradient    dH = -r g' / ||r||^2: then r is orthogonal to H (Stewart 1977)
///   projection  dH = P r x' / ||x||^2 with P the projection onto the columns of H: the rest of r
///               is orthogonal to them. ||P r||^2 = g'(H'H)^-1 g, which the factor estimates
///   weighted    sqrt(2) ||(||x||^2 H'H + ||r||^2 I)^-1/2 g||: the smallest possible except for
///               sqrt(2) (Karlson & Walden 1997; Hallman 2020). It requires QR
/// Here they control refinement, computed in FP64 with the available factor. The bounds in a
/// certificate are proven elsewhere.
struct LeastSquaresError {
  double value = 1;  ///< the smallest of the bounds
  Measure measure = Measure::residual;
};

/// g, x: n elements; square: ||r||^2; projected: a bound on ||P r||^2, or 0; norm: ||H||_F.
LeastSquaresError least_squares_error(std::int64_t n, const double* g, const double* x,
                                      double square, double projected, double norm);

/// Current solutions, n x columns; g and squares belong to x and come from the true residual.
struct LeastSquaresState {
  MatrixView<double> x, g;
  std::vector<double> squares;
  std::vector<Sums> sums;  ///< how g and squares of each column were summed
  std::vector<LeastSquaresError> error;
  /// Whether the factor gives a bound on ||P r||, see NormalRequest::inverse.
  std::vector<bool> projects;
};

struct NormalRequest {
  double goal = 0x1p-53;       ///< a column that has reached it is done
  double tolerance = 0x1p-50;  ///< a column below it that no longer improves stops
  double norm = 1;             ///< ||H||_F
  /// ||M^-1||. With E = M - H'H, ||E|| ||M^-1|| < 1/8 implies that g'M^-1 g is a bound on 7/8 of
  /// ||P r||^2. ||E|| is estimated as twice the largest ||E p|| / ||p|| over all directions p. 0:
  /// the factor is known to be good enough.
  double inverse = 0;
  int iterations = 1000;  ///< maximum for each column
  Sums sums = Sums::fp64;
  /// Summation in a pass that is expected to be the last: FP64 sums prove nothing, and another pass
  /// would have to follow.
  Sums last_sums = Sums::fp64;
  double first_error = 1;  ///< expected error after the first step from x = 0
  /// Measure the error of a column by the next correction, ||M^-1 g|| / ||x||, not by the change of
  /// H.
  bool corrections = false;
  /// Called after each iteration with the largest error of the running columns; false stops.
  std::function<bool(int iterations, double error)> go_on;
};

/// Conjugate gradients on the normal equations that use true residuals only. Each iteration first
/// takes a trial step along p with the previous step length and computes the residual there from A
/// and b, in the one pass over A that an iteration costs. The difference of the residuals gives H'H
/// p, hence the right step length and, by linearity, the residual and the preconditioned residual
/// at the right point. So every iterate is certified as soon as it is computed; plain CG needs
/// another pass for that, and one more whenever its recurrence has drifted from the true residual.
///
/// On entry 'state' holds g and squares of its x, on return those of the best x found. Workspace: 6
/// n x columns plus the operator's.
Outcome normal_cg(NormalProduct& h, Preconditioner& m, const RightHandSides& right,
                  LeastSquaresState& state, const NormalRequest& request);

/// Computes the errors of the x in 'state', with the projection bound where state.projects is set.
void measure(Preconditioner& m, double norm, LeastSquaresState& state);

}  // namespace stepwell::refine
