// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stepwell/context.hpp"
#include "stepwell/export.hpp"
#include "stepwell/map.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/times.hpp"
#include "stepwell/view.hpp"

namespace stepwell {

/// How a matrix is scaled before it is narrowed: H = D^-1 A D^-1.
enum class Scaling : unsigned char {
  powers_of_two,  ///< D_i = sqrt(a_ii) rounded to a power of two: scaling rounds nothing
  unit_diagonal,  ///< D_i = sqrt(a_ii), as Higham & Pranesh: H has a unit diagonal
  none
};

/// How lu() keeps its pivots away from zero.
enum class Pivoting : unsigned char {
  partial,   ///< columns are exchanged: each row's largest element is its pivot
  butterfly  ///< none are: A is mixed by two random butterfly transformations before, which takes
             ///< 8 n^2 bytes more. For many nodes, where exchanges cost more than flops
};

struct FactorOptions {
  PrecisionMap map;  ///< which rung each tile uses
  /// Order of a tile, a multiple of 32; 0: 512, or n where that is less; for lu() 256 below n =
  /// 4096
  std::int64_t tile = 0;
  Scaling scaling = Scaling::powers_of_two;
  double theta = 0.1;  ///< fp16 only: the share of its range that the scaled matrix may take
  double shift = 0;    ///< c of the first attempt: the diagonal is multiplied by 1 + c u
  /// Eliminate rows that lie far apart in A first: the first block columns then see all of it,
  /// which graded maps need of points that are sorted. Not with an adaptive map.
  bool spread = false;
  bool escalate = true;  ///< after a breakdown: round toward zero, then a larger shift, then fp64
  Pivoting pivoting = Pivoting::partial;  ///< of lu()
  std::uint64_t seed = 1;                 ///< of the butterflies
  Context* context = nullptr;             ///< null: the shared one, with as many workers as allowed
  Progress* progress = nullptr;           ///< null: nobody watches
};

enum class FactorOutcome : unsigned char {
  ok,
  not_positive_definite,  ///< a pivot failed in fp64, and LAPACK's dpotrf fails too
  singular,               ///< lu() at fp64: all that is left of a row is zero
  breakdown,   ///< a pivot failed at the map's rungs, and what came after was not allowed
  non_finite,  ///< A has an infinity or a NaN, at (row, col)
  cancelled
};
STEPWELL_API const char* to_string(FactorOutcome outcome);

/// One attempt to factor: what was tried and where it ended. A second one at fp64 is dpotrf's.
struct RecoveryStep {
  std::string map;
  double shift = 0;          ///< c
  bool toward_zero = false;  ///< how L was rounded
  std::int64_t pivot = -1;   ///< the global index of the failing pivot, from 0; -1: none
  double pivot_value = 0;    ///< of the scaled matrix; what should have been positive
  double seconds = 0;
};

/// What a factorization did. Plain data; times and memory are those of the last attempt.
struct FactorReport {
  FactorOutcome outcome = FactorOutcome::ok;
  std::int64_t pivot = -1;  ///< the failing pivot's index in A, from 0
  double pivot_value = 0;   ///< of the scaled matrix
  std::int64_t row = -1;    ///< non_finite: the first one in column order, lower triangle
  std::int64_t col = -1;
  std::string map;  ///< the one that L was made with
  std::int64_t tile = 0;
  std::array<std::int64_t, all_rungs.size()> tiles{};  ///< how many tiles each rung has
  Scaling scaling = Scaling::powers_of_two;
  double mu = 1;             ///< the factor that keeps fp16 in its range, a power of two
  double shift = 0;          ///< c: L L' = mu (H + c u diag(H)) but for rounding
  double unit_roundoff = 0;  ///< u: of the coarsest rung in the map; eps of an adaptive one
  bool toward_zero = false;
  std::vector<RecoveryStep> attempts;
  double growth = 0;            ///< lu(): the largest element of a factor by that of the scaled A
  double norm = 0;              ///< ||A||_F; of cholesky()
  double max_abs = 0;           ///< of the elements of A
  std::int64_t bytes = 0;       ///< of L
  std::int64_t peak_bytes = 0;  ///< of L and all memory the call worked in
  std::int64_t sent_bytes = 0;  ///< over ranks: by all of them, in all attempts
  std::int64_t resumed_columns = 0;  ///< over ranks: block columns that came from a checkpoint
  std::int64_t checkpoints = 0;      ///< that were written
  double checkpoint_seconds = 0;     ///< which took so long
  PhaseTimes times;
};

struct FactorData;

/// The Cholesky factor of a symmetric positive definite matrix, in tiles of mixed precision.
class STEPWELL_API Factor {
 public:
  Factor();
  ~Factor();
  Factor(Factor&& other) noexcept;
  Factor& operator=(Factor&& other) noexcept;

  std::int64_t order() const;
  const FactorReport& report() const;
  bool ok() const { return report().outcome == FactorOutcome::ok; }

  /// The order of elimination: row k of L belongs to row permutation()[k] of A. Empty: as A is.
  const std::vector<std::int64_t>& permutation() const;

  /// Writes L in FP64 and in the scale of A, so that A = L L' (P A P' = L L' with a permutation)
  /// but for rounding and shift; the strict upper triangle of l becomes zero. l: n x n. Throws
  /// Error(invalid_argument) if it is not, or if the factorization did not succeed. Cost n^2.
  void copy_to(MatrixView<double> l) const;

  /// The inside, for the library itself.
  const FactorData& data() const { return *data_; }
  explicit Factor(std::unique_ptr<FactorData> data);

 private:
  std::unique_ptr<FactorData> data_;
};

/// Factors A = L L' (n x n, symmetric positive definite; only the lower triangle is read, once per
/// attempt, and never written). A numerical failure is in the report; it throws Error only for
/// misuse (invalid_argument), a matrix that does not fit (out_of_memory, too_large) and a forked
/// child (unsupported).
///
/// Cost n^3/3 products at the map's rungs. Memory: L (n^2 bytes at bf16; 2 n^2 at bf16x2, fp16 and
/// fp32; 3 n^2 at bf16x3; 4 n^2 at fp64) and about two block columns: report().peak_bytes, or
/// factor_bytes() beforehand; 12 n^2 to ask LAPACK's dpotrf before 'not positive definite' is said.
STEPWELL_API Factor cholesky(MatrixView<const double> a, const FactorOptions& options = {});

/// The peak_bytes that cholesky() will report for a matrix of order n and these options; for an
/// adaptive map, which depends on A, at most that.
STEPWELL_API std::int64_t factor_bytes(std::int64_t n, const FactorOptions& options = {});

}  // namespace stepwell
