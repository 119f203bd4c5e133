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

struct LuData;

/// The factors of a square matrix, A P' = G L', in tiles of mixed precision: G lower triangular, L
/// lower triangular with a unit diagonal, P an exchange of A's columns. It is the usual A' = P'L U
/// with U = G': A is stored by columns, and so the rows of A' are what moves as a whole.
class STEPWELL_API LuFactor {
 public:
  LuFactor();
  ~LuFactor();
  LuFactor(LuFactor&& other) noexcept;
  LuFactor& operator=(LuFactor&& other) noexcept;

  std::int64_t order() const;
  const FactorReport& report() const;
  bool ok() const { return report().outcome == FactorOutcome::ok; }

  /// Column k of A P' is column permutation()[k] of A.
  const std::vector<std::int64_t>& permutation() const;

  /// Writes G and L in FP64 and in the scale of A, so that A P' = G L' but for rounding; the strict
  /// upper triangles become zero. g, l: n x n. Throws Error(invalid_argument) if they are not, if
  /// the factorization did not succeed, or with butterflies. Cost 2 n^2.
  void copy_to(MatrixView<double> g, MatrixView<double> l) const;

  /// The inside, for the library itself.
  const LuData& data() const { return *data_; }
  explicit LuFactor(std::unique_ptr<LuData> data);
  friend STEPWELL_API LuFactor lu(MatrixView<const double> a, const FactorOptions& options);

 private:
  std::unique_ptr<LuData> data_;
};

/// Factors a square A (n x n; read twice or three times, never written), once, at options.map: one
/// rung, or graded. Block rows are factored in fp32 with partial pivoting, or in fp64 for that map;
/// everything else runs at the rung. A is equilibrated by powers of two before. Outcomes: ok,
/// breakdown (below fp64: a pivot is zero or something overflowed), singular (the same at fp64),
/// non_finite, cancelled. Of the options scaling, shift, spread and escalate do not apply. Throws
/// Error as cholesky() does.
///
/// Cost 2 n^3/3. Memory: G and L (2 n^2 bytes at bf16; 4 n^2 at bf16x2, fp16 and fp32; 6 n^2 at
/// bf16x3; 8 n^2 at fp64), about four block rows, and the inverted diagonal tiles:
/// report().peak_bytes, or lu_bytes() beforehand.
STEPWELL_API LuFactor lu(MatrixView<const double> a, const FactorOptions& options = {});

/// The peak_bytes that lu() will report for a matrix of order n and these options.
STEPWELL_API std::int64_t lu_bytes(std::int64_t n, const FactorOptions& options = {});

}  // namespace stepwell
