// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "refine/operators/operator.hpp"

namespace stepwell::refine {

/// Chooses the products of conjugate gradients that may read the fp32 copy of A. The errors of such
/// products do not slow the iteration down, but the residual that it updates drifts away from the
/// true one. The gap is estimated (van der Vorst & Ye, SIAM J. Sci. Comput. 22, 2000); where it is
/// too wide, the residual has to be computed again, with A itself.
///
/// The choices do not depend on whether there is a copy already, so that a second solve with the
/// same matrix has the same bits.
class ResidualGap {
 public:
  /// norm: the root mean square of the norms of A's columns, ||A||_F / sqrt(n), or more.
  explicit ResidualGap(double norm) : norm_(norm) {}

  /// Before each product: the norm of the residual, and the norm at which the iteration stops.
  void observe(double residual, double enough);
  /// Whether the gap is so wide that the residual has to be computed again.
  bool too_wide() const;
  /// The residual was computed again.
  void close() { gap_ = 0; }
  /// What the next product may read; its vector's contribution to the solution has about the norm
  /// 'step'.
  Reads next(double step);

 private:
  double norm_;
  bool copied_ = false;
  double gap_ = 0;
  double error_ = 0;     ///< of the last product, had it read the copy
  double residual_ = 0;  ///< as observed, with the rate at which it decreases
  double rate_ = 0;
  double enough_ = 0;
};

}  // namespace stepwell::refine
