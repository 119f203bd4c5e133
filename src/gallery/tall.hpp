// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "engine/threads/thread_pool.hpp"
#include "gallery/basis.hpp"
#include "stepwell/view.hpp"

/// Test matrices with more rows than columns, for least squares. They are reproducible: the same
/// arguments give the same elements everywhere, for any number of threads.
namespace stepwell::gallery {

struct TallRecipe {
  double condition = 10;   ///< largest / smallest singular value, at least 1
  bool one_small = false;  ///< all singular values are equal except one; otherwise their logarithms
                           ///< are evenly spaced
  std::uint64_t seed = 1;
};

/// A <- Q1 [D; 0] Q2', m x n with m >= n, with singular values from 1 to 1 / condition. Throws
/// Error(invalid_argument) for an invalid recipe or view. Cost: m n log m.
void fill_tall(MatrixView<double> a, const TallRecipe& recipe, engine::ThreadPool& pool);

/// A least squares problem with the A of fill_tall() and a known solution: b = A x + r with
/// elements of x in [-1, 1) and r orthogonal to the columns of A, ||r|| = residual ||A x||. Because
/// A is rounded, its exact solution differs from x by a relative error of about
/// (1 + residual condition) condition 2^-53. Writes X, n x columns, and B, m x columns. With m = n,
/// r is zero.
void fill_problem(MatrixView<const double> a, const TallRecipe& recipe, double residual,
                  MatrixView<double> x, MatrixView<double> b, engine::ThreadPool& pool);

/// Rows of a matrix that is never stored as a whole: random rows times D Q2'. Its singular values
/// are sqrt(m) times those of the recipe within a factor of 1 +- sqrt(n / m), so that with many
/// rows its condition number is about that of the recipe.
class TallRows {
 public:
  /// Throws Error(invalid_argument).
  TallRows(std::int64_t cols, const TallRecipe& recipe);

  std::int64_t cols() const { return basis_.order(); }
  /// Writes rows [first, first + count), one after the other. A row does not depend on how the
  /// matrix is divided into calls. Cost: n log n per row.
  void fill(std::int64_t first, std::int64_t count, double* out) const;

 private:
  Basis basis_;
  std::vector<double> sizes_;  ///< D
  std::uint64_t seed_;
};

}  // namespace stepwell::gallery
