// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "stepwell/certificate.hpp"
#include "stepwell/context.hpp"
#include "stepwell/export.hpp"
#include "stepwell/map.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/refiner.hpp"
#include "stepwell/view.hpp"

namespace stepwell {

/// What A is taken for.
enum class Structure : unsigned char {
  automatic,  ///< Cholesky where A is symmetric with a positive diagonal, LU where that fails
  spd,        ///< symmetric positive definite: one triangle is read
  general     ///< any square matrix
};

struct SolveOptions {
  /// Precision map of the factor; none: the plan starts at the rung it expects to be the fastest.
  std::optional<PrecisionMap> map;
  /// None: cg for symmetric positive definite matrices, fgmres for general ones.
  std::optional<Refiner> refiner;
  /// Go on at the next rung when one is not good enough, up to FP64. Off: what was reached comes
  /// back, with an outcome that says whether it meets the tolerance.
  bool climb = true;
  double tolerance = 0;  ///< of the backward error; 0: sqrt(n) 2^-53, LAPACK's for mixed solvers
  int iterations = 0;    ///< of each column at a rung, most; 0: while cheaper than the next rung
  Format working = Format::fp64;  ///< precision of x and of the refiner's vectors: fp64 or fp32
  bool exact_residual = false;    ///< residuals and products in double-double
  /// Of a symmetric matrix: the one that is read. 'upper' takes a copy of A, 8 n^2 bytes. Not for
  /// Structure::automatic, which reads both, nor general matrices.
  Triangle triangle = Triangle::lower;
  bool check_symmetry = false;  ///< read the other triangle too, and compare; spd only
  bool transposed = false;      ///< solve A' X = B; of a symmetric A that changes nothing
  bool condition = false;       ///< estimate the condition number, bound the forward error
  bool prove = false;           ///< prove the backward error
  std::int64_t tile = 0;        ///< as FactorOptions
  Scaling scaling = Scaling::powers_of_two;  ///< this and the next two: of Cholesky
  double theta = 0.1;
  double shift = 0;
  Pivoting pivoting = Pivoting::partial;  ///< this and the next: of LU
  std::uint64_t seed = 1;
  Context* context = nullptr;    ///< null: the shared one, with as many workers as allowed
  Progress* progress = nullptr;  ///< null: nobody watches
};

/// What the cost model says before work starts. It depends on the sizes, the options and the
/// instruction set alone, not on the number of threads: so do the bits of x.
struct Plan {
  std::string map;             ///< of the first factor
  std::string refiner;         ///< "direct": FP64 from the start
  int iterations = 0;          ///< expected at the first rung, of a friendly matrix
  double seconds = 0;          ///< expected, when the first rung suffices
  std::int64_t bytes = 0;      ///< of memory beside A, b and x at the first rung
  std::int64_t top_bytes = 0;  ///< the most it may take, wherever A makes it start and end
};
STEPWELL_API Plan plan_spd(std::int64_t n, std::int64_t columns, const SolveOptions& options = {});
STEPWELL_API Plan plan_general(std::int64_t n, std::int64_t columns,
                               const SolveOptions& options = {});

/// Solves A X = B. A: n x n, symmetric positive definite; its triangle of the options is read and
/// nothing is written. B: n x columns. X: n x columns; it may be B itself (the same view), any
/// other overlap with A or B is refused. X is written only when the outcome is 'converged',
/// 'not_converged' (then with the best approximation found, if there was a factor) or 'overflow'
/// (then with infinities where FP64 ends).
///
/// The factor is made at a low-precision rung and refined; when a rung is not good enough the next
/// is tried, the last is FP64 throughout. Numerical failures are in the certificate; it throws
/// Error for misuse (invalid_argument), lack of memory (out_of_memory, too_large) and a forked
/// child (unsupported).
///
/// Cost: n^3/3 products at the rung and about 6 n^2 bytes an iteration. Memory: plan_spd().bytes.
STEPWELL_API Certificate solve_spd(MatrixView<const double> a, MatrixView<const double> b,
                                   MatrixView<double> x, const SolveOptions& options = {});

/// Solves A X = B, or A' X = B with options.transposed. A: n x n, any matrix; all of it is read and
/// nothing is written. B, X and errors as solve_spd().
///
/// The factor is LU with partial pivoting of the equilibrated matrix, made at a low-precision rung
/// and refined; when a rung is not good enough the next is tried. The last is LAPACK's dgetrf, and
/// a matrix is called singular only where that finds a pivot that is zero.
///
/// Cost: 2n^3/3 products at the rung and about 10 n^2 bytes an iteration. Memory:
/// plan_general().bytes.
STEPWELL_API Certificate solve_general(MatrixView<const double> a, MatrixView<const double> b,
                                       MatrixView<double> x, const SolveOptions& options = {});

/// Solves A X = B as solve_spd() or as solve_general(). Structure::automatic reads all of A: where
/// it is symmetric to the bits with a positive diagonal, Cholesky is tried first, and LU where A
/// turns out not to be positive definite: certificate.structure says which it was. A refiner that
/// only Cholesky can have, cg or ir(cg), is fgmres or ir(gmres) for LU then.
STEPWELL_API Certificate solve(MatrixView<const double> a, MatrixView<const double> b,
                               MatrixView<double> x, const SolveOptions& options = {},
                               Structure structure = Structure::automatic);

/// A factored once, for systems that come later. A stays the caller's: it must live and stay as it
/// is as long as the solver, and so must the options' context and progress. Not for several threads
/// at once; it holds no threads between calls.
class STEPWELL_API Solver {
 public:
  /// Checks its arguments and starts nothing.
  explicit Solver(MatrixView<const double> a, const SolveOptions& options = {},
                  Structure structure = Structure::automatic);
  ~Solver();
  Solver(Solver&& other) noexcept;
  Solver& operator=(Solver&& other) noexcept;

  std::int64_t order() const;
  /// What A is solved as: 'automatic' until that has been found out.
  Structure structure() const;
  /// Factors A at the plan's rung, or options.map, unless there is a factor. Outcome 'converged':
  /// there is one to solve with; otherwise why there is none.
  const Certificate& factor();
  /// As solve(), with the factor that is there. The first one, if factor() was not called, takes
  /// the fastest way, which may be one without a factor. When a solve has to climb, the better
  /// factor stays for those that follow.
  Certificate solve(MatrixView<const double> b, MatrixView<double> x);
  /// A' X = B, whatever options.transposed says. One factor solves with A and with A'.
  Certificate solve_transposed(MatrixView<const double> b, MatrixView<double> x);
  /// An estimate of ||A^-1|| in the infinity norm, or of A^-T (so A^-1's in the 1-norm); a lower
  /// bound, within a factor of three as a rule; NaN: unknown. Makes the factor unless there is one.
  /// Cost: about six solves, at the first call; up to n = 512 an inverse.
  double inverse_norm(bool transposed = false);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stepwell
