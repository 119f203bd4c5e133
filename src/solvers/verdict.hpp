// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/certificate.hpp"

/// The one place that says 'converged'. A backward error is computed from a residual that is itself
/// rounded; a verdict holds only if it holds for every value that the true error may have.
namespace stepwell::solvers {

/// A backward error and a bound on what computing it may have hidden.
struct Measured {
  double error = 1;  ///< as computed; NaN where it could not be
  double doubt = 0;  ///< the true error differs from it by at most this much

  /// The largest and the smallest that the true error may be; NaN stays.
  double most() const { return (error + doubt) * (1 + 0x1p-50); }
  double least() const { return (error - doubt) * (1 - 0x1p-50); }
};

enum class Verdict : unsigned char {
  met,     ///< the true error is at most the tolerance
  missed,  ///< it is not, or it is not a number
  open     ///< the residual is too coarse to tell: compute it again in double-double
};

Verdict judge(const Measured& measured, double tolerance);

/// What a column's certificate says of an x. 'open' is not good enough for 'converged'.
SolveOutcome outcome_of(bool finite, const Measured& measured, double tolerance);

}  // namespace stepwell::solvers
