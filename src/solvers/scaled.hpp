// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "solvers/verdict.hpp"
#include "stepwell/view.hpp"

/// Right-hand sides and solutions in the scale of H = diag(row) A diag(col): H y = diag(row) b 2^-e
/// with x = diag(col) y 2^e. All factors are powers of two, so that what is computed for (A, b) is
/// computed for every (sA, tb), and a residual of the one is a residual of the other.
namespace stepwell::solvers {

/// The powers of two of A.
struct Exponents {
  std::vector<int> row, col;
  std::vector<double> inverse_row, power_col;  ///< 2^-row and 2^col
  Exponents(const std::vector<double>& row_powers, const std::vector<double>& col_powers);

  /// The largest exponent of a row and that of a column: A^-1 = diag(col) H^-1 diag(row) is about
  /// 2^largest() in size, and may be beyond FP64's range.
  int largest() const;
  /// diag(row) and diag(col) with 1 as their largest.
  std::vector<double> row_shares() const { return shares(row); }
  std::vector<double> col_shares() const { return shares(col); }

 private:
  static std::vector<double> shares(const std::vector<int>& exponents);
};

/// The largest |b_i| etc. of one column in the caller's scale times 2^-e.
struct Sizes {
  double b = 0;
  double x = 0;
  double r = 0;
};

/// One right-hand side in the scale of H, of which e is the power of two.
class ScaledColumn {
 public:
  /// Fills 'out'. Zero and what is not finite: e = 0.
  ScaledColumn(const Exponents& exponents, const double* b, double* out);

  int exponent() const { return exponent_; }
  /// Writes x. False if a number overflowed.
  bool write(const Exponents& exponents, const double* y, double* x) const;
  /// Whether x would be finite.
  bool fits(const Exponents& exponents, const double* y) const;
  /// Reads x back into y. True if all numbers are what they were: none was rounded when x was
  /// written.
  bool read(const Exponents& exponents, const double* x, double* y) const;

 private:
  std::int64_t n_;
  int exponent_ = 0;
};

/// The caller's sizes from vectors in the scale of H, times 2^-e; of y + d if d is not null.
Sizes sizes_of(const Exponents& exponents, const double* b, const double* y, const double* r,
               const double* d = nullptr);

/// ||r|| / (||A|| ||x|| + ||b||), where the product may over- or underflow. NaN if one of them is.
double backward_error(double norm, const Sizes& sizes);

/// The same with what may be wrong about it: elements of r err by 'doubt' of their terms' sizes, n
/// of them; the norm of A is a sum of n numbers in FP64; x and products with it may have
/// underflowed.
Measured measured_error(double norm, const Sizes& sizes, std::int64_t n, double doubt);

}  // namespace stepwell::solvers
