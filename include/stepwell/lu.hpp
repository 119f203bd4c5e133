// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stepwell/export.hpp"
#include "stepwell/factor.hpp"
#include "stepwell/view.hpp"

namespace stepwell {

struct Certificate;
struct LuData;
struct SolveOptions;

/// det A = sign exp(log).
struct LogDet {
  double log = 0;  ///< log |det A|
  int sign = 1;
};

/// The factors of a square matrix, A P' = G L', in tiles of mixed precision: G is lower triangular,
/// L is unit lower triangular, P permutes the columns of A. This is the usual A' = P'L U with
/// U = G': A is stored by columns, so that exchanging rows of A' moves contiguous memory.
class [[nodiscard]] STEPWELL_API LuFactor {
 public:
  LuFactor();
  ~LuFactor();
  LuFactor(LuFactor&& other) noexcept;
  LuFactor& operator=(LuFactor&& other) noexcept;

  [[nodiscard]] std::int64_t order() const;
  [[nodiscard]] const FactorReport& report() const;
  [[nodiscard]] bool ok() const { return report().outcome == FactorOutcome::ok; }

  /// Column k of A P' is column permutation()[k] of A.
  const std::vector<std::int64_t>& permutation() const;

  /// Writes G and L in FP64 and in the scale of A, so that A P' = G L' up to rounding, and sets
  /// their strict upper triangles to zero. g and l must be n x n. Throws Error(invalid_argument)
  /// for other shapes, if the factorization did not succeed, and with Pivoting::butterfly. Cost:
  /// 2 n^2.
  void copy_to(MatrixView<double> g, MatrixView<double> l) const;

  /// The determinant of A. Throws Error(unsupported) unless the map is fp64 and the pivoting is
  /// partial. Cost: n.
  [[nodiscard]] LogDet log_det() const;

  /// Solves A X = B, or A' X = B with options.transposed, with these factors, refined with A to
  /// full accuracy: solve_general() in solve.hpp, without its ladder. As Factor::solve().
  Certificate solve(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> x,
                    const SolveOptions& options) const;
  Certificate solve(MatrixView<const double> a, MatrixView<const double> b,
                    MatrixView<double> x) const;

 private:
  friend struct LuData;
  explicit LuFactor(std::unique_ptr<LuData> data);

  std::unique_ptr<LuData> data_;
};

/// Factors a square matrix in a single attempt at options.map. A is first equilibrated by powers of
/// two. Block rows are factored in fp32 with partial pivoting (in fp64 for the map fp64);
/// everything else runs at the rung.
/// Entry: a is n x n; it is read two or three times and never written. options.map is one rung, or
/// graded. options.cholesky, spread and climb are not used.
/// Exit: the factors, or one of the outcomes breakdown (below fp64: a pivot is zero or an element
/// overflowed), singular (the same at fp64), non_finite and cancelled. Throws Error as cholesky()
/// does.
/// Cost: 2 n^3/3 flop.
/// Memory: G and L (2 n^2 bytes at bf16; 4 n^2 at bf16x2, fp16 and fp32; 6 n^2 at bf16x3; 8 n^2 at
/// fp64), about four block rows, and the inverted diagonal tiles; lu_bytes() predicts the sum,
/// report().peak_bytes reports it.
STEPWELL_API LuFactor lu(MatrixView<const double> a, const FactorOptions& options = {});

/// The peak_bytes that lu() will report for a matrix of order n with these options.
[[nodiscard]] STEPWELL_API std::int64_t lu_bytes(std::int64_t n, const FactorOptions& options = {});

}  // namespace stepwell
