// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/operators/symmetric_block.hpp"

#include <array>
#include <cmath>

#include "kernels/kernels.hpp"
#include "kernels/scan.hpp"

namespace stepwell::refine {

void add_product(const SymmetricBlock& block, MatrixView<const double> x, MatrixView<double> y) {
  const kernels::Table& t = kernels::table();
  const auto [a, row, col] = block;
  const auto xc = x.block(col, 0, a.cols, x.cols);
  const auto yc = y.block(col, 0, a.cols, x.cols);
  if (block.diagonal()) return kernels::symmetric_product(t, a, xc, yc);
  kernels::product(t, a,
                   {xc, y.block(row, 0, a.rows, x.cols), x.block(row, 0, a.rows, x.cols), yc});
}

namespace {

/// 64 x 64 elements: a diagonal block with both triangles, or a transposed block.
using Square = std::array<double, kBlockColumns * kBlockColumns>;

/// Copies a lower triangle and its transpose to 'full'; adds what was read to the checksum.
MatrixView<const double> both_triangles(const kernels::Table& t, MatrixView<const double> a,
                                        Square& full, std::uint64_t& checksum) {
  constexpr std::int64_t kTile = 8;  // columns that are transposed at once
  const std::int64_t n = a.cols;
  const MatrixView<double> out = view(full.data(), n, n);
  for (std::int64_t j = 0; j < n; j += kTile) {
    const std::int64_t w = std::min(kTile, n - j), below = n - j - w;
    for (std::int64_t c = j; c < j + w; ++c) {
      std::fill(out.column(c) + j, out.column(c) + c, 0.0);
      std::copy(a.column(c) + c, a.column(c) + n, out.column(c) + c);
    }
    checksum += kernels::checksum(t, out.block(j, j, n - j, w));  // zeros add nothing
    for (std::int64_t c = j; c < j + w; ++c) {
      for (std::int64_t i = c + 1; i < j + w; ++i) out(c, i) = out(i, c);
    }
    if (below > 0)
      kernels::transpose(t, out.block(j + w, j, below, w), out.block(j, j + w, w, below));
  }
  return out;
}

}  // namespace

void add_product(const SymmetricBlock& block, MatrixView<const float> copy,
                 MatrixView<const double> x, MatrixView<double> y) {
  const auto [a, row, col] = block;
  kernels::Products p{x.block(col, 0, a.cols, x.cols), y.block(row, 0, a.rows, x.cols), {}, {}};
  if (!block.diagonal()) {
    p.w = x.block(row, 0, a.rows, x.cols);
    p.z = y.block(col, 0, a.cols, x.cols);
  }
  kernels::product(kernels::table(), copy, p);
}

void round_block(const SymmetricBlock& block, kernels::Scales scales, MatrixView<float> out) {
  const kernels::Table& t = kernels::table();
  scales.row += block.row;
  scales.col += block.col;
  if (!block.diagonal()) return kernels::round(t, block.a, scales, out);
  alignas(64) Square full;
  std::uint64_t checksum = 0;
  kernels::round(t, both_triangles(t, block.a, full, checksum), scales, out);
}

std::uint64_t add_blocked_product(const SymmetricBlock& block, MatrixView<const double> x,
                                  MatrixView<double> y) {
  static_assert(kBlockColumns == kernels::kBlockedColumns);
  const kernels::Table& t = kernels::table();
  const auto [a, row, col] = block;
  const auto xc = x.block(col, 0, a.cols, x.cols);
  const auto yc = y.block(col, 0, a.cols, x.cols);
  std::uint64_t checksum = 0;
  if (block.diagonal()) {  // with both triangles it is an ordinary block
    alignas(64) Square full;
    kernels::blocked_product(t, both_triangles(t, a, full, checksum), {xc, yc, {}, {}});
    return checksum;
  }
  for (std::int64_t i = 0; i < a.rows; i += kernels::kBlockedRows) {
    const std::int64_t m = std::min(kernels::kBlockedRows, a.rows - i);
    checksum += kernels::blocked_product(
        t, a.block(i, 0, m, a.cols),
        {xc, y.block(row + i, 0, m, x.cols), x.block(row + i, 0, m, x.cols), yc});
  }
  return checksum;
}

std::int64_t strip_depth(std::int64_t columns, std::int64_t rows) {
  const std::int64_t blocks = (columns + kBlockColumns - 1) / kBlockColumns;
  std::int64_t deepest = kernels::kBlockedDepthY + blocks;  // for an element below the strip
  for (std::int64_t c = 0; c < blocks; ++c) {
    // An element of block c gets sums from the blocks before it, then from its triangle, then from
    // slabs.
    const std::int64_t below = rows - std::min(columns, (c + 1) * kBlockColumns);
    const std::int64_t slabs = (below + kernels::kBlockedRows - 1) / kernels::kBlockedRows;
    deepest = std::max(
        {deepest, kernels::kBlockedDepthY + c + 1 + slabs, kernels::kBlockedDepthZ + slabs});
  }
  return deepest;
}

std::uint64_t add_exact_product(const SymmetricBlock& block, MatrixView<const double> x,
                                MatrixView<double> y, MatrixView<double> y_low) {
  constexpr std::int64_t kShort = 256;  // up to this many rows dot products are not worthwhile
  const kernels::Table& t = kernels::table();
  const auto [a, row, col] = block;
  const auto add = [&](MatrixView<const double> part, std::int64_t k, std::int64_t to,
                       std::int64_t from) {
    kernels::ExactProducts p;
    p.x = x.column(k) + from;
    p.y = y.column(k) + to;
    p.y_low = y_low.column(k) + to;
    return kernels::exact_product(t, part, p);
  };
  std::uint64_t checksum = 0;
  alignas(64) Square square;
  if (block.diagonal()) {
    const MatrixView<const double> whole = both_triangles(t, a, square, checksum);
    for (std::int64_t k = 0; k < x.cols; ++k) add(whole, k, col, col);
    return checksum;
  }
  if (a.rows > kShort) {
    for (std::int64_t k = 0; k < x.cols; ++k) {
      checksum =
          kernels::exact_product(t, a,
                                 {x.column(k) + col, y.column(k) + row, y_low.column(k) + row,
                                  x.column(k) + row, y.column(k) + col, y_low.column(k) + col});
    }
    return checksum;
  }
  for (std::int64_t i = 0; i < a.rows; i += kBlockColumns) {
    const MatrixView<const double> part =
        a.block(i, 0, std::min(kBlockColumns, a.rows - i), a.cols);
    const MatrixView<double> across = view(square.data(), a.cols, part.rows);
    kernels::transpose(t, part, across);
    std::uint64_t of_part = 0;
    for (std::int64_t k = 0; k < x.cols; ++k) {
      of_part = add(part, k, row + i, col);
      add(across, k, col, row + i);
    }
    checksum += of_part;
  }
  return checksum;
}

std::uint64_t scan_block(const SymmetricBlock& block, MatrixView<const double> other_triangle,
                         kernels::Scan& scan, double* row_sums) {
  const auto [a, row, col] = block;
  std::array<double, kBlockColumns> columns{};
  kernels::LoadArgs args;
  args.a = a;
  args.shape = block.diagonal() ? kernels::Shape::lower : kernels::Shape::full;
  args.row_sums = row_sums + row;
  args.col_sums = columns.data();
  args.transposed = other_triangle;
  kernels::Scan found;
  kernels::load(kernels::table(), args, found);
  kernels::combine(scan, found, row, col);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    row_sums[col + j] += columns[static_cast<std::size_t>(j)];
    // The diagonal element was counted in both its row sum and its column sum.
    if (block.diagonal()) row_sums[col + j] -= std::abs(a(j, j));
  }
  return found.checksum;
}

}  // namespace stepwell::refine
