// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "refine/operators/operator.hpp"
#include "refine/operators/symmetric_block.hpp"

namespace stepwell::refine {

/// A symmetric matrix whose lower triangle is read. The columns are divided into strips of about
/// equal area, and each strip has its own sums, which are added in order. Workspace: strips x n x
/// columns. The fp32 copy holds the lower triangle by block columns of 64.
class SymmetricProduct : public Product {
 public:
  SymmetricProduct(engine::ThreadPool& pool, MatrixView<const double> a);

  std::int64_t order() const override { return a_.rows; }
  void apply(MatrixView<const double> x, MatrixView<double> y) override { apply(x, y, nullptr); }
  /// If 'found' is not null, also scans A, at little more than the cost of the product. If
  /// 'check_symmetry', the strict upper triangle is compared with the lower one. y may have no
  /// columns.
  void apply(MatrixView<const double> x, MatrixView<double> y, MatrixScan* found,
             bool check_symmetry = false);
  void apply_and_copy(MatrixView<const double> x, MatrixView<double> y,
                      kernels::Scales scales) override;
  bool has_copy() const override { return copied_; }
  void apply_copy(MatrixView<const double> x, MatrixView<double> y) override;
  void apply_blocked(MatrixView<const double> x, MatrixView<double> y,
                     Checksums& checksums) override;
  std::int64_t depth() const override;
  void apply_exactly(MatrixView<const double> x, MatrixView<const double> b, MatrixView<double> y,
                     MatrixView<double> y_low, Checksums& checksums) override;
  void release() override;

  /// Bytes of workspace for products with 'columns' columns, without a copy.
  static std::int64_t workspace_bytes(std::int64_t n, std::int64_t columns);
  /// Bytes of a copy.
  static std::int64_t copy_bytes(std::int64_t n);

 private:
  struct Strip {
    std::int64_t begin, end;
  };
  static std::vector<Strip> strips_of(std::int64_t n);
  MatrixView<double> sums_of(std::size_t strip, std::int64_t columns) const;
  /// Calls run(strip, sums) for each strip on all threads, with the strip's sums set to zero.
  void for_strips(std::int64_t columns,
                  const std::function<void(std::size_t, MatrixView<double>)>& run);
  template <class F>
  void for_strip(Strip strip, F f) const;
  /// Adds up the sums of the strips, in order; calls done(c, begin, end, totals) on all threads for
  /// ranges of rows of each column.
  template <class F>
  void add_strips(std::int64_t columns, F done);
  void add_strips_to(MatrixView<double> y);
  /// The part of the copy that belongs to a block.
  MatrixView<float> copy_of(const SymmetricBlock& block) const;

  engine::ThreadPool& pool_;
  MatrixView<const double> a_;
  std::vector<Strip> strips_;
  core::Buffer<double> partial_;
  core::Buffer<float> copy_;
  bool copied_ = false;  ///< the copy is complete: a product that makes it can run out of memory
  std::vector<std::int64_t> copy_begin_;  ///< of each block column
};

}  // namespace stepwell::refine
