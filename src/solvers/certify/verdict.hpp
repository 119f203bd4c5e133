// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/certificate.hpp"

/// The only place that decides on 'converged'. A backward error is computed from a residual that is
/// itself rounded; a verdict is passed only if it holds for every value that the true error may
/// have.
namespace stepwell::solvers {

/// A backward error and a bound on the error of its computation.
struct Measured {
  double error = 1;  ///< as computed; NaN if it could not be computed
  double doubt = 0;  ///< the true error differs from it by at most this much

  /// Upper and lower bound on the true error. A NaN propagates.
  double most() const { return (error + doubt) * (1 + 0x1p-50); }
  double least() const { return (error - doubt) * (1 - 0x1p-50); }
};

/// The one whose true error may be larger; a NaN stays.
Measured worst(const Measured& a, const Measured& b);

enum class Verdict : unsigned char {
  met,     ///< the true error is at most the tolerance
  missed,  ///< the true error is above the tolerance, or NaN
  open     ///< the residual is too coarse to tell: compute it again in double-double
};

Verdict judge(const Measured& measured, double tolerance);

/// The outcome in a column's certificate. 'open' is not good enough for 'converged'.
SolveOutcome outcome_of(bool finite, const Measured& measured, double tolerance);

}  // namespace stepwell::solvers
