// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "refine/operators/operator.hpp"
#include "solvers/analysis/scaled.hpp"
#include "solvers/certify/inverse_norm.hpp"

namespace stepwell::solvers {

/// The inverse of a small matrix and a bound on its error: what follows from them is proven, not
/// estimated. With X close to H^-1 and rho >= ||I - H X||_inf below 1,
///   |H^-1 - X| v <= rho / (1 - rho) max(v) |X| 1   for every v >= 0,
/// because H^-1 = X (I - E)^-1 with E = I - H X.
class VerifiedInverse {
 public:
  /// The largest order for which it is used: 5 n^3 flop take some hundredths of a second there.
  static constexpr std::int64_t kUpTo = 512;
  /// Bytes of memory that it works in.
  static constexpr std::int64_t bytes(std::int64_t n) { return 5 * 8 * n * n; }

  /// Inverts H = diag(row) A diag(col), which is accessed only through its products.
  VerifiedInverse(refine::ScaledOperator& h, const Exponents& exponents);

  /// ||A^-1||_inf times 2^-exponents.largest(), proven to be within a factor of three if it is
  /// tight.
  InverseNorm norm() const { return norm_; }

  /// An upper bound on ||x - A^-1 b|| / ||x||, infinity norms in the caller's scale, for a y in the
  /// scale of H whose residual r was computed in double-double. NaN if no bound below 1 is known.
  double forward_error(const double* b, const double* y, const double* r) const;

 private:
  /// rho, for an E with errors of at most gamma (|I| + |H||X|).
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
  double lost_ = 0;    ///< bound on the loss by underflow in an element of a residual
  double doubt_;       ///< ScaledOperator::residual_error_bound() in double-double
  InverseNorm norm_;
};

}  // namespace stepwell::solvers
