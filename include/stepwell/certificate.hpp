// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwell/export.hpp"
#include "stepwell/factor.hpp"

namespace stepwell {

/// How a solve ended. Only 'converged' means that x is a solution.
enum class SolveOutcome : unsigned char {
  converged,              ///< every column meets the tolerance, and x is finite
  not_converged,          ///< a column does not, whatever was tried: see the columns
  not_positive_definite,  ///< in FP64, and for LAPACK's dpotrf: see 'pivot'
  singular,               ///< LAPACK's dgetrf finds a pivot that is zero: see 'pivot'
  rank_deficient,         ///< least squares: columns depend on others in FP64: see 'dependent'
  non_finite,             ///< A or b has an infinity or a NaN, at (row, col)
  asymmetric,             ///< check_symmetry: a_ij and a_ji differ at (row, col)
  overflow,               ///< x is larger than FP64 can hold
  cancelled,
  changed = 10,  ///< A or b was modified during the call, near (row, col): x is of no use
  not_attempted  ///< of a column: nothing was computed for it
};
STEPWELL_API const char* to_string(SolveOutcome outcome);

/// One right-hand side.
struct ColumnCertificate {
  SolveOutcome outcome = SolveOutcome::not_attempted;
  /// ||b - A x|| / (||A|| ||x|| + ||b||), infinity norms, from the caller's A and b and the x that
  /// was written, as computed. Of least squares the Frobenius norm's, see lstsq.hpp. 'converged'
  /// needs more: that the true one, whatever rounding in the residual hides, is at most the
  /// tolerance.
  double backward_error = 1;
  /// Of least squares: which bound 'backward_error' is, "residual" (||r|| / ||x||), "gradient"
  /// (||A'r|| / ||r||), "projection" (of r on A's columns, by the factor) or "weighted" (of both,
  /// Karlson & Walden's, by QR).
  std::string measure;
  double residual_norm = 0;  ///< ||b - A x||_2; of least squares
  /// The same with the residual in double-double and a bound on all rounding: what is proven.
  /// Zero unless asked for.
  double proven_backward_error = 0;
  /// A bound on ||x - A^-1 b|| / ||x||, infinity norms; proven up to n = 512, see docs/solve.md.
  /// NaN: none below 1 is known. Zero: the condition was not asked for.
  double forward_error = 0;
  int iterations = 0;           ///< products with A at the last rung
  std::vector<double> history;  ///< the refiner's estimate of the error after each, all rungs
};

/// One rung that was tried.
struct LadderStep {
  std::string map;      ///< "none": CG with the diagonal
  std::string refiner;  ///< "direct": no refinement was needed to meet the tolerance
  bool factored = true;
  int iterations = 0;  ///< of the slowest column
  double error = 1;    ///< of the worst column, at the end
  std::string reason;  ///< why it was left; empty: it was the last
  double seconds = 0;  ///< of the refinement, or of the factorization that failed
};

struct SolveTimes {
  double analysis = 0;  ///< looking at A
  double factor = 0;
  double refine = 0;
  double certify = 0;  ///< condition, proof
  double wall = 0;
};

/// What comes back with x. Plain data.
struct Certificate {
  SolveOutcome outcome = SolveOutcome::converged;
  std::string structure;      ///< "spd", "general" or "least squares": what A was solved as
  std::string reason;         ///< a sentence for people, when the outcome is not 'converged'
  double backward_error = 0;  ///< of the worst column
  double tolerance = 0;       ///< what it was compared with
  int iterations = 0;         ///< of the slowest column at the last rung
  std::string map;            ///< of the factor that x was found with; "none": no factor
  std::string refiner;
  double shift = 0;  ///< c of that factor
  std::vector<LadderStep> rungs;
  double norm = 0;          ///< ||A||_inf; of A' where that was solved with
  double condition = 0;     ///< ||A|| ||A^-1||_inf, from below; NaN: unknown; 0: not asked for
  std::int64_t pivot = -1;  ///< not_positive_definite, singular: the failing pivot, from 0
  double pivot_value = 0;   ///< of the scaled matrix
  std::int64_t row = -1;    ///< non_finite, asymmetric: where; changed: the block's first row
  std::int64_t col = -1;
  bool in_b = false;                    ///< non_finite, changed: in b
  std::int64_t rank = -1;               ///< of least squares; -1: the rung can't tell, see 'climb'
  std::vector<std::int64_t> dependent;  ///< rank_deficient: columns of A, from 0, ascending
  std::vector<ColumnCertificate> columns;
  FactorReport factor;  ///< of the last factor
  SolveTimes times;
  std::int64_t peak_bytes = 0;  ///< of all memory the call worked in, A, b and x not counted

  bool ok() const { return outcome == SolveOutcome::converged; }
};

}  // namespace stepwell
