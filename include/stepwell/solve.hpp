// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stepwell/certificate.hpp"
#include "stepwell/export.hpp"
#include "stepwell/lu.hpp"
#include "stepwell/map.hpp"
#include "stepwell/options.hpp"
#include "stepwell/view.hpp"

namespace stepwell {

/// Options of the solves and of Solver.
struct SolveOptions {
  /// Precision map of the factor; none: the plan starts at the rung that it predicts to be fastest.
  std::optional<PrecisionMap> map;
  /// Climb to the next rung when one is not good enough, up to FP64. Off: the result of the first
  /// rung is returned, with an outcome that says whether it meets the tolerance.
  bool climb = true;
  double tolerance = 0;  ///< on the backward error; 0: sqrt(n) 2^-53, LAPACK's for mixed solvers
  /// The triangle of a symmetric matrix that is read. 'upper' makes a copy of A, 8 n^2 bytes. Not
  /// for Structure::automatic, which reads both triangles, nor for general matrices.
  Triangle triangle = Triangle::lower;
  bool check_symmetry = false;  ///< also read the other triangle and compare; spd only
  bool transposed = false;      ///< solve A' X = B; no effect if A is symmetric
  bool condition = false;       ///< estimate the condition number, bound the forward error
  bool prove = false;           ///< prove a bound on the backward error
  std::int64_t tile = 0;        ///< order of a tile, as in FactorOptions
  double theta = 0.1;           ///< fp16 only, as in FactorOptions
  CholeskyOptions cholesky;
  LuOptions lu;
  RefineOptions refine;
  EngineOptions engine;
};

/// The prediction of the cost model before a solve. It depends only on the sizes, the options and
/// the instruction set, not on the number of threads; so do the bits of x.
struct [[nodiscard]] Plan {
  Method method;               ///< of the first rung; refiner 'direct': FP64 from the start
  int iterations = 0;          ///< predicted, for a matrix that suits the first rung
  double seconds = 0;          ///< predicted time if the first rung suffices
  std::int64_t bytes = 0;      ///< memory at the first rung, in addition to A, b and x
  std::int64_t top_bytes = 0;  ///< the maximum over all rungs that the solve may use
};
/// The plans of solve_spd() and solve_general() for a matrix of order n and 'columns' right-hand
/// sides. They need no matrix. Throw Error for misuse.
STEPWELL_API Plan plan_spd(std::int64_t n, std::int64_t columns, const SolveOptions& options = {});
STEPWELL_API Plan plan_general(std::int64_t n, std::int64_t columns,
                               const SolveOptions& options = {});

/// Solves A X = B for a symmetric positive definite A. The factor is computed at a low-precision
/// rung and x is refined; when a rung is not good enough the next one is tried. The last rung is
/// FP64 throughout.
///
/// Entry: A is n x n; the triangle that the options select is read, and nothing is written. B and X
/// are n x columns; X may be B itself (the same view), any other overlap with A or B is an error.
///
/// Exit: the certificate, with the outcome also for numerical failures. X is written only if the
/// outcome is 'converged', 'not_converged' (the best approximation found, if there was a factor),
/// 'overflow' (with infinities where x exceeds FP64) or 'changed' (X is then unusable). Throws
/// Error for misuse (invalid_argument) and lack of memory (out_of_memory, too_large).
///
/// Cost: n^3/3 flop at the rung, and about 6 n^2 bytes read per iteration.
/// Workspace: plan_spd().bytes.
STEPWELL_API Certificate solve_spd(MatrixView<const double> a, MatrixView<const double> b,
                                   MatrixView<double> x, const SolveOptions& options = {});

/// Solves A X = B, or A' X = B with options.transposed, for a general A. The equilibrated matrix is
/// factored by LU with partial pivoting at a low-precision rung and x is refined; when a rung is
/// not good enough the next one is tried. The last rung is LAPACK's dgetrf, and the outcome is
/// 'singular' only if dgetrf finds a zero pivot.
///
/// Entry: A is n x n; all of it is read, and nothing is written. B, X, exit and errors as in
/// solve_spd().
///
/// Cost: 2n^3/3 flop at the rung, and about 10 n^2 bytes read per iteration.
/// Workspace: plan_general().bytes.
STEPWELL_API Certificate solve_general(MatrixView<const double> a, MatrixView<const double> b,
                                       MatrixView<double> x, const SolveOptions& options = {});

/// Solves A X = B by solve_spd() or solve_general(). Structure::automatic reads all of A: if A is
/// exactly symmetric with a positive diagonal, Cholesky is tried first, and LU if A turns out not
/// to be positive definite; otherwise LU is used. certificate.structure says which it was. The
/// refiners cg and ir(cg), which need a symmetric positive definite matrix, are replaced by fgmres
/// and ir(gmres) if LU is used.
STEPWELL_API Certificate solve(MatrixView<const double> a, MatrixView<const double> b,
                               MatrixView<double> x, const SolveOptions& options = {},
                               Structure structure = Structure::automatic);

/// A matrix that is factored once and solved with many times. The solver does not copy A: A must
/// stay valid and unchanged for the lifetime of the solver, and so must the context and progress of
/// the options. Only one thread at a time may use a solver; it holds no threads between calls.
class STEPWELL_API Solver {
 public:
  /// Checks its arguments; computes nothing yet.
  explicit Solver(MatrixView<const double> a, const SolveOptions& options = {},
                  Structure structure = Structure::automatic);
  ~Solver();
  Solver(Solver&& other) noexcept;
  Solver& operator=(Solver&& other) noexcept;

  [[nodiscard]] std::int64_t order() const;
  /// How A is solved: 'automatic' until that is determined.
  [[nodiscard]] Structure structure() const;
  /// Factors A at the rung of the plan, or with options.map, unless there is a factor already. The
  /// outcome 'converged' means that there is a factor to solve with; any other says why not.
  [[nodiscard]] const Certificate& factor();
  /// As the function solve(), with the existing factor. If factor() was not called, the first solve
  /// takes the fastest way, which may need no factor. When a solve climbs to a higher rung, the
  /// better factor is kept for later solves.
  Certificate solve(MatrixView<const double> b, MatrixView<double> x);
  /// Solves A' X = B regardless of options.transposed. One factor serves A and A'.
  Certificate solve_transposed(MatrixView<const double> b, MatrixView<double> x);
  /// An estimate of ||A^-1|| in the infinity norm, or with 'transposed' of ||A^-T|| (which is
  /// ||A^-1|| in the 1-norm): a lower bound, typically within a factor of three. NaN: unknown.
  /// Computes the factor unless there is one. Cost: about six solves at the first call; up to
  /// n = 512, an inverse.
  [[nodiscard]] double inverse_norm(bool transposed = false);
  /// The Cholesky factor of A at FP64 quality, for what else a factor is used for: log_det(),
  /// half_solve(), inverse() and more. It is the one that solves use if that is at fp64; if not, a
  /// second one, computed at the first call and kept. Check ok(): the second factorization may be
  /// cancelled, or fail where a coarser one with a shift did not. The reference is valid until the
  /// next call that factors. Throws Error(unsupported) if A is solved as a general matrix, and
  /// Error(invalid_argument) if there is no factor to solve with: factor() says why.
  [[nodiscard]] const Factor& cholesky_factor();
  /// The determinant of A, from cholesky_factor() or from LU; throws as that. An LU factor must be
  /// at fp64 (options.map; below n = 672 it always is), or it throws Error(unsupported). Cost: n,
  /// and the factorizations.
  [[nodiscard]] LogDet log_det();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stepwell
