// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/row_block.hpp"
#include "engine/team.hpp"
#include "refine/checksums.hpp"
#include "refine/operator.hpp"

namespace stepwell::refine {

/// Right-hand sides of least squares problems: some columns of the caller's B, each times a power
/// of two that keeps it near 1.
struct RightHandSides {
  MatrixView<const double> b;        ///< m x all columns
  std::vector<std::int64_t> column;  ///< which of them
  std::vector<double> factor;        ///< one for each of those
  /// Vectors, of n numbers for each of those, whose products with H are taken from b: base + x is
  /// like an x with more digits. Sums are in double-double then.
  std::vector<std::vector<const double*>> base;
  /// b - H x in sums of three numbers: where it is so small beside b that double-double is too
  /// coarse. Several times slower; of sums in double-double.
  bool careful = false;
  /// Empty, or H'b, n numbers, and ||b||^2 of each of those, and no base: then b is not looked at,
  /// and residuals follow from these by products with H'H. x must be small to gain by it.
  std::vector<const double*> gradient;
  std::vector<double> squares;

  /// Some of them.
  RightHandSides part(const std::vector<std::size_t>& which) const;
};

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
class NormalProduct {
 public:
  /// power: powers of two; tail: the diagonal of T, empty if there is none; expected: the checksums
  /// of A that each pass must find, or of nothing.
  NormalProduct(engine::Team& team, core::RowReader& a, const std::vector<double>& power,
                const std::vector<double>& tail, Checksums expected = Checksums());

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
  struct Slab;
  void pass(const RightHandSides* right, MatrixView<const double> x, MatrixView<double> g,
            std::vector<double>* squares, Sums sums);
  void multiply(const Slab& s, const core::RowBlock& block, std::int64_t first) const;
  void multiply_exactly(const Slab& s, const core::RowBlock& block, std::int64_t first) const;

  engine::Team& team_;
  core::RowReader& a_;
  const std::vector<double>& power_;
  const std::vector<double>& tail_;
  Checksums expected_;
  std::int64_t changed_column_ = -1;
};

}  // namespace stepwell::refine
