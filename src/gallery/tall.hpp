// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "engine/thread_pool.hpp"
#include "gallery/basis.hpp"
#include "stepwell/view.hpp"

/// Matrices of more rows than columns, for least squares: the same numbers for the same arguments
/// everywhere, and for any number of threads.
namespace stepwell::gallery {

struct TallRecipe {
  double condition = 10;   ///< largest by smallest singular value, at least 1
  bool one_small = false;  ///< all singular values are equal but one; else their logarithms are
                           ///< evenly spaced
  std::uint64_t seed = 1;
};

/// A <- Q1 [D; 0] Q2', m x n with m >= n, singular values from 1 to 1 / condition. Costs
/// m n log m. Throws Error(invalid_argument) for a recipe or a view that makes no sense.
void fill_tall(MatrixView<double> a, const TallRecipe& recipe, engine::ThreadPool& pool);

/// A least squares problem with the A of fill_tall() whose answer is known: b = A x + r with
/// elements of x in [-1, 1) and r orthogonal to the columns of A, ||r|| = residual ||A x||. A
/// itself is rounded: its own answer is off by about (1 + residual condition) condition 2^-53 of
/// x. X: n x columns and B: m x columns are written. With m = n there is no r.
void fill_problem(MatrixView<const double> a, const TallRecipe& recipe, double residual,
                  MatrixView<double> x, MatrixView<double> b, engine::ThreadPool& pool);

/// Rows of a matrix that is never there as a whole: random rows times D Q2'. Its singular values
/// are sqrt(m) times those asked for within a factor 1 +- sqrt(n / m), so that with many rows its
/// condition number is about the one asked for.
class TallRows {
 public:
  /// Throws Error(invalid_argument).
  TallRows(std::int64_t cols, const TallRecipe& recipe);

  std::int64_t cols() const { return basis_.order(); }
  /// Rows [first, first + count), one after the other: the same for any cut. Costs n log n a row.
  void fill(std::int64_t first, std::int64_t count, double* out) const;

 private:
  Basis basis_;
  std::vector<double> sizes_;  ///< D
  std::uint64_t seed_;
};

}  // namespace stepwell::gallery
