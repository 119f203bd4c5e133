// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attack/matrices/matrix.hpp"
#include "kernels/quad.hpp"

/// The true errors of an x. Residuals are summed with 64 bits first, in a range where nothing over-
/// or underflows; where that can't decide, with 113 bits, which takes thirty times as long.
namespace stepwell::attack {

using test::Quad;

/// A square matrix, or its transpose, whose solutions are verified.
class SquareOracle {
 public:
  SquareOracle(const Matrix& a, bool transposed);

  std::int64_t order() const { return a_.rows; }
  /// b - A x
  template <class T>
  std::vector<T> residual(const double* b, const std::vector<T>& x) const;
  long double norm() const { return norm_; }
  const Matrix& matrix() const { return a_; }
  bool transposed() const { return transposed_; }

 private:
  const Matrix& a_;
  bool transposed_;
  long double norm_ = 0;  ///< ||A|| in the infinity norm
};

/// The backward error ||b - A x|| / (||A|| ||x|| + ||b||) of one column, infinity norms.
class ColumnTruth {
 public:
  ColumnTruth(const SquareOracle& oracle, const double* b, const double* x);

  /// Whether the true backward error is above 'limit'. It is infinite if x is not finite; a limit
  /// that is NaN is always exceeded.
  bool above(double limit);
  /// The backward error to the accuracy reached so far.
  double value() const { return static_cast<double>(error_); }

 private:
  template <class T>
  void measure(long double unit);

  const SquareOracle& oracle_;
  const double* b_;
  const double* x_;
  long double error_ = 0;
  long double doubt_ = 0;  ///< the true error differs by at most this much
  bool exact_ = false;
};

/// The true solution, for the forward error of x: by refinement with 113 bits from an FP64 factor;
/// where that does not converge, by LU with 113 bits if n is small.
class SolutionOracle {
 public:
  explicit SolutionOracle(const SquareOracle& oracle);

  /// ||x - A^-1 b|| / ||x|| in infinity norms, less its uncertainty; nullopt: not known.
  std::optional<double> forward_error(const double* b, const double* x) const;
  /// ||A|| ||A^-1|| in the infinity norm, to a few digits; nullopt: not known.
  std::optional<double> condition() const;

 private:
  std::optional<std::vector<Quad>> refined(const double* b, const double* x) const;
  /// 'doubt': the largest possible error of an element.
  std::optional<std::vector<Quad>> eliminated(const double* b, Quad& doubt) const;
  /// Solves with the factor; r and the result are in A's original scale.
  std::vector<Quad> correction(const std::vector<Quad>& r) const;

  const SquareOracle& oracle_;
  std::vector<int> row_power_, column_power_;  ///< A = 2^row S 2^column
  std::vector<double> factor_;                 ///< LU of S
  std::vector<int> pivots_;
  bool usable_ = false;
  bool regular_ = false;  ///< well enough conditioned for refinement to find the solution
};

}  // namespace stepwell::attack
