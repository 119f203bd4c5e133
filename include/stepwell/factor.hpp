// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stepwell/export.hpp"
#include "stepwell/map.hpp"
#include "stepwell/options.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/view.hpp"

namespace stepwell {

/// What cholesky() adds to the diagonal of a matrix that is not positive definite in FP64, such as
/// a covariance of points that are close together: start times the mean of the diagonal, and after
/// every further failure 'factor' times as much.
struct Jitter {
  double start = 0x1p-40;  ///< the first amount, relative to the mean of the diagonal
  double factor = 10;
  int tries = 0;  ///< 0: none, and the failure is reported
};

/// Options of cholesky() and lu().
struct FactorOptions {
  PrecisionMap map;  ///< rung of each tile
  /// Order of a tile, a multiple of 32; 0: 512, or 256 up to
  /// n = 3072 (lu(): below 4096), or n if that is smaller.
  std::int64_t tile = 0;
  double theta = 0.1;  ///< fp16 only: fraction of the fp16 range that the scaled matrix may use
  /// cholesky() only: eliminate rows that are far apart in A first, so that the first block columns
  /// sample the whole matrix. Graded maps need this if the points are sorted. Not allowed with an
  /// adaptive map.
  bool spread = false;
  /// cholesky() of a matrix in memory only: the triangle of A that is read. The report's row and
  /// col are in it.
  Triangle triangle = Triangle::lower;
  /// cholesky() at int8x14, and at fp64 where that is computed at int8x14: L takes 8 bytes an
  /// element while it is computed instead of 14, and is converted in every product: 1.2 to 1.8
  /// times as long (n = 8192). The same L to the bit. Refused at int8x15; other maps ignore it.
  bool low_memory = false;
  /// cholesky() only: after a breakdown, round toward zero, then use a larger shift, then fp64.
  bool climb = true;
  /// cholesky() only. The factor is then that of another matrix: report().jitter says how much was
  /// added.
  Jitter jitter;
  CholeskyOptions cholesky;
  LuOptions lu;
  EngineOptions engine;
};

/// How a factorization ended.
enum class FactorOutcome : unsigned char {
  ok,
  not_positive_definite,  ///< a pivot failed in fp64, and LAPACK's dpotrf fails too
  singular,               ///< lu() at fp64: a pivot is zero or an element overflowed
  breakdown,   ///< a pivot failed at the rungs of the map, and escalation was not allowed
  non_finite,  ///< A has an infinity or a NaN, at (row, col)
  cancelled,
  corrupted  ///< int8x15: residues were wrong, and again in a second attempt: see its WrongSums
};
STEPWELL_API const char* to_string(FactorOutcome outcome);

/// int8x15: what the redundant residue contradicted. Memory or an arithmetic unit is at fault.
struct WrongSums {
  std::int64_t count = 0;              ///< groups of four elements with a wrong one; 0: none
  std::int64_t row = -1, column = -1;  ///< the tile, counted in tiles
  std::string task;                    ///< the task that found them: "diagonal", "solve", "restore"
  int worker = -1;                     ///< the worker that ran it, from 0
};

/// One attempt to factor, with its parameters and result. A second attempt at fp64 is LAPACK's
/// dpotrf.
struct RecoveryStep {
  PrecisionMap map;
  double shift = 0;          ///< c
  bool toward_zero = false;  ///< L was rounded toward zero, not to nearest
  std::int64_t pivot = -1;   ///< the global index of the failing pivot, from 0; -1: none
  double pivot_value = 0;    ///< its value in the scaled matrix, not positive or not finite
  double seconds = 0;
  WrongSums wrong_sums = {};
  double jitter = 0;  ///< added to each diagonal element of A
};

/// The result of a factorization. Plain data; times and memory are those of the last attempt.
struct [[nodiscard]] FactorReport {
  FactorOutcome outcome = FactorOutcome::ok;
  std::int64_t pivot = -1;  ///< index in A of the failing pivot, from 0
  double pivot_value = 0;   ///< its value in the scaled matrix
  std::int64_t row = -1;    ///< non_finite: the first one in column order, lower triangle
  std::int64_t col = -1;    ///< its column
  PrecisionMap map{{}};     ///< precision map that L was computed with; no layers: no factor
  std::int64_t tile = 0;
  std::array<std::int64_t, all_rungs.size()> tiles{};  ///< number of tiles at each rung
  Scaling scaling = Scaling::powers_of_two;
  double mu = 1;             ///< factor that keeps fp16 in its range, a power of two
  double shift = 0;          ///< c: L L' = mu (H + c u diag(H)) up to rounding
  double unit_roundoff = 0;  ///< u of the coarsest rung in the map, or eps of an adaptive map
  bool toward_zero = false;
  double jitter = 0;  ///< added to each diagonal element of A: the factor is that of A + jitter I
  std::vector<RecoveryStep> attempts;
  double growth = 0;            ///< lu(): largest element of the factors / that of the scaled A
  double norm = 0;              ///< cholesky(): ||A||_F
  double max_abs = 0;           ///< cholesky(): max |a_ij|
  std::int64_t bytes = 0;       ///< memory of the factor
  std::int64_t peak_bytes = 0;  ///< peak memory of the call, including the factor
  std::int64_t sent_bytes = 0;  ///< distributed: bytes sent by all ranks in all attempts
  std::int64_t resumed_columns = 0;  ///< distributed: block columns restored from a checkpoint
  std::int64_t checkpoints = 0;      ///< number of checkpoints written
  double checkpoint_seconds = 0;     ///< time spent writing them
  PhaseTimes times;
};

struct Certificate;
struct FactorData;
struct SolveOptions;

/// The Cholesky factor of a symmetric positive definite matrix, in tiles of mixed precision.
class [[nodiscard]] STEPWELL_API Factor {
 public:
  Factor();
  ~Factor();
  Factor(Factor&& other) noexcept;
  Factor& operator=(Factor&& other) noexcept;

