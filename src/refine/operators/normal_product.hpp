// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "engine/threads/thread_pool.hpp"
#include "refine/operators/checksums.hpp"
#include "refine/operators/normal_block.hpp"
#include "refine/operators/operator.hpp"

namespace stepwell::refine {

/// Bounds on the effect of rounding errors on ||b - H x|| and on ||g||.
struct Rounding {
  double residual = 0;
  double gradient = 0;
};

/// The normal equations of min ||b - H x||^2 + x'Tx with H = A diag(power), as products with A
/// itself: A'(A x) in one pass, one block of rows at a time, which stays in L2 between the two
/// products. The rows are divided into slabs that depend on m and n alone; each slab has its own
/// sums, which are added in order, so that the results are bitwise independent of the number of
/// threads. Workspace: slabs x n x columns.
///
/// The columns of A must have norms between 2^-300 and 2^300 or be zero, and the elements of b must
/// be near 1: then no sum overflows, and what underflows is negligible.
///
/// Residuals with FP64 sums only control refinement. All other results may decide whether x is
/// accepted: their passes check that A has not changed since it was first read.
class NormalProduct {
 public:
  /// power: powers of two; tail: the diagonal of T, empty if there is none; read: the column scans
  /// of the first pass over A.
  NormalProduct(engine::ThreadPool& pool, core::RowReader& a, const std::vector<double>& power,
                const std::vector<double>& tail, const std::vector<kernels::Scan>& read);

  std::int64_t order() const { return a_.cols(); }
  /// y = (H'H + T) x.
  void apply(MatrixView<const double> x, MatrixView<double> y, Sums sums = Sums::fp64);
  /// g = H'(b - H x) - T x; squares[k] = ||b - H x||^2 + x'Tx. An empty x stands for zero.
  void residual(const RightHandSides& right, MatrixView<const double> x, MatrixView<double> g,
                std::vector<double>& squares, Sums sums = Sums::fp64);

  /// Bounds on the errors of residual(), with up to two base vectors. norm: ||H||_F with the tail;
  /// r: the ||b - H x|| that residual() found; x: ||x|| plus the norms of the base vectors.
  Rounding rounding(Sums sums, double norm, double r, double x, bool triple_sums = false) const;

  static std::int64_t workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t columns);
  /// The first column of the first block of columns that was not as expected; -1 if there is none.
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
  double largest_ = 0;  ///< norm of the vector of bounds on |h_ij| for each column j of H
  Checksums expected_;
  std::int64_t changed_column_ = -1;
};

}  // namespace stepwell::refine
