// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "refine/operators/operator.hpp"
#include "solvers/analysis/scaled.hpp"
#include "stepwell/lu.hpp"

namespace stepwell::solvers {

/// The power of two by which a matrix with this largest element is multiplied before LAPACK factors
/// it: 1 except near the ends of FP64's range, where elimination would overflow or lose digits.
double lapack_power(double max_abs);

/// LAPACK's LU of A times a power of two: its pivots are those of dgesv. It is dgetrf's itself
/// below order 256, where it is the last resort after factor::dense_lu, which has other rounding
/// errors; then factor::dense_lu, or factor::residue_lu where that is faster. Where these find a
/// zero pivot, dgetrf decides.
class LapackFactor {
 public:
  LapackFactor(engine::ThreadPool& pool, MatrixView<const double> a, double max_abs);

  /// The outcome is ok, or singular with the index (from 0) of the first pivot that is zero.
  const FactorReport& report() const { return report_; }
  int exponent() const { return exponent_; }  ///< of the power of two by which A is multiplied
  LogDet log_det() const;
  /// B <- A^-1 B, or A^-T B, times 2^-exponent, on one core.
  void solve(bool transposed, MatrixView<double> b) const;
  /// The same on the threads of a pool, with exact sums: faster if solves_exactly(b.cols).
  void solve_exactly(engine::ThreadPool& pool, bool transposed, MatrixView<double> b) const;
  bool solves_exactly(std::int64_t columns) const;

  /// Bytes of the factor, and of those with the workspace of its computation.
  static std::int64_t bytes(std::int64_t n);
  static std::int64_t peak_bytes(std::int64_t n, int threads);

 private:
  std::int64_t n_;
  int exponent_;
  bool exact_ = false;  ///< made by residue_lu(), and good for solves with exact sums
  core::Buffer<double> lu_;
  std::vector<int> pivots_;
  FactorReport report_;
};

/// A LapackFactor as a preconditioner of H = diag(row) A diag(col), or of diag(row) A' diag(col).
class LapackPreconditioner : public refine::Preconditioner {
 public:
  LapackPreconditioner(engine::ThreadPool& pool, const LapackFactor& factor, Exponents exponents,
                       bool transposed)
      : pool_(pool), factor_(factor), exponents_(std::move(exponents)), transposed_(transposed) {}
  void apply(MatrixView<const double> r, MatrixView<double> z) override;

 private:
  /// z = diag(1 / row) r, with a largest element of about 1 times the power of two returned.
  int scale(const double* r, double* z) const;
  /// z <- diag(1 / col) z times two to this power.
  void scale_back(int power, double* z) const;

  engine::ThreadPool& pool_;
  const LapackFactor& factor_;
  Exponents exponents_;
  bool transposed_;
};

}  // namespace stepwell::solvers