  [[nodiscard]] std::int64_t order() const;
  [[nodiscard]] const FactorReport& report() const;
  [[nodiscard]] bool ok() const { return report().outcome == FactorOutcome::ok; }

  /// The order of elimination: row k of L belongs to row permutation()[k] of A. Empty: no
  /// permutation.
  const std::vector<std::int64_t>& permutation() const;

  /// Writes L in FP64 and in the scale of A, so that A = L L' (P A P' = L L' with a permutation)
  /// up to rounding and the shift, and sets the strict upper triangle of l to zero. l must be
  /// n x n. Throws Error(invalid_argument) for another shape, or if the factorization did not
  /// succeed. Cost: n^2.
  void copy_to(MatrixView<double> l) const;
  /// The same, but writes one triangle only, as LAPACK's dpotrf: L in the lower one, or L' in the
  /// upper one. The rest of l is not touched.
  void copy_to(MatrixView<double> l, Triangle triangle) const;

  // The following functions need every tile at fp64, which the maps fp64, int8x14 and int8x15 give.
  // They compute what LAPACK computes from its factor, as accurately, without refinement and
  // certificate. They throw Error(unsupported) for a coarser factor, and Error(invalid_argument)
  // without a factor or for another shape. P is the permutation(), usually none.

  /// log det A. Cost: n.
  [[nodiscard]] double log_det() const;

  /// A bound on the rounding error of log_det(), which is the difference from log det A if A is
  /// what was factored: six standard deviations of a sum of independent rounding errors, from an
  /// estimate of the norm of A^-1. Infinity: A is too close to a singular matrix for a statement.
  /// Cost: 32 solves. Workspace: 32 n.
  [[nodiscard]] double log_det_error(const EngineOptions& with = {}) const;

  /// B <- A^-1 B, as LAPACK's dpotrs: for many columns that need no certificate. B: n x columns.
  /// Cost: 2 n^2 columns. Workspace: none, or with exact products, for 1,024 columns and more, 16
  /// KiB n and 40 MB a thread.
  void solve_unrefined(MatrixView<double> b, const EngineOptions& with = {}) const;

