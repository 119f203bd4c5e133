// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "refine/operators/operator.hpp"

namespace stepwell::refine {

/// A general matrix, all of which is read: A x, or A' x. A strip is some rows of the result, so
/// that no sums are left to add and no workspace is needed.
class GeneralProduct : public Product {
 public:
  GeneralProduct(engine::ThreadPool& pool, MatrixView<const double> a, bool transposed = false)
      : pool_(pool), a_(a), transposed_(transposed) {}

  std::int64_t order() const override { return a_.rows; }
  void apply(MatrixView<const double> x, MatrixView<double> y) override;
  void apply_blocked(MatrixView<const double> x, MatrixView<double> y,
                     Checksums& checksums) override;
  std::int64_t depth() const override;
  void apply_exactly(MatrixView<const double> x, MatrixView<const double> b, MatrixView<double> y,
                     MatrixView<double> y_low, Checksums& checksums) override;
  void release() override {}

 private:
  engine::ThreadPool& pool_;
  MatrixView<const double> a_;
  bool transposed_;
};

/// What A holds, and both its norms, in one pass. Workspace: strips x n.
MatrixScan scan_general(engine::ThreadPool& pool, MatrixView<const double> a);

/// Bytes of that workspace.
std::int64_t scan_bytes(std::int64_t n);

/// Whether A is its own transpose, to the bits, with a diagonal above zero. Ends at the first
/// element that says no.
bool is_symmetric_with_positive_diagonal(engine::ThreadPool& pool, MatrixView<const double> a);

}  // namespace stepwell::refine
