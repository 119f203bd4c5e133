// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/signatures.hpp"
#include "stepwell/view.hpp"

/// Contribution of a block of the lower triangle of a symmetric A to a product with A.
namespace stepwell::refine {

/// Size of the blocks that a kernel is called with. 2048 rows of x and y are 32 KiB: they stay in
/// L1 while the columns of A are streamed, and the block stays in L2 for a second read.
inline constexpr std::int64_t kBlockRows = 2048;
inline constexpr std::int64_t kBlockColumns = 64;

/// A block that begins at (row, col) of A. A diagonal block (row = col) is square, and its lower
/// triangle is read; a block below the diagonal also stands for its transpose.
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

/// y += the block's contribution to A x.
void add_product(const SymmetricBlock& block, MatrixView<const double> x, MatrixView<double> y);

/// The same with the block's fp32 copy, made by round_block().
void add_product(const SymmetricBlock& block, MatrixView<const float> copy,
                 MatrixView<const double> x, MatrixView<double> y);

/// out = the block of diag(row) A diag(col), rounded to fp32; a diagonal block with both triangles.
void round_block(const SymmetricBlock& block, kernels::Scales scales, MatrixView<float> out);

/// The same as the first with blocked sums; returns the block's checksum, as add_exact_product()
/// and scan_block() do.
std::uint64_t add_blocked_product(const SymmetricBlock& block, MatrixView<const double> x,
                                  MatrixView<double> y);

/// Maximum number of roundings of a term when the blocks of 'columns' columns, with 'rows' rows
/// from the diagonal down, are added one after the other in the order of for_blocks().
std::int64_t strip_depth(std::int64_t columns, std::int64_t rows);

/// y + y_low += A x in double-double.
std::uint64_t add_exact_product(const SymmetricBlock& block, MatrixView<const double> x,
                                MatrixView<double> y, MatrixView<double> y_low);

/// Adds the block to the scan of A and to the row sums of |A|; compares it with 'other_triangle',
/// the block in the other triangle, unless that is empty.
std::uint64_t scan_block(const SymmetricBlock& block, MatrixView<const double> other_triangle,
                         kernels::Scan& scan, double* row_sums);

}  // namespace stepwell::refine