  /// B <- L^-1 P B with P A P' = L L': half of a solve. B'B is then B'A^-1 B of the B before. Cost:
  /// n^2 columns. Workspace: as solve_unrefined().
  void half_solve(MatrixView<double> b, const EngineOptions& with = {}) const;

  /// b' A^-1 b of each column b of B, as sums of squares of its half solve: the part of a variance
  /// that observations explain. B is not changed. Cost: n^2 columns. Workspace: 16 KiB n, and that
  /// of solve_unrefined().
  [[nodiscard]] std::vector<double> quadratic_forms(MatrixView<const double> b,
                                                    const EngineOptions& with = {}) const;

  /// B <- P' L B: independent normal numbers become samples with covariance A. Cost: n^2 columns.
  /// Workspace: 8 KiB n.
  void multiply(MatrixView<double> b, const EngineOptions& with = {}) const;

  /// out <- A^-1, both triangles, as LAPACK's dpotri. out: n x n. Returns false if it was
  /// cancelled, with anything in out. Cost: 2 n^3 / 3. Workspace: 32 KiB n; with exact products 46
  /// KiB n and 28 MB a thread.
  [[nodiscard]] bool inverse(MatrixView<double> out, const EngineOptions& with = {}) const;

  /// The diagonal of A^-1, in the order of A, as sums of squares of columns of L^-1: without
  /// cancellation. Empty if it was cancelled. Cost: n^3 / 3. Workspace: 16 KiB n, and with exact
  /// products 20 MB a thread.
  [[nodiscard]] std::vector<double> inverse_diagonal(const EngineOptions& with = {}) const;

  /// trace(A^-1 S) for a symmetric S, of which only the lower triangle is read: derivatives of
  /// log det A. The inverse is computed in strips and not stored. NaN if it was cancelled. Cost: 2
  /// n^3 / 3. Workspace: as inverse_diagonal().
  [[nodiscard]] double trace_inverse_product(MatrixView<const double> s,
                                             const EngineOptions& with = {}) const;

  // The following functions change the factor to that of another matrix, to FP64 backward accuracy,
  // for a part of the cost of a new one. They need every tile at fp64, and no other call with the
  // factor at the same time. Either the change is made or the factor is as it was, also when they
  // throw: as the functions above, Error(invalid_argument) for elements that are not finite, and
  // Error(out_of_memory). Their bits do not depend on the number of threads. report() stays that of
  // cholesky(), except for the map, tiles and bytes.

  /// Appends k rows and columns to A. rows: k x (n + k), the new rows of the larger matrix, in its
  /// order; of their last k columns the lower triangle is read. Returns false, and changes nothing,
  /// if the larger matrix is not positive definite. Cost: n^2 k + n k^2 + k^3/3. Workspace: 24 (n +
  /// k) k bytes, and the last block row of L.
  [[nodiscard]] bool append(MatrixView<const double> rows, const EngineOptions& with = {});

  /// Drops these rows and columns of A; those that stay keep their order. 'rows' are different,
  /// from 0 to n - 1. Cost: 3 n^2 for each row; less if rows near the end are dropped, and none for
  /// the last ones. Workspace: a smaller factor, and 8 n bytes for each row.
  void drop(std::span<const std::int64_t> rows, const EngineOptions& with = {});

  /// A <- A + V V'. v: n x k, not changed. Cost: 3 n^2 k; more than a new factor's from k = n/9 on.
  /// Workspace: 8 n k bytes.
  void update(MatrixView<const double> v, const EngineOptions& with = {});

  /// A <- A - V V'. v: n x k, not changed. Returns false, and changes nothing, if the difference is
  /// not positive definite, or so close to it that rounding errors decide: an eigenvalue of I - V'
  /// A^-1 V is below (n + k) u. The accuracy is FP64's relative to the A before. Cost: 3 n^2 k + 3
  /// n k^2. Workspace: 40 n k bytes.
  [[nodiscard]] bool downdate(MatrixView<const double> v, const EngineOptions& with = {});

