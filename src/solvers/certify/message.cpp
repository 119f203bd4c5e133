// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>

#include "solvers/systems/square_solver.hpp"

namespace stepwell {

const char* to_string(Structure structure) {
  switch (structure) {
    case Structure::automatic:
      return "automatic";
    case Structure::spd:
      return "spd";
    case Structure::general:
      return "general";
    case Structure::least_squares:
      break;
  }
  return "least squares";
}

std::string map_text(const Method& method) {
  switch (method.factorization) {
    case Factorization::none:
      return method.refiner ? "none" : "";
    case Factorization::qr:
      return "qr";
    case Factorization::cholesky:
    case Factorization::lu:
      break;
  }
  return to_string(method.map);
}

std::string refiner_text(const Method& method) {
  return method.refiner ? std::string(to_string(*method.refiner)) : "";
}

const char* to_string(SolveOutcome outcome) {
  switch (outcome) {
    case SolveOutcome::converged:
      return "converged";
    case SolveOutcome::not_converged:
      return "not converged";
    case SolveOutcome::not_positive_definite:
      return "not positive definite";
    case SolveOutcome::singular:
      return "singular";
    case SolveOutcome::rank_deficient:
      return "rank deficient";
    case SolveOutcome::non_finite:
      return "non-finite element";
    case SolveOutcome::asymmetric:
      return "asymmetric";
    case SolveOutcome::overflow:
      return "overflow";
    case SolveOutcome::cancelled:
      return "cancelled";
    case SolveOutcome::changed:
      return "changed";
    case SolveOutcome::not_attempted:
      break;
  }
  return "not attempted";
}

const char* to_string(Measure measure) {
  switch (measure) {
    case Measure::normwise:
      return "normwise";
    case Measure::residual:
      return "residual";
    case Measure::gradient:
      return "gradient";
    case Measure::projection:
      return "projection";
    case Measure::weighted:
      return "weighted";
    case Measure::projected:
      break;
  }
  return "projected";
}

namespace solvers {
namespace {

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

std::string place(const Certificate& c) {
  return "(" + std::to_string(c.row) + ", " + std::to_string(c.col) + ")";
}

/// Lists the first few columns, as in "3, 7 and 9".
std::string list_of(const std::vector<std::int64_t>& columns) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (std::size_t k = 0; k < std::min(columns.size(), kMost); ++k) {
    const bool last = k + 1 == columns.size();
    text += (k == 0 ? "" : last ? " and " : ", ") + std::to_string(columns[k]);
  }
  if (columns.size() <= kMost) return text;
  return text + " and " + std::to_string(columns.size() - kMost) + " more";
}

/// Which columns have zero coefficients.
std::string dependent_columns(const Certificate& c) {
  if (c.dependent.size() == 1) {
    return "column " + list_of(c.dependent) +
           " (counted from 0) is a linear combination of the others, and its coefficient is set to "
           "zero";
  }
  return "columns " + list_of(c.dependent) +
         " (counted from 0) are linear combinations of the others, and their coefficients are set "
         "to zero";
}

}  // namespace

void explain(Certificate& c) {
  switch (c.outcome) {
    case SolveOutcome::converged:
      c.reason.clear();
      return;
    case SolveOutcome::cancelled:
      c.reason = "the caller cancelled the solve";
      return;
    case SolveOutcome::not_converged:
      if (c.pivot >= 0) {
        c.reason = "the factorization broke down at pivot " + std::to_string(c.pivot) +
                   " at rung " + map_text(c.method) + ", and climbing was not allowed";
        return;
      }
      if (!c.rungs.empty() && !c.rungs.back().factored) {
        c.reason = c.rungs.back().reason + " at rung " + map_text(c.method) +
                   ", and climbing was not allowed";
        return;
      }
      c.reason =
          "the backward error " + number(c.backward_error) + " is above the tolerance " +
          number(c.tolerance) +
          (c.rungs.empty() || c.rungs.back().reason.empty()
               ? ""
               : " at rung " + map_text(c.rungs.back().method) + ": " + c.rungs.back().reason);
      return;
    case SolveOutcome::not_positive_definite:
      c.reason = "the matrix is not positive definite: pivot " + std::to_string(c.pivot) +
                 " (counted from 0) is " + number(c.pivot_value) +
                 (c.rungs.empty()
                      ? ", a diagonal element that is not positive"
                      : " of a scaled diagonal near 1; row " + std::to_string(c.pivot) +
                            " depends on those before it to working accuracy (a duplicate point or "
                            "variable?); remove it or add to the diagonal");
      return;
    case SolveOutcome::singular:
      if (c.pivot == 0) {
        c.reason = "the matrix is singular: column 0 (counted from 0) has only zeros";
        return;
      }
      c.reason = "the matrix is singular: pivot " + std::to_string(c.pivot) +
                 " (counted from 0) of LAPACK's LU is zero; column " + std::to_string(c.pivot) +
                 " depends on those before it (a column of zeros, a duplicate equation, an unknown "
                 "that occurs in no equation?); remove it";
      return;
    case SolveOutcome::rank_deficient:
      if (c.minimum_norm) {
        c.reason = "A has the rank " + std::to_string(c.rank) +
                   " in FP64: x is the minimiser of least norm, but not the only one";
        return;
      }
      c.reason = "the columns of A depend on each other: " +
                 (c.rank >= 0 ? "rank " + std::to_string(c.rank) + " in FP64; "
                              : std::string("this rung can't determine the rank; ")) +
                 dependent_columns(c) +
                 "; x is a minimiser, but not the only one; remove columns, or use ridge";
      return;
    case SolveOutcome::non_finite:
      c.reason = std::string(c.in_b ? "b" : "A") + " has an infinity or a NaN at " + place(c) +
                 " (counted from 0)";
      return;
    case SolveOutcome::asymmetric:
      c.reason = "A is not symmetric: it differs from its transpose at " + place(c) +
                 " (counted from 0) by more than rounding; only the lower triangle would be used";
      return;
    case SolveOutcome::changed:
      c.reason = std::string(c.in_b ? "b" : "A") +
                 " was modified during the solve, in the block at " + place(c) +
                 " (counted from 0): x belongs to neither version; look for another thread that "
                 "writes to it, or for faulty memory, and solve again";
      return;
    case SolveOutcome::not_attempted:
      c.reason = "nothing was computed";
      return;
    case SolveOutcome::overflow:
      c.reason = "the solution is larger than FP64 can hold; scale A up or b down";
      return;
  }
}

}  // namespace solvers
}  // namespace stepwell
