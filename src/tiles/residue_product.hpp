// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/residues.hpp"
#include "kernels/table.hpp"

/// Products C -= A B of FP64 quality with exact sums, for any A and B.
///
/// Each row of A and each column of B is scaled by a power of two, such that its norm is in
/// (kLargestNorm / 2, kLargestNorm] * 2^kWideBits. By Cauchy-Schwarz no sum then exceeds
/// kLargestDiagonal * 2^(2 kWideBits), however long it is, so 15 residues determine it. The error
/// of c_ij is that of rounding A and B to fixed point, at most 0.05 sqrt(depth) u ||a_i|| ||b_j||
/// and about 0.03 u ||a_i|| ||b_j||, and three roundings of the result: where a row of A has a few
/// large elements and the elements of b are alike, that is what FP64 arithmetic gives for a depth
/// of 1,000. It does not depend on the order of sums, nor do the bits.
namespace stepwell::tiles {

/// Below sqrt(kLargestDiagonal) by more than the rounding of a norm.
inline constexpr double kLargestNorm = 1.296;
static_assert(kLargestNorm * kLargestNorm < kernels::kLargestDiagonal);

/// The error of c_ij before it is rounded, in units of sqrt(depth) u ||a_i|| ||b_j||, is at most
/// this.
inline constexpr double kProductError = 0.05;

/// The largest magnitudes and the sums of squares of lines, which are rows or columns. A sum may
/// have overflowed, or underflowed; of a line with a NaN it is one.
struct LineSizes {
  std::vector<double> max_abs, squares;

  explicit LineSizes(std::int64_t lines = 0)
      : max_abs(static_cast<std::size_t>(lines)), squares(max_abs.size()) {}
  /// Adds the elements of lines 'first', 'first' + 1, ..., the rows or the columns of x.
  void add_rows(const kernels::Table& t, MatrixView<const double> x, std::int64_t first);
  void add_columns(const kernels::Table& t, MatrixView<const double> x, std::int64_t first);
};

/// Scales of the rows of A, or of the columns of B, and their reciprocals. A line with a NaN or an
/// infinity has a NaN as its reciprocal, and so has one whose norm exceeds 2^1020.
struct LineScales {
  std::vector<double> to, back;

  LineScales() = default;
  /// The scales of lines with at most 'length' elements.
  LineScales(const LineSizes& sizes, std::int64_t length);
  /// An upper bound of the largest norm, at most twice that of a matrix whose lines are alike; NaN
  /// if a line has no scale.
  double largest_norm() const;
};

/// A in blocks of columns, of which block(k) is the k-th, or its transpose.
struct ProductLeft {
  std::function<MatrixView<const double>(std::int64_t k)> block;
  bool transposed = false;
  const double* to = nullptr;    ///< scales of A's rows
  const double* back = nullptr;  ///< their reciprocals
  double factor = 1;             ///< of A; 'back' has it already
};

/// B in blocks of rows, as many as A has blocks of columns, in residues and in rows order.
struct ProductRight {
  std::span<const kernels::ResiduesIn> blocks;
  const double* back = nullptr;  ///< reciprocals of the scales of B's columns
};

/// Some columns of a product: those of B, and of C, from 'first' on, a multiple of 32.
struct ProductStrip {
  std::int64_t first = 0, count = 0;
  std::int64_t block = 0;  ///< the blocks of B before it are zero there, and are not read
  /// lower: elements of C above the diagonal of the strip are neither read nor written.
  kernels::Shape shape = kernels::Shape::full;
};

/// Where a product goes.
enum class ProductOut : unsigned char {
  subtract,            ///< C -= A B
  replace,             ///< C = -A B; C may be where A is
  replace_transposed,  ///< the same, and C is stored transposed
};

/// C -= A B on one core, or as 'out' says; the strips have all columns of C. A is converted to
/// residues, as many blocks at a time as are multiplied together. 'scratch' has
/// residue_product_bytes(), aligned to 64 bytes.
/// Cost: 0.3 ns for 64 products (7 Tera-operations/s on 14 planes), 1.3 ns an element of A, and 2.4
/// ns an element of C.
void subtract_residue_product(const kernels::Table& t, const ProductLeft& a, const ProductRight& b,
                              std::span<const ProductStrip> strips, MatrixView<double> c,
                              std::byte* scratch, ProductOut out = ProductOut::subtract);

/// The same with all columns in one strip.
inline void subtract_residue_product(const kernels::Table& t, const ProductLeft& a,
                                     const ProductRight& b, MatrixView<double> c,
                                     std::byte* scratch,
                                     kernels::Shape shape = kernels::Shape::full) {
  const ProductStrip all[] = {{0, c.cols, 0, shape}};
  subtract_residue_product(t, a, b, all, c, scratch);
}

/// 'depth': of one block.
std::int64_t residue_product_bytes(std::int64_t rows, std::int64_t cols, std::int64_t depth);

}  // namespace stepwell::tiles
