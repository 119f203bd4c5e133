// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/row_block.hpp"
#include "refine/operators/checksums.hpp"

/// Computes H'(b - H x) with H = A diag(power), see NormalProduct, for a block of rows: y = b - H
/// x, then z += A'y while the block is in L2.
namespace stepwell::refine {

/// Right-hand sides of least squares problems: some columns of the caller's B, each times a power
/// of two that keeps it near 1.
struct RightHandSides {
  MatrixView<const double> b;        ///< m x all columns
  std::vector<std::int64_t> column;  ///< the columns of b that are used
  std::vector<double> factor;        ///< the power of two for each of these columns
  /// Vectors with n elements for each of these columns, whose products with H are subtracted from
  /// b: base + x acts like an x with more digits. If there are any, sums are in double-double.
  std::vector<std::vector<const double*>> base;
  /// Computes b - H x in sums of three doubles, for residuals so small relative to b that
  /// double-double is too coarse. Several times slower; affects double-double sums only.
  bool triple_sums = false;
  /// Empty, or H'b (n elements), with ||b||^2 in 'squares', for each of these columns and no base:
  /// then b is not read, and residuals follow from these by products with H'H. Useful only if x is
  /// small.
  std::vector<const double*> gradient;
  std::vector<double> squares;

  /// The right-hand sides with the given indices.
  RightHandSides part(const std::vector<std::size_t>& which) const;
};

/// Splits the columns of A, and a vector multiplied by A, into leading digits and rest: see
/// kernels::SplitProducts.
struct SplitScale {
  /// Number of leading bits of an element of A, and of an element of r in a block of at most
  /// kMostRows rows: their products, and sums of kMostRows products, are exact.
  static constexpr int kBitsOfA = 22, kBitsOfR = 23;
  static constexpr std::int64_t kMostRows = 256;

  std::vector<int> exponent;  ///< for each column of A: |a_ij| <= 2^exponent
  std::vector<double> shift;

  /// largest: max |a_ij| of each column.
  explicit SplitScale(const std::vector<double>& largest);
  /// Splits x into leading digits, whose products with those of A sum up exactly over all columns,
  /// and the rest.
  void split_x(const double* x, double* head, double* rest) const;
};

/// Data that the blocks of a slab work on, for k columns.
struct NormalSlab {
  const RightHandSides* right;  ///< null: b is zero
  /// -power x, or power x if there is no b. For split sums: x, its head and its rest.
  const std::vector<MatrixView<const double>>& x;
  MatrixView<double> y, y_low;  ///< the block's sums
  MatrixView<double> z, z_low;  ///< the slab's sums
  double* squares;              ///< += ||y||^2
  Checksums& of_y;              ///< checksums of what was read for y, and for z
  Checksums& of_z;
  core::RowBlock next;  ///< the next block, to be prefetched; may be empty
};

/// Adds a block with sums in FP64. 'first': the block's first row in A.
void add_block(const NormalSlab& s, const core::RowBlock& block, std::int64_t first);
/// Adds the block's checksums to of_y and of_z, in a separate pass over the block in cache.
void add_checksums(const NormalSlab& s, const core::RowBlock& block);
/// Adds a block with sums in double-double; the low part of y is multiplied in FP64. Also adds
/// checksums.
void add_block_exactly(const NormalSlab& s, const core::RowBlock& block, std::int64_t first);
/// Adds a block with exact sums of the leading digits, the rest in FP64. Also adds checksums. room:
/// workspace of split_room() elements.
void add_block_split(const NormalSlab& s, const core::RowBlock& block, std::int64_t first,
                     const SplitScale& scale, double* room);
std::int64_t split_room(std::int64_t n, std::int64_t columns);

}  // namespace stepwell::refine
