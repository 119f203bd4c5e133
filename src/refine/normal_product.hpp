// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/row_block.hpp"
#include "engine/team.hpp"
#include "refine/operator.hpp"

namespace stepwell::refine {

/// Right-hand sides of least squares problems: some columns of the caller's B, each times a power
/// of two that keeps it near 1.
struct RightHandSides {
  MatrixView<const double> b;        ///< m x all columns
  std::vector<std::int64_t> column;  ///< which of them
  std::vector<double> factor;        ///< one for each of those
};

/// The normal equations of min ||b - H x||^2 + x'Tx with H = A diag(power), as products with A
/// itself: A'(A x) in one pass, a block of rows at a time that stays in L2 between the two
/// products. The rows are cut into slabs that m and n alone fix, each with sums of its own that are
/// added in order: the bits do not depend on the number of threads. Workspace: slabs x n x columns.
class NormalProduct {
 public:
  /// power: powers of two; tail: the diagonal of T, empty if there is none; max_abs: of A.
  NormalProduct(engine::Team& team, core::RowReader& a, const std::vector<double>& power,
                const std::vector<double>& tail, double max_abs);

  std::int64_t order() const { return a_.cols(); }
  /// y = (H'H + T) x.
  void apply(MatrixView<const double> x, MatrixView<double> y, Sums sums = Sums::fp64);
  /// g = H'(b - H x) - T x; squares[k] = ||b - H x||^2 + x'Tx. x may be empty: zero.
  void residual(const RightHandSides& right, MatrixView<const double> x, MatrixView<double> g,
                std::vector<double>& squares, Sums sums = Sums::fp64);

  static std::int64_t workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t columns);

 private:
  struct Slab;
  void pass(const RightHandSides* right, MatrixView<const double> x, MatrixView<double> g,
            std::vector<double>* squares, Sums sums);
  void multiply(const Slab& s, const core::RowBlock& block, std::int64_t first) const;
  void multiply_exactly(const Slab& s, const core::RowBlock& block, std::int64_t first) const;

  engine::Team& team_;
  core::RowReader& a_;
  const std::vector<double>& power_;
  const std::vector<double>& tail_;
  double lower_;  ///< what residuals are multiplied with before A' is: its sums must not overflow
};

}  // namespace stepwell::refine
