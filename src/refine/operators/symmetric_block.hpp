// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/signatures.hpp"
#include "stepwell/view.hpp"

/// What a block of a symmetric A's lower triangle gives to a product with all of A.
namespace stepwell::refine {

/// Blocks that a kernel is called with. 2048 rows of x and y are 32 KiB: they stay in L1 while the
/// columns stream by, and the block stays in L2 for a second look.
inline constexpr std::int64_t kBlockRows = 2048;
inline constexpr std::int64_t kBlockColumns = 64;

/// A block that begins at (row, col) of A. One on the diagonal (row = col) is square, and its lower
/// triangle is read; one below it counts for its mirror image, too.
struct SymmetricBlock {
  MatrixView<const double> a;
  std::int64_t row = 0, col = 0;
  bool diagonal() const { return row == col; }
};

/// Calls f(block) for the blocks of a part of A that begins at (row, col), 64 columns at a time. A
/// part with row = col is read on and below the diagonal.
template <class F>
void for_blocks(MatrixView<const double> a, std::int64_t row, std::int64_t col, F f) {
  for (std::int64_t c = 0; c < a.cols; c += kBlockColumns) {
    const std::int64_t width = std::min(kBlockColumns, a.cols - c);
    std::int64_t r = 0;
    if (row == col) {
      f(SymmetricBlock{a.block(c, c, width, width), row + c, col + c});
      r = c + width;
    }
    for (; r < a.rows; r += kBlockRows) {
      const std::int64_t rows = std::min(kBlockRows, a.rows - r);
      f(SymmetricBlock{a.block(r, c, rows, width), row + r, col + c});
    }
  }
}

/// y += A x, what the block gives of it.
void add_product(const SymmetricBlock& block, MatrixView<const double> x, MatrixView<double> y);

/// The same with blocked sums; returns the block's checksum, as the next two do.
std::uint64_t add_blocked_product(const SymmetricBlock& block, MatrixView<const double> x,
                                  MatrixView<double> y);

/// How often a term is rounded, at most, when the blocks of so many columns, and of so many rows
/// from the diagonal down, are added up one after the other as for_blocks() has them.
std::int64_t strip_depth(std::int64_t columns, std::int64_t rows);

/// y + y_low += A x in double-double.
std::uint64_t add_exact_product(const SymmetricBlock& block, MatrixView<const double> x,
                                MatrixView<double> y, MatrixView<double> y_low);

/// Adds to the scan of A, and to the sums of |A|'s rows; compares with 'mirror' unless it is empty.
std::uint64_t scan_block(const SymmetricBlock& block, MatrixView<const double> mirror,
                         kernels::Scan& scan, double* row_sums);

}  // namespace stepwell::refine
