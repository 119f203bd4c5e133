// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/buffer.hpp"
#include "engine/threads/thread_pool.hpp"
#include "kernels/signatures.hpp"
#include "refine/operators/checksums.hpp"
#include "stepwell/view.hpp"

/// The interfaces through which a refiner uses A, and the factor as its preconditioner.
namespace stepwell::refine {

/// How a product with A is summed: in FP64; in FP64 by blocks, so that each term is rounded only a
/// few times; exactly, of operands that are rounded relative to the norms of their rows and columns
/// (residuals of many columns only); exactly for the leading digits of both operands and in FP64
/// for the rest (least squares only); in double-double and then rounded, the u_r of Higham &
/// Pranesh.
enum class Sums : unsigned char { fp64, blocked, exact, split, double_double };

/// What a product with A reads.
enum class Reads : unsigned char {
  fp64,      ///< A itself
  and_copy,  ///< A itself, and keeps an fp32 copy of it if it can
  copy       ///< that copy, or A itself if there is none: half as much memory traffic
};

class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::int64_t order() const = 0;
  /// Tells which system each column of the next residual() belongs to.
  virtual void set_systems(const std::vector<std::int64_t>&) {}
  /// y = A x, for all columns in one pass over A.
  virtual void apply(MatrixView<const double> x, MatrixView<double> y, Sums sums, Reads reads) = 0;
  /// r = b - A x.
  virtual void residual(MatrixView<const double> b, MatrixView<const double> x,
                        MatrixView<double> r, Sums sums) = 0;
};

class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// z = M^-1 r, for all columns in one pass.
  virtual void apply(MatrixView<const double> r, MatrixView<double> z) = 0;
};

/// The caller's A, as it is stored. The work is divided into strips that depend on n alone: the
/// results are bitwise independent of the number of threads.
class Product {
 public:
  virtual ~Product() = default;
  virtual std::int64_t order() const = 0;
  /// y = A x, for all columns in one pass over A.
  virtual void apply(MatrixView<const double> x, MatrixView<double> y) = 0;
  /// The same, and keeps diag(row) A diag(col), rounded to fp32; a product that can't keeps
  /// nothing.
  virtual void apply_and_copy(MatrixView<const double> x, MatrixView<double> y, kernels::Scales) {
    apply(x, y);
  }
  virtual bool has_copy() const { return false; }
  /// y = diag(row) A diag(col) x with that copy. Only if has_copy().
  virtual void apply_copy(MatrixView<const double>, MatrixView<double>) {}
  /// The same as apply() with blocked sums: the error of an element is at most depth() unit
  /// roundoffs of the sum of its terms' magnitudes. Adds what was read of A to the checksums.
  virtual void apply_blocked(MatrixView<const double> x, MatrixView<double> y,
                             Checksums& checksums) = 0;
  /// Maximum number of roundings of a term in the sums of apply_blocked().
  virtual std::int64_t depth() const = 0;
  /// y + y_low = b + A x, in double-double; b may be empty. Adds what was read of A to the
  /// checksums.
  virtual void apply_exactly(MatrixView<const double> x, MatrixView<const double> b,
                             MatrixView<double> y, MatrixView<double> y_low,
                             Checksums& checksums) = 0;
  /// r = r - A x with exact sums (tiles/residue_product.hpp): for many columns, on a matrix engine
  /// for bytes, at several times the speed of apply_blocked(). A column of r is NaN where x leaves
  /// the range of these products. Adds what was read of A to the checksums. Only if exact_error()
  /// is finite.
  virtual void subtract_exact(MatrixView<const double>, MatrixView<double>, Checksums&) {}
  /// Bound on the error of an element of that r, relative to ||A||_inf ||x||_inf + ||b||_inf, where
  /// 'norm' is ||A||_inf; infinite if there is no such product.
  virtual double exact_error(double /*norm*/) { return HUGE_VAL; }
  /// The first column of the first block of A that two passes have read differently; -1 if there is
  /// none.
  virtual std::int64_t first_difference(const Checksums& one, const Checksums& other) {
    return one.first_difference(other);
  }
  /// Frees the workspace until the next product, and the copy.
  virtual void release() = 0;
};

/// One element of A.
struct Element {
  std::int64_t row = 0, col = 0;
  double value = 0;
};

/// Result of one pass over A, see kernels::Scan, with the row and column sums of |A|.
struct MatrixScan {
  kernels::Scan scan;
  double norm_inf = 0;  ///< ||A||_inf
  double norm_1 = 0;    ///< ||A||_1; left at 0 for a symmetric matrix
  /// The smallest row sum and column sum of |A|; left at 0 for a symmetric matrix.
  double least_row = 0, least_col = 0;
  Checksums checksums;
};

/// H = diag(row) A diag(col): the scaled system, in which vectors stay near 1 whatever the scale of
/// A. Scales are powers of two, so that scaling causes no rounding errors.
class ScaledOperator : public Operator {
 public:
  ScaledOperator(Product& a, const std::vector<double>& row, const std::vector<double>& col)
      : a_(a), row_(row), col_(col) {}

  std::int64_t order() const override { return a_.order(); }
  void apply(MatrixView<const double> x, MatrixView<double> y, Sums sums, Reads reads) override;
  void residual(MatrixView<const double> b, MatrixView<const double> x, MatrixView<double> r,
                Sums sums) override;
  /// Bound on the error of an element of a residual, relative to the sum of its terms' magnitudes;
  /// with blocked sums or in double-double.
  double residual_error_bound(Sums sums) const;
  /// Sets the checksums of a first pass over A: residuals compare what they read with them.
  void expect(const Checksums& first) { expected_ = &first; }
  /// The first column of the first block that a residual has read differently since the last call;
  /// -1 if there is none.
  std::int64_t take_changed_column() { return std::exchange(changed_column_, -1); }

 private:
  MatrixView<double> scaled(MatrixView<const double> x, double sign);

  Product& a_;
  const std::vector<double>& row_;
  const std::vector<double>& col_;
  core::Buffer<double> scaled_, low_;
  const Checksums* expected_ = nullptr;
  std::int64_t changed_column_ = -1;
};

}  // namespace stepwell::refine