  /// Solves A X = B with this factor, refined with A to full accuracy: solve_spd() in solve.hpp,
  /// without its ladder. 'a' is the matrix that was factored, which the factor does not hold.
  /// Exit: X and the certificate as of solve_spd(); 'not_converged' if the factor is too coarse for
  /// A, or is that of another matrix. options.map, climb, tile and cholesky are not used. Throws
  /// Error(invalid_argument) if the factorization did not succeed, and as solve_spd() does. Several
  /// threads may solve with one factor at the same time.
  /// Cost: a pass over A and two over L per iteration. Workspace: a few vectors per column.
  Certificate solve(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> x,
                    const SolveOptions& options) const;
  Certificate solve(MatrixView<const double> a, MatrixView<const double> b,
                    MatrixView<double> x) const;

 private:
  friend struct FactorData;
  explicit Factor(std::unique_ptr<FactorData> data);

  std::unique_ptr<FactorData> data_;
};

/// Factors A = L L'.
/// Entry: a is n x n, symmetric positive definite. Only options.triangle of it is read, once per
/// attempt, and nothing is written. a may be the matrix that copy_to() writes later.
/// Exit: the factor, or the failure in its report. Throws Error only for misuse (invalid_argument)
/// and for a matrix that does not fit in memory (out_of_memory, too_large).
/// Cost: n^3/3 flop at the rungs of the map.
/// Memory: L (n^2 bytes at bf16; 2 n^2 at bf16x2, fp16 and fp32; 3 n^2 at bf16x3; 4 n^2 at fp64;
/// 7 n^2 at int8x14, 4 n^2 with low_memory) and about two block columns of workspace;
/// factor_bytes() predicts the sum, report().peak_bytes reports it. Before 'not positive definite'
/// is reported, LAPACK's dpotrf is tried with 12 n^2 bytes, and then options.jitter.
STEPWELL_API Factor cholesky(MatrixView<const double> a, const FactorOptions& options = {});

/// The factor A = L L' from an L that was computed elsewhere, such as by LAPACK: in the lower
/// triangle of l, or L' in the upper one. The other triangle is not read. Throws
/// Error(invalid_argument) for an element that is not finite, or a zero on the diagonal. Cost: n^2.
/// Memory: 4 n^2 bytes.
[[nodiscard]] STEPWELL_API Factor factor_from(MatrixView<const double> l,
                                              Triangle triangle = Triangle::lower);

struct InverseOptions {
  Triangle triangle = Triangle::lower;  ///< lower: of L; upper: of L'
  /// Exact sums at any order; otherwise from the order on where they are no slower, and FP64 below.
  bool exact = false;
  EngineOptions engine;
};

/// (L L')^-1 in place of L, as LAPACK's dpotri: a triangle of l has a factor that was computed
/// elsewhere, as for factor_from(), and then the same triangle of the inverse. The other triangle
/// is the same before and after the call, but not during it. The error of an element is of the
/// order of u ||x_i|| ||x_j||, where x are columns of L^-1, and that of L^-1. Returns false if it
/// was cancelled; the triangle is then undefined. Throws Error(invalid_argument) for an element
/// that is not finite, or a zero on the diagonal, and Error(out_of_memory) if the workspace does
/// not fit: l is unchanged. If memory ends in between, the triangle is filled with NaN. Cost: 2 n^3
/// / 3. Memory: 34 KiB n, 36 MB a thread, and 34 MB.
STEPWELL_API bool invert_factor(MatrixView<double> l, const InverseOptions& options = {});

/// The arithmetic of the map fp64 for an order n on this machine: int8x14 where that is faster, or
/// fp64.
[[nodiscard]] STEPWELL_API Rung fp64_rung(std::int64_t n);

/// The peak_bytes that cholesky() will report for a matrix of order n with these options; an upper
/// bound for an adaptive map, whose rungs depend on A.
[[nodiscard]] STEPWELL_API std::int64_t factor_bytes(std::int64_t n,
                                                     const FactorOptions& options = {});

}  // namespace stepwell
