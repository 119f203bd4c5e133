// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/row_block.hpp"
#include "refine/operators/checksums.hpp"

/// A block of rows of H'(b - H x) with H = A diag(power), see NormalProduct: y = b - H x, then
/// z += A'y while the block is in L2.
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

/// Columns of A and a vector for it, cut into leading digits and rest: see SplitProducts.
struct SplitScale {
  /// Leading digits of an element of A, and of r in a block of kMostRows rows: their products, and
  /// sums of so many, are exact.
  static constexpr int kBitsOfA = 22, kBitsOfR = 23;
  static constexpr std::int64_t kMostRows = 256;

  std::vector<int> exponent;  ///< of A's columns: |a_ij| <= 2^exponent
  std::vector<double> shift;

  /// largest: of each column's elements.
  explicit SplitScale(const std::vector<double>& largest);
  /// The leading digits of x for products with A, exact over all columns, and the rest.
  void split_x(const double* x, double* head, double* rest) const;
};

/// What the blocks of a slab work with, for k columns.
struct NormalSlab {
  const RightHandSides* right;  ///< null: b is zero
  /// -power x, or power x where there is no b. Split: as one vector, its head and its rest.
  const std::vector<MatrixView<const double>>& x;
  MatrixView<double> y, y_low;  ///< a block's
  MatrixView<double> z, z_low;  ///< the slab's sums
  double* squares;              ///< += ||y||^2
  Checksums& of_y;              ///< what was read for y, and for z
  Checksums& of_z;
  core::RowBlock next;  ///< the block after this one, to be fetched meanwhile; or empty
};

/// 'first': the block's first row in A.
void add_block(const NormalSlab& s, const core::RowBlock& block, std::int64_t first);
/// The block's checksums, in a pass of their own through the cache: of what y and z were read from.
void add_checksums(const NormalSlab& s, const core::RowBlock& block);
/// In double-double; the low part of y is multiplied in FP64. With checksums.
void add_block_exactly(const NormalSlab& s, const core::RowBlock& block, std::int64_t first);
/// With the leading digits exactly, the rest in FP64. With checksums. room: split_room() numbers.
void add_block_split(const NormalSlab& s, const core::RowBlock& block, std::int64_t first,
                     const SplitScale& scale, double* room);
std::int64_t split_room(std::int64_t n, std::int64_t columns);

}  // namespace stepwell::refine
