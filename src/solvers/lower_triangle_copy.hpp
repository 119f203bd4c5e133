// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/buffer.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::solvers {

/// A symmetric matrix by its lower triangle: as it is, or where the options say 'upper' a copy of
/// its transpose, with both triangles if they are to be compared.
class LowerTriangleCopy {
 public:
  LowerTriangleCopy(MatrixView<const double> a, const SolveOptions& options);

  MatrixView<const double> view() const { return view_; }
  /// Rows and columns as the caller has them, and the memory of the copy.
  Certificate in_callers_terms(Certificate c) const;
  /// What a copy takes.
  static std::int64_t bytes(std::int64_t n, const SolveOptions& options);

 private:
  MatrixView<const double> view_;
  core::Buffer<double> copy_;
};

}  // namespace stepwell::solvers
