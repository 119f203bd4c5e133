// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "factor/blas3/block_gemm.hpp"
#include "refine/operators/operator.hpp"

namespace stepwell::refine {

/// Products A x or A' x with a general matrix, all of which is read. A strip is a range of rows of
/// the result, so that no sums of strips have to be added and no workspace is kept.
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
  void subtract_exact(MatrixView<const double> x, MatrixView<double> r,
                      Checksums& checksums) override;
  double exact_error(double norm) override;
  void release() override;
  /// Bytes that subtract_exact() keeps until release().
  static std::int64_t exact_bytes(std::int64_t n, std::int64_t columns, int threads);

 private:
  engine::ThreadPool& pool_;
  MatrixView<const double> a_;
  bool transposed_;
  std::optional<factor::LeftOperand> rows_;  ///< of A or A', for exact products
  std::optional<factor::BlockGemm> products_;
};

/// Scans A and computes both its norms in one pass. Workspace: strips x n.
MatrixScan scan_general(engine::ThreadPool& pool, MatrixView<const double> a);

/// Bytes of workspace that scan_general() needs.
std::int64_t scan_bytes(std::int64_t n);

/// Whether A equals its transpose exactly and has a positive diagonal. Stops at the first element
/// that violates this.
bool is_symmetric_with_positive_diagonal(engine::ThreadPool& pool, MatrixView<const double> a);

}  // namespace stepwell::refine
