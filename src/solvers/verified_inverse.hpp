// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "refine/operators/operator.hpp"
#include "solvers/inverse_norm.hpp"
#include "solvers/scaled.hpp"

namespace stepwell::solvers {

/// The inverse of a small matrix, and a bound on its error: what it says of A is proven, not
/// estimated. With X close to H^-1 and rho >= ||I - H X||_inf below 1,
///   |H^-1 - X| v <= rho / (1 - rho) max(v) |X| 1   for every v >= 0,
/// because H^-1 = X (I - E)^-1 with E = I - H X.
class VerifiedInverse {
 public:
  /// Orders that it is for: it takes some hundredths of a second there, 5 n^3 flop.
  static constexpr std::int64_t kUpTo = 512;
  /// That it works in.
  static constexpr std::int64_t bytes(std::int64_t n) { return 5 * 8 * n * n; }

  /// Of H = diag(row) A diag(col), which is seen through its products alone.
  VerifiedInverse(refine::ScaledOperator& h, const Exponents& exponents);

  /// ||A^-1||_inf times 2^-exponents.largest(), proven to be within a factor of three if it is
  /// tight.
  InverseNorm norm() const { return norm_; }

  /// ||x - A^-1 b|| / ||x|| at most, infinity norms in the caller's scale, of a y in the scale of H
  /// with the residual r, computed in double-double. NaN: nothing is known below 1.
  double forward_error(const double* b, const double* y, const double* r) const;

 private:
  /// rho, for E with errors of gamma (|I| + |H||X|).
  double residual_norm(MatrixView<const double> h, MatrixView<const double> e, double gamma) const;
  void find_sums();
  void find_norm(refine::Operator& h);
  double from_below(refine::Operator& h, std::int64_t row) const;
  MatrixView<double> x() const { return view(memory_.data(), n_, n_); }

  std::int64_t n_;
  const Exponents& exponents_;
  core::Buffer<double> memory_;  ///< X
  std::vector<double> sums_;     ///< |X| 1
  double rho_;
  double h_norm_ = 0;  ///< ||H||_inf
  double lost_ = 0;    ///< by underflow in an element of a residual
  double doubt_;       ///< of a residual in double-double, see ScaledOperator::residual_doubt()
  InverseNorm norm_;
};

}  // namespace stepwell::solvers
