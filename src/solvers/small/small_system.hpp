// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/buffer.hpp"
#include "core/clock.hpp"
#include "factor/scaling.hpp"
#include "factor/setup.hpp"
#include "kernels/signatures.hpp"
#include "refine/operators/operator.hpp"
#include "solvers/analysis/scaled.hpp"
#include "solvers/certify/verdict.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::solvers {

/// A small matrix H = diag(row) A diag(col) with a factor in FP64 as one block. The overhead of a
/// call must be negligible at n = 50, where the factorization takes ten microseconds.
class SmallSystem {
 public:
  /// 'batch': maximum number of right-hand sides that are solved for together.
  SmallSystem(MatrixView<const double> a, factor::Scale scale, std::int64_t batch, Certificate& c);
  virtual ~SmallSystem() = default;

  /// Returns false if there is no factor; the certificate says why.
  virtual bool factor() = 0;

  std::int64_t batch() const { return batch_; }
  /// Solves for at most batch() right-hand sides. b is read before x is written.
  void solve(MatrixView<const double> b, MatrixView<double> x, ColumnCertificate* columns);
  /// Sets the certificate's outcome to 'changed' if A is no longer what was loaded.
  void check_unchanged();

  /// Bytes of memory that it works in.
  static std::int64_t bytes(std::int64_t n, std::int64_t batch);

 protected:
  /// v <- y, the solution of H y = v by the factor.
  virtual void substitute(MatrixView<double> v) = 0;
  /// Products with the unscaled matrix of the system: A or A'.
  virtual refine::Product& product() = 0;

  /// Number of groups of workspace vectors, each with batch() vectors.
  static constexpr std::int64_t kVectors = 6;
  MatrixView<double> vectors(std::int64_t group, std::int64_t count) const {
    return view(memory_.data() + ld_ * n_ + group * n_ * batch_, n_, count);
  }
  /// Loads A, scaled, into the factor's block, and keeps checksums of what was read. Adds the row
  /// and column sums of |A| to row_sums and col_sums, unless they are null.
  void load(kernels::Shape shape, double* row_sums, double* col_sums, kernels::Scan& scan);
  /// Returns false if the scan found a non-finite element; the certificate says where.
  bool all_finite(const kernels::Scan& scan);

  MatrixView<const double> a_;
  Certificate& c_;
  std::int64_t n_, ld_, batch_;
  core::Buffer<double> memory_;  ///< the factor, and the vectors
  MatrixView<double> block_;     ///< the factor
  factor::Scale scale_;
  Exponents exponents_;
  refine::Checksums checksums_;  ///< of what was loaded

 private:
  /// Right-hand sides and their current solutions and residuals, in the scale of H.
  struct Batch {
    MatrixView<double> b, y, r;
    std::vector<Measured> measured;
    ColumnCertificate* columns;
  };
  /// Corrects the columns 'live' of y. 'first': these columns are zero, and r is b.
  void correct(Batch& batch, std::vector<std::int64_t> live, refine::Sums sums, bool first);
  /// Computes the residuals r of x, whose columns belong to the right-hand sides 'which'.
  void residuals(const Batch& batch, const std::vector<std::int64_t>& which,
                 MatrixView<const double> x, MatrixView<double> r, refine::Sums sums);
  Measured measure(const Batch& batch, std::int64_t c, const double* y, const double* r,
                   refine::Sums sums) const;
  /// Decides the verdicts that residuals in FP64 have left open.
  void settle(Batch& batch);
  void measure_exactly(Batch& batch, const std::vector<std::int64_t>& which);

  std::optional<refine::ScaledOperator> scaled_;
};

/// How many of 'columns' right-hand sides are solved for together.
std::int64_t small_batch(std::int64_t columns);

/// A certificate without results.
Certificate blank_certificate(std::int64_t n, std::int64_t columns, Structure structure,
                              const SolveOptions& options);

/// Scans b, factors the matrix, solves for x and completes the certificate.
void solve_small(SmallSystem& system, MatrixView<const double> b, MatrixView<double> x,
                 const SolveOptions& options, core::Clock::time_point start, Certificate& c);

}  // namespace stepwell::solvers
