// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/symmetric_block.hpp"

#include <array>
#include <bit>
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

std::uint64_t add_blocked_product(const SymmetricBlock& block, MatrixView<const double> x,
                                  MatrixView<double> y) {
  static_assert(kBlockColumns == kernels::kBlockedColumns);
  const kernels::Table& t = kernels::table();
  const auto [a, row, col] = block;
  const auto xc = x.block(col, 0, a.cols, x.cols);
  const auto yc = y.block(col, 0, a.cols, x.cols);
  std::uint64_t checksum = 0;
  if (block.diagonal()) {
    // Mirrored, it is a block like any other; what was read of A is one triangle.
    alignas(64) double full[kBlockColumns * kBlockColumns];
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = j; i < a.cols; ++i) {
        full[i + j * a.cols] = full[j + i * a.cols] = a(i, j);
        checksum += std::bit_cast<std::uint64_t>(full[i + j * a.cols]);
      }
    }
    kernels::blocked_product(t, view<const double>(full, a.cols, a.cols), {xc, yc, {}, {}});
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
  std::int64_t deepest = kernels::kBlockedDepthY + blocks;  // of an element below the strip
  for (std::int64_t c = 0; c < blocks; ++c) {
    // The blocks before it have added to an element of this one, then its triangle, then slabs.
    const std::int64_t below = rows - std::min(columns, (c + 1) * kBlockColumns);
    const std::int64_t slabs = (below + kernels::kBlockedRows - 1) / kernels::kBlockedRows;
    deepest = std::max(
        {deepest, kernels::kBlockedDepthY + c + 1 + slabs, kernels::kBlockedDepthZ + slabs});
  }
  return deepest;
}

std::uint64_t add_exact_product(const SymmetricBlock& block, MatrixView<const double> x,
                                MatrixView<double> y, MatrixView<double> y_low) {
  const kernels::Table& t = kernels::table();
  const auto add = [&](MatrixView<const double> a, std::int64_t row, std::int64_t col,
                       std::int64_t k) {
    return kernels::exact_product(t, a,
                                  {x.column(k) + col, y.column(k) + row, y_low.column(k) + row,
                                   x.column(k) + row, y.column(k) + col, y_low.column(k) + col});
  };
  const auto [a, row, col] = block;
  std::uint64_t checksum = 0;
  for (std::int64_t k = 0; k < x.cols; ++k) {
    checksum = 0;  // each column reads all of the block
    if (!block.diagonal()) {
      checksum = add(a, row, col, k);
      continue;
    }
    for (std::int64_t c = 0; c < a.cols; ++c) {
      kernels::ExactProducts diagonal;
      diagonal.x = x.column(k) + col + c;
      diagonal.y = y.column(k) + col + c;
      diagonal.y_low = y_low.column(k) + col + c;
      checksum += kernels::exact_product(t, a.block(c, c, 1, 1), diagonal);
      checksum += add(a.block(c + 1, c, a.rows - c - 1, 1), row + c + 1, col + c, k);
    }
  }
  return checksum;
}

std::uint64_t look_at(const SymmetricBlock& block, MatrixView<const double> mirror,
                      kernels::Scan& scan, double* row_sums) {
  const auto [a, row, col] = block;
  std::array<double, kBlockColumns> columns{};
  kernels::LoadArgs args;
  args.a = a;
  args.shape = block.diagonal() ? kernels::Shape::lower : kernels::Shape::full;
  args.row_sums = row_sums + row;
  args.col_sums = columns.data();
  args.mirror = mirror;
  kernels::Scan found;
  kernels::load(kernels::table(), args, found);
  kernels::combine(scan, found, row, col);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    row_sums[col + j] += columns[static_cast<std::size_t>(j)];
    // The diagonal counts in the sums of its row and of its column.
    if (block.diagonal()) row_sums[col + j] -= std::abs(a(j, j));
  }
  return found.checksum;
}

}  // namespace stepwell::refine
