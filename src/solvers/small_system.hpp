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
#include "solvers/scaled.hpp"
#include "solvers/verdict.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::solvers {

/// A small matrix H = diag(row) A diag(col) with a factor in FP64 as one block. What a call does
/// beside the factorization must not show at n = 50, where that takes ten microseconds.
class SmallSystem {
 public:
  /// 'batch': right-hand sides that are solved for together, most.
  SmallSystem(MatrixView<const double> a, factor::Scale scale, std::int64_t batch, Certificate& c);
  virtual ~SmallSystem() = default;

  /// False: there is no factor, and the certificate says why.
  virtual bool factor() = 0;

  std::int64_t batch() const { return batch_; }
  /// At most a batch of right-hand sides. b is read before x is written.
  void solve(MatrixView<const double> b, MatrixView<double> x, ColumnCertificate* columns);
  /// Says so in the certificate if A is no longer what was loaded.
  void check_unchanged();

  /// Bytes of memory that it works in.
  static std::int64_t bytes(std::int64_t n, std::int64_t batch);

 protected:
  /// v <- the factor's solution of H y = v.
  virtual void substitute(MatrixView<double> v) = 0;
  /// Products with the matrix that is solved with.
  virtual refine::Product& product() = 0;

  /// Vectors that it works in: kVectors groups of a batch.
  static constexpr std::int64_t kVectors = 6;
  MatrixView<double> vectors(std::int64_t group, std::int64_t count) const {
    return view(memory_.data() + ld_ * n_ + group * n_ * batch_, n_, count);
  }
  /// Loads A, scaled, into the factor's block, and notes what was read. Sums of rows and columns
  /// are added to, unless they are null.
  void load(kernels::Shape shape, double* row_sums, double* col_sums, kernels::Scan& scan);
  /// False, and the certificate says where, if the scan found what is not finite.
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
  /// Right-hand sides on their way, in the scale of H.
  struct Batch {
    MatrixView<double> b, y, r;
    std::vector<Measured> measured;
    ColumnCertificate* columns;
  };
  /// Corrects some columns of y. 'first': they are zero, and r is b.
  void correct(Batch& batch, std::vector<std::int64_t> live, refine::Sums sums, bool first);
  /// The residuals of x, one column for each of 'which', into r.
  void residuals(const Batch& batch, const std::vector<std::int64_t>& which,
                 MatrixView<const double> x, MatrixView<double> r, refine::Sums sums);
  Measured measure(const Batch& batch, std::int64_t c, const double* y, const double* r,
                   refine::Sums sums) const;
  /// Decides what residuals in FP64 have left open.
  void settle(Batch& batch);
  void measure_exactly(Batch& batch, const std::vector<std::int64_t>& which);

  std::optional<refine::ScaledOperator> scaled_;
};

/// How many right-hand sides of so many are solved for together.
std::int64_t small_batch(std::int64_t columns);

/// A certificate with nothing in it, and all of a small solve but for the factor.
Certificate blank_certificate(std::int64_t n, std::int64_t columns, Structure structure,
                              const SolveOptions& options);
void solve_small(SmallSystem& system, MatrixView<const double> b, MatrixView<double> x,
                 const SolveOptions& options, core::Clock::time_point start, Certificate& c);

}  // namespace stepwell::solvers
