// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/adapt/row_major.hpp"

#include <new>
#include <utility>

#include "core/buffer.hpp"
#include "core/checks.hpp"
#include "core/memory_error.hpp"
#include "solvers/systems/square_solver.hpp"

namespace stepwell {
namespace {

/// A certificate about A' in terms of A.
Certificate in_terms_of_rows(Certificate c) {
  if (!c.in_b) std::swap(c.row, c.col);
  if (c.outcome == SolveOutcome::converged) return c;
  solvers::explain(c);
  if (c.outcome == SolveOutcome::singular) {
    c.reason = "the matrix is singular: pivot " + std::to_string(c.pivot) +
               " (counted from 0) of LAPACK's LU of A' is zero; row " + std::to_string(c.pivot) +
               " depends on those before it; remove it";
  }
  return c;
}

/// An m x n matrix stored by columns.
core::Buffer<double> by_columns(RowMajorView<const double> a) {
  core::Buffer<double> out(core::size_product(a.rows, a.cols, "vectors"), core::Contents::any);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.cols; ++j) out.data()[i + j * a.rows] = a(i, j);
  }
  return out;
}

}  // namespace

Certificate solve(RowMajorView<const double> a, MatrixView<const double> b, MatrixView<double> x,
                  const SolveOptions& options, Structure structure) {
  return in_terms_of_rows(solve(a.transpose(), b, x, for_transpose(options, structure), structure));
}

Certificate solve(RowMajorView<const double> a, RowMajorView<const double> b,
                  RowMajorView<double> x, const SolveOptions& options, Structure structure) try {
  core::require_view(b.data, b.cols, b.rows, b.ld, "solve: B by rows");
  core::require_view(x.data, x.cols, x.rows, x.ld, "solve: X by rows");
  const core::Buffer<double> right = by_columns(b);
  core::Buffer<double> left = by_columns(x);  // not every outcome writes X
  const MatrixView<double> found = view(left.data(), x.rows, x.cols);
  Certificate c =
      solve(a, view<const double>(right.data(), b.rows, b.cols), found, options, structure);
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t j = 0; j < x.cols; ++j) x(i, j) = found(i, j);
  }
  return c;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell
