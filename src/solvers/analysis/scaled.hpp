// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "solvers/certify/verdict.hpp"
#include "stepwell/view.hpp"

/// Right-hand sides and solutions in the scale of H = diag(row) A diag(col): H y = diag(row) b 2^-e
/// with x = diag(col) y 2^e. All factors are powers of two, so that the same bits are computed for
/// (A, b) and (sA, tb), s and t powers of two, and their residuals differ only by a power of two.
namespace stepwell::solvers {

/// The exponents of the powers of two that scale A.
struct Exponents {
  std::vector<int> row, col;
  std::vector<double> inverse_row, power_col;  ///< 2^-row and 2^col
  Exponents(const std::vector<double>& row_powers, const std::vector<double>& col_powers);

  /// The largest exponent of a row plus that of a column: A^-1 = diag(col) H^-1 diag(row) is about
  /// 2^largest() in size, and may be beyond FP64's range.
  int largest() const;
  /// diag(row) and diag(col), each divided by its largest element.
  std::vector<double> relative_rows() const { return relative(row); }
  std::vector<double> relative_cols() const { return relative(col); }

 private:
  static std::vector<double> relative(const std::vector<int>& exponents);
};

/// The infinity norms of b, x and r of one column, in the caller's scale times 2^-e.
struct Sizes {
  double b = 0;
  double x = 0;
  double r = 0;
};

/// One right-hand side in the scale of H, with its exponent e.
class ScaledColumn {
 public:
  ScaledColumn() = default;
  /// Writes the scaled b to 'out'. e = 0 if no element of b is both finite and nonzero.
  ScaledColumn(const Exponents& exponents, const double* b, double* out);

  int exponent() const { return exponent_; }
  /// Writes x. Returns false if an element is not finite.
  bool write(const Exponents& exponents, const double* y, double* x) const;
  /// Whether x would be finite.
  bool fits(const Exponents& exponents, const double* y) const;
  /// Reads x back into y. Returns true if no element of y has changed, that is, none was rounded
  /// when x was written.
  bool read(const Exponents& exponents, const double* x, double* y) const;

 private:
  std::int64_t n_ = 0;
  int exponent_ = 0;
};

/// Converts the sizes of vectors in the scale of H to the caller's scale times 2^-e. The size of x
/// is that of y + d if d is not null.
Sizes sizes_of(const Exponents& exponents, const double* b, const double* y, const double* r,
               const double* d = nullptr);

/// ||r|| / (||A|| ||x|| + ||b||), where the product may over- or underflow. NaN if ||r|| is.
double backward_error(double norm, const Sizes& sizes);

/// The backward error with a bound on its own error: an element of r is off by at most 'doubt'
/// times the sizes of its n terms; the norm of A is a sum of n elements in FP64; x and products
/// with it may have underflowed.
Measured measured_error(double norm, const Sizes& sizes, std::int64_t n, double doubt);

}  // namespace stepwell::solvers
