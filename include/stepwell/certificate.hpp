// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwell/export.hpp"
#include "stepwell/factor.hpp"
#include "stepwell/map.hpp"
#include "stepwell/refiner.hpp"

namespace stepwell {

/// How A is treated.
enum class Structure : unsigned char {
  automatic,  ///< Cholesky if A is symmetric with a positive diagonal, LU otherwise or if it fails
  spd,        ///< symmetric positive definite: one triangle is read
  general,    ///< any square matrix
  least_squares  ///< in certificates only: see lstsq()
};
/// "automatic", "spd", "general" or "least squares".
STEPWELL_API const char* to_string(Structure structure);

/// The factorization that x was computed with.
enum class Factorization : unsigned char {
  none,      ///< CG with diagonal scaling
  cholesky,  ///< of A; least squares: of the Gram matrix
  lu,
  qr  ///< least squares: Householder QR in FP64
};

/// How x is computed. Plain data.
struct Method {
  Factorization factorization = Factorization::none;
  PrecisionMap map = {};           ///< precision map of the factor; unused without one
  std::optional<Refiner> refiner;  ///< none: nothing was refined
  friend bool operator==(const Method&, const Method&) = default;
};
/// Short texts for reports: the map, "none" or "qr"; the refiner. Empty if nothing was computed.
STEPWELL_API std::string map_text(const Method& method);
STEPWELL_API std::string refiner_text(const Method& method);

/// Which bound a backward error is. 'normwise' is Rigal & Gaches', in infinity norms; those up to
/// 'weighted' are for least squares, in the Frobenius norm, see lstsq.hpp.
enum class Measure : unsigned char {
  normwise,    ///< ||b - A x|| / (||A|| ||x|| + ||b||)
  residual,    ///< ||r|| / ||x||
  gradient,    ///< ||A'r|| / ||r||
  projection,  ///< by the projection of r onto the columns of A, computed with the factor
  weighted,    ///< a combination of the last two, Karlson & Walden's, by QR
  /// For many columns: an upper bound on 'normwise' from random projections of the residual, which
  /// is not one with a probability below 1e-17. options.prove computes the residuals instead.
  projected
};
STEPWELL_API const char* to_string(Measure measure);

/// How a solve ended. Only 'converged' means that x is a solution.
enum class SolveOutcome : unsigned char {
  converged,              ///< every column meets the tolerance, and x is finite
  not_converged,          ///< some column misses the tolerance at every rung tried: see 'columns'
  not_positive_definite,  ///< a pivot fails in FP64, and LAPACK's dpotrf fails: see 'pivot'
  singular,               ///< LAPACK's dgetrf finds a zero pivot: see 'pivot'
  rank_deficient,         ///< least squares: columns depend on others in FP64: see 'dependent'
  non_finite,             ///< A or b has an infinity or a NaN, at (row, col)
  asymmetric,             ///< check_symmetry: a_ij and a_ji differ at (row, col)
  overflow,               ///< x is larger than FP64 can hold
  cancelled,
  changed = 10,  ///< A or b was modified during the call, near (row, col): x is unusable
  not_attempted  ///< for a column: nothing was computed for it
};
STEPWELL_API const char* to_string(SolveOutcome outcome);

/// The certificate of one right-hand side.
struct ColumnCertificate {
  SolveOutcome outcome = SolveOutcome::not_attempted;
  /// The computed ||b - A x|| / (||A|| ||x|| + ||b||) in infinity norms, from the caller's A and b
  /// and the x that was written. For least squares it is defined in the Frobenius norm, see
  /// lstsq.hpp. 'converged' requires more: the true backward error, allowing for rounding in the
  /// computed residual, is at most the tolerance.
  double backward_error = 1;
  Measure measure = Measure::normwise;  ///< which bound backward_error is
  double residual_norm = 0;             ///< least squares: ||b - A x||_2
  /// The backward error with the residual computed in double-double and a bound on all rounding
  /// included: a proven upper bound. Zero unless options.prove was set.
  double proven_backward_error = 0;
  /// A bound on ||x - A^-1 b|| / ||x||, infinity norms; proven up to n = 512, see docs/solve.md.
  /// NaN: no bound below 1 is known. Zero: not computed, see options.condition.
  double forward_error = 0;
  int iterations = 0;           ///< products with A at the last rung
  std::vector<double> history;  ///< the refiner's error estimate after each iteration, all rungs
};

/// One rung that was tried.
struct LadderStep {
  Method method;
  bool factored = true;  ///< false: the factorization failed, and nothing was refined
  int iterations = 0;    ///< the largest number of iterations of a column
  double error = 1;      ///< the largest final error of a column
  std::string reason;    ///< why the solver climbed to the next rung; empty: this was the last rung
  double seconds = 0;    ///< time of the refinement, or of the factorization if that failed
};

/// Seconds of wall time in each part of a solve.
struct SolveTimes {
  double analysis = 0;  ///< analysis of A
  double factor = 0;
  double refine = 0;
  double certify = 0;  ///< condition number and proof
  double wall = 0;
};

/// The result of a solve: how it went and how accurate x is. Plain data.
struct [[nodiscard]] Certificate {
  SolveOutcome outcome = SolveOutcome::converged;
  Structure structure = Structure::automatic;  ///< how A was solved
  std::string reason;             ///< explanation for people if the outcome is not 'converged'
  double backward_error = 0;      ///< the largest of all columns
  double tolerance = 0;           ///< the tolerance that backward errors were compared with
  int iterations = 0;             ///< the largest number of iterations of a column at the last rung
  Method method;                  ///< how x was found
  double shift = 0;               ///< shift c of the factor
  std::vector<LadderStep> rungs;  ///< all rungs that were tried, in order
  double norm = 0;                ///< ||A||_inf, or of A' if A' X = B was solved
  double condition = 0;     ///< lower bound on ||A|| ||A^-1||_inf; NaN: unknown; 0: not computed
  std::int64_t pivot = -1;  ///< not_positive_definite, singular: the failing pivot, from 0
  double pivot_value = 0;   ///< its value in the scaled matrix
  std::int64_t row = -1;    ///< non_finite, asymmetric: row; changed: first row of the block
  std::int64_t col = -1;    ///< the column, likewise
  bool in_b = false;        ///< non_finite, changed: (row, col) is in b
  std::int64_t rank = -1;   ///< least squares; -1: unknown at this rung, see 'climb'
  std::vector<std::int64_t> dependent;  ///< rank_deficient: dependent columns, from 0, ascending
  bool minimum_norm = false;  ///< least squares: of all minimisers x is the one of least norm
  std::vector<ColumnCertificate> columns;
  FactorReport factor;  ///< report of the last factorization
  SolveTimes times;
  std::int64_t peak_bytes = 0;  ///< peak memory of the call, without A, b and x
  int threads = 1;              ///< number of threads that the call could use
  std::string threads_reason;   ///< what determined it, as in MachineReport; "small system"

  [[nodiscard]] bool ok() const { return outcome == SolveOutcome::converged; }
};

}  // namespace stepwell
