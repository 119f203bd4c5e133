// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "engine/thread_pool.hpp"
#include "refine/operators/checksums.hpp"
#include "refine/operators/normal_block.hpp"
#include "refine/operators/operator.hpp"

namespace stepwell::refine {

/// Bounds on what rounding did to ||b - H x|| and to ||g||.
struct Rounding {
  double residual = 0;
  double gradient = 0;
};

/// The normal equations of min ||b - H x||^2 + x'Tx with H = A diag(power), as products with A
/// itself: A'(A x) in one pass, a block of rows at a time that stays in L2 between the two
/// products. The rows are cut into slabs that m and n alone fix, each with sums of its own that are
/// added in order: the bits do not depend on the number of threads. Workspace: slabs x n x columns.
///
/// A's columns have norms between 2^-300 and 2^300, or are zero, and b's numbers are near 1: no sum
/// overflows, and what underflows is nothing beside them.
///
/// Residuals with FP64's sums steer refinement. All else may decide about x: it is checked that A
/// is as it was when it was first read.
class NormalProduct {
 public:
  /// power: powers of two; tail: the diagonal of T, empty if there is none; read: what the first
  /// pass over A has found.
  NormalProduct(engine::ThreadPool& pool, core::RowReader& a, const std::vector<double>& power,
                const std::vector<double>& tail, const std::vector<kernels::Scan>& read);

  std::int64_t order() const { return a_.cols(); }
  /// y = (H'H + T) x.
  void apply(MatrixView<const double> x, MatrixView<double> y, Sums sums = Sums::fp64);
  /// g = H'(b - H x) - T x; squares[k] = ||b - H x||^2 + x'Tx. x may be empty: zero.
  void residual(const RightHandSides& right, MatrixView<const double> x, MatrixView<double> g,
                std::vector<double>& squares, Sums sums = Sums::fp64);

  /// How far residual() may be from the truth, with up to two vectors as base. norm: ||H||_F with
  /// the tail; r: what it found for ||b - H x||; x: ||x||, and those of the base added.
  Rounding rounding(Sums sums, double norm, double r, double x, bool careful = false) const;

  static std::int64_t workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t columns);
  /// The first column of a block of columns that was not as expected; -1: none.
  std::int64_t changed_column() const { return changed_column_; }

 private:
  void pass(const RightHandSides* right, MatrixView<const double> x, MatrixView<double> g,
            std::vector<double>* squares, Sums sums);
  struct Pass;
  void set_vectors(Pass& p, MatrixView<const double> x) const;
  void add_slab(Pass& p, std::int64_t s, double* room);
  double add_up(Pass& p, std::int64_t c, double* g) const;

  engine::ThreadPool& pool_;
  core::RowReader& a_;
  const std::vector<double>& power_;
  const std::vector<double>& tail_;
  SplitScale scale_;
  double largest_ = 0;  ///< the norm of bounds on the elements of H's columns
  Checksums expected_;
  std::int64_t changed_column_ = -1;
};

}  // namespace stepwell::refine
