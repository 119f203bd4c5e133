// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "refine/operators/normal_product.hpp"
#include "refine/refine.hpp"

/// Refinement of least squares problems in the scale of H = A diag(power), see NormalProduct.
namespace stepwell::refine {

/// Bounds on the smallest change of H for which x is the exact answer, relative to its Frobenius
/// norm. With r = b - H x and g = H'r:
///   residual    dH = r x' / ||x||^2: then H x = b
///   gradient    dH = -r g' / ||r||^2: then r is orthogonal to H (Stewart 1977)
///   projection  dH = P r x' / ||x||^2, P on the columns of H: what is left of r is orthogonal to
///               them. ||P r||^2 = g'(H'H)^-1 g, of which the factor gives an estimate
///   weighted    sqrt(2) ||(||x||^2 H'H + ||r||^2 I)^-1/2 g||: the smallest there is, but for
///               sqrt(2) (Karlson & Walden 1997; Hallman 2020). It takes QR
/// Here they steer refinement, as FP64 computes them and with the factor there is. What a
/// certificate says is proven elsewhere.
enum class Measure : unsigned char { residual, gradient, projection, weighted };
const char* to_string(Measure measure);

struct LeastSquaresError {
  double value = 1;  ///< the smallest of them
  Measure measure = Measure::residual;
};

/// g, x: n numbers; square: ||r||^2; projected: a bound on ||P r||^2, 0: none; norm: ||H||_F.
LeastSquaresError least_squares_error(std::int64_t n, const double* g, const double* x,
                                      double square, double projected, double norm);

/// Solutions under way, n x columns; g and squares are those of x, by the true residual.
struct LeastSquaresState {
  MatrixView<double> x, g;
  std::vector<double> squares;
  std::vector<Sums> sums;  ///< that g and squares of each column were summed in
  std::vector<LeastSquaresError> error;
  /// Whether the factor gives a bound on ||P r||, see NormalRequest::inverse.
  std::vector<bool> projects;
};

struct NormalRequest {
  double goal = 0x1p-53;       ///< a column that has reached it is done
  double tolerance = 0x1p-50;  ///< one below it that gains no more is left alone
  double norm = 1;             ///< ||H||_F
  /// ||M^-1||. With E = M - H'H, ||E|| ||M^-1|| < 1/8 makes g'M^-1 g a bound on 7/8 of ||P r||^2;
  /// ||E p|| / ||p|| is seen for all directions p, of which twice the largest is taken for ||E||.
  /// 0: the factor is known to be good enough.
  double inverse = 0;
  int iterations = 1000;  ///< of each column, most
  Sums sums = Sums::fp64;
  /// Of a pass that is expected to be the last: FP64's sums prove nothing, and would have to be
  /// followed by others.
  Sums last_sums = Sums::fp64;
  double first_error = 1;  ///< expected after the first step from x = 0
  /// The error of a column is ||M^-1 g|| / ||x||, the next correction, and not the change of H.
  bool corrections = false;
  /// Asked after each iteration with the largest error of the columns that run; false stops.
  std::function<bool(int iterations, double error)> go_on;
};

/// Conjugate gradients on the normal equations that see nothing but true residuals. The step along
/// p is taken before its length is known, with that of the last one: the residual there is computed
/// from A and b in the one pass that an iteration costs, H'H p follows from the difference, then
/// the right length and, as all of it is linear, the residual and its preconditioned form at the
/// right place. So every iterate is certified as it is found; plain CG needs a pass more for that,
/// and again whenever its recurrence has drifted away from the truth.
///
/// 'state' comes with the g and squares of its x, and leaves with those of the best x found.
/// Workspace: 6 n x columns and the operator's.
Outcome normal_cg(NormalProduct& h, Preconditioner& m, const RightHandSides& right,
                  LeastSquaresState& state, const NormalRequest& request);

/// The errors of the x that a state holds, with what is known of the factor.
void measure(Preconditioner& m, double norm, LeastSquaresState& state);

}  // namespace stepwell::refine
