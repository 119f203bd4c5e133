// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/symmetric_block.hpp"

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

void add_exact_product(const SymmetricBlock& block, MatrixView<const double> x,
                       MatrixView<double> y, MatrixView<double> y_low) {
  const kernels::Table& t = kernels::table();
  const auto add = [&](MatrixView<const double> a, std::int64_t row, std::int64_t col,
                       std::int64_t k) {
    kernels::exact_product(t, a,
                           {x.column(k) + col, y.column(k) + row, y_low.column(k) + row,
                            x.column(k) + row, y.column(k) + col, y_low.column(k) + col});
  };
  const auto [a, row, col] = block;
  for (std::int64_t k = 0; k < x.cols; ++k) {
    if (!block.diagonal()) {
      add(a, row, col, k);
      continue;
    }
    for (std::int64_t c = 0; c < a.cols; ++c) {
      kernels::ExactProducts diagonal;
      diagonal.x = x.column(k) + col + c;
      diagonal.y = y.column(k) + col + c;
      diagonal.y_low = y_low.column(k) + col + c;
      kernels::exact_product(t, a.block(c, c, 1, 1), diagonal);
      add(a.block(c + 1, c, a.rows - c - 1, 1), row + c + 1, col + c, k);
    }
  }
}

void look_at(const SymmetricBlock& block, MatrixView<const double> mirror, kernels::Scan& scan,
             double* row_sums) {
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
}

}  // namespace stepwell::refine
