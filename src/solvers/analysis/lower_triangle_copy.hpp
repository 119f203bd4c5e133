// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/buffer.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::solvers {

/// A symmetric matrix that is given by its lower triangle: A itself or, where the options say
/// 'upper', a copy of its transpose, with both triangles if they are to be compared.
class LowerTriangleCopy {
 public:
  LowerTriangleCopy(MatrixView<const double> a, const SolveOptions& options);

  MatrixView<const double> view() const { return view_; }
  /// Converts a certificate of the copy to one of A: swaps row and column, and adds the memory of
  /// the copy.
  Certificate in_callers_terms(Certificate c) const;
  /// Bytes of the copy; 0 if none is made.
  static std::int64_t bytes(std::int64_t n, const SolveOptions& options);

 private:
  MatrixView<const double> view_;
  core::Buffer<double> copy_;
};

}  // namespace stepwell::solvers
