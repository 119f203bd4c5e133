// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/buffer.hpp"
#include "engine/thread_pool.hpp"
#include "kernels/signatures.hpp"
#include "refine/operators/checksums.hpp"
#include "stepwell/view.hpp"

/// A as the refinement sees it, and the factor as its preconditioner. A refiner knows nothing else
/// of either.
namespace stepwell::refine {

/// How a product with A is summed: in FP64; in FP64 by blocks so that no term is rounded often; the
/// leading digits of both operands exactly and the rest in FP64 (least squares only); in
/// double-double and then rounded, the u_r of Higham & Pranesh.
enum class Sums : unsigned char { fp64, blocked, split, double_double };

class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::int64_t order() const = 0;
  /// The numbers of the systems whose residuals are asked for next, one for each column.
  virtual void about(const std::vector<std::int64_t>&) {}
  /// y = A x, for all columns in one pass over A.
  virtual void apply(MatrixView<const double> x, MatrixView<double> y, Sums sums) = 0;
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

/// The caller's A, as it is stored. The work is cut into strips that n alone fixes: the bits do not
/// depend on the number of threads.
class Product {
 public:
  virtual ~Product() = default;
  virtual std::int64_t order() const = 0;
  /// y = A x, for all columns in one pass over A.
  virtual void apply(MatrixView<const double> x, MatrixView<double> y) = 0;
  /// The same with blocked sums: an element errs by at most depth() units of its terms' sizes. Adds
  /// what was read of A to the checksums.
  virtual void apply_blocked(MatrixView<const double> x, MatrixView<double> y,
                             Checksums& checksums) = 0;
  /// How often a term of apply_blocked()'s sums is rounded, at most.
  virtual std::int64_t depth() const = 0;
  /// y + y_low = b + A x, in double-double; b may be empty. Adds what was read of A to the
  /// checksums.
  virtual void apply_exactly(MatrixView<const double> x, MatrixView<const double> b,
                             MatrixView<double> y, MatrixView<double> y_low,
                             Checksums& checksums) = 0;
  /// The first column of the first block of A that two passes have read differently; -1: none.
  virtual std::int64_t first_difference(const Checksums& one, const Checksums& other) {
    return one.first_difference(other);
  }
  /// Gives the workspace back until the next product.
  virtual void release() = 0;
};

/// One element of A.
struct Element {
  std::int64_t row = 0, col = 0;
  double value = 0;
};

/// What one pass over what is read of A finds, see kernels::Scan; and the sums of |A|.
struct MatrixScan {
  kernels::Scan scan;
  double norm_inf = 0;  ///< ||A||_inf
  double norm_1 = 0;    ///< ||A||_1; of a symmetric matrix left at 0
  /// The smallest sums of a row and of a column of |A|; of a symmetric matrix left at 0.
  double least_row = 0, least_col = 0;
  Checksums checksums;
};

/// A symmetric matrix of which the lower triangle is read. The columns are cut into strips of about
/// equal area, and each strip has sums of its own that are added in order. Workspace: strips x n x
/// columns.
class SymmetricProduct : public Product {
 public:
  SymmetricProduct(engine::ThreadPool& pool, MatrixView<const double> a);

  std::int64_t order() const override { return a_.rows; }
  void apply(MatrixView<const double> x, MatrixView<double> y) override { apply(x, y, nullptr); }
  /// With a found, also what A holds, at little more than the price of the product. With 'mirror'
  /// the strict upper triangle is compared with the lower one. y may have no columns.
  void apply(MatrixView<const double> x, MatrixView<double> y, MatrixScan* found,
             bool mirror = false);
  void apply_blocked(MatrixView<const double> x, MatrixView<double> y,
                     Checksums& checksums) override;
  std::int64_t depth() const override;
  void apply_exactly(MatrixView<const double> x, MatrixView<const double> b, MatrixView<double> y,
                     MatrixView<double> y_low, Checksums& checksums) override;
  void release() override { partial_ = {}; }

  /// Bytes of workspace for products with so many columns.
  static std::int64_t workspace_bytes(std::int64_t n, std::int64_t columns);

 private:
  struct Strip {
    std::int64_t begin, end;
  };
  static std::vector<Strip> strips_of(std::int64_t n);
  MatrixView<double> sums_of(std::size_t strip, std::int64_t columns) const;
  /// Calls run(strip, its sums, zeroed) for each strip, on all threads.
  void for_strips(std::int64_t columns,
                  const std::function<void(std::size_t, MatrixView<double>)>& run);
  template <class F>
  void for_strip(Strip strip, F f) const;

  engine::ThreadPool& pool_;
  MatrixView<const double> a_;
  std::vector<Strip> strips_;
  core::Buffer<double> partial_;
};

/// H = diag(row) A diag(col): the scaled system, in which vectors stay near 1 whatever the scale of
/// A. Scales are powers of two, so that nothing is rounded.
class ScaledOperator : public Operator {
 public:
  ScaledOperator(Product& a, const std::vector<double>& row, const std::vector<double>& col)
      : a_(a), row_(row), col_(col) {}

  std::int64_t order() const override { return a_.order(); }
  void apply(MatrixView<const double> x, MatrixView<double> y, Sums sums) override;
  void residual(MatrixView<const double> b, MatrixView<const double> x, MatrixView<double> r,
                Sums sums) override;
  /// How far an element of a residual may be off, in units of its terms' sizes; of 'sums' other
  /// than plain FP64.
  double residual_doubt(Sums sums) const;
  /// What a first pass has read of A: residuals compare what they read with it.
  void expect(const Checksums& first) { expected_ = &first; }
  /// The first column of the first block that a residual since the last call has read differently;
  /// -1: none.
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
