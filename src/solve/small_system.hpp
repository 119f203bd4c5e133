// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/buffer.hpp"
#include "factor/call.hpp"
#include "factor/scaling.hpp"
#include "kernels/signatures.hpp"
#include "solve/scaled.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::driver {

/// A small matrix H = diag(row) A diag(col) with a factor in FP64 as one block. What a call does
/// beside the factorization must not show at n = 50, where that takes ten microseconds.
class SmallSystem {
 public:
  SmallSystem(MatrixView<const double> a, factor::Scale scale, Certificate& c);
  virtual ~SmallSystem() = default;

  /// False: there is no factor, and the certificate says why.
  virtual bool factor() = 0;

  /// One right-hand side. b is read before x is written.
  SolveOutcome solve(const double* b, double* x, ColumnCertificate& column);

  /// Bytes of memory that it works in.
  static std::int64_t bytes(std::int64_t n);

 protected:
  /// v <- the factor's solution of H y = v.
  virtual void substitute(double* v) const = 0;
  /// y += A x
  virtual void multiply(const double* x, double* y) const = 0;
  /// a_ij of the matrix that is solved with.
  virtual double element(std::int64_t i, std::int64_t j) const = 0;

  double* vector(std::int64_t k) const { return memory_.data() + ld_ * n_ + k * n_; }
  /// False, and the certificate says where, if the scan found what is not finite.
  bool all_finite(const kernels::Scan& scan);

  MatrixView<const double> a_;
  Certificate& c_;
  std::int64_t n_, ld_;
  core::Buffer<double> memory_;  ///< the factor, and five vectors
  MatrixView<double> block_;     ///< the factor
  factor::Scale scale_;
  Exponents exponents_;

 private:
  void residual(const double* b, const double* y, double* r) const;
  void exact_residual(const double* b, const double* y, double* r) const;
};

/// A certificate with nothing in it, and all of a small solve but for the factor.
Certificate blank_certificate(std::int64_t n, std::int64_t columns, Structure structure,
                              const SolveOptions& options);
void solve_small(SmallSystem& system, MatrixView<const double> b, MatrixView<double> x,
                 const SolveOptions& options, factor::Clock::time_point start, Certificate& c);

}  // namespace stepwell::driver
