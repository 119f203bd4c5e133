// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/certify/verdict.hpp"

#include <cmath>

namespace stepwell::solvers {

Measured worst(const Measured& a, const Measured& b) {
  return std::isnan(a.most()) || b.most() <= a.most() ? a : b;
}

Verdict judge(const Measured& measured, double tolerance) {
  if (measured.most() <= tolerance) return Verdict::met;
  if (measured.least() <= tolerance) return Verdict::open;
  return Verdict::missed;
}

SolveOutcome outcome_of(bool finite, const Measured& measured, double tolerance) {
  if (!finite) return SolveOutcome::overflow;
  return judge(measured, tolerance) == Verdict::met ? SolveOutcome::converged
                                                    : SolveOutcome::not_converged;
}

}  // namespace stepwell::solvers
