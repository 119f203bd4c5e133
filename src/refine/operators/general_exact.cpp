// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include "core/numeric/roundoff.hpp"
#include "core/numeric/worst.hpp"
#include "kernels/kernels.hpp"
#include "refine/operators/general_product.hpp"

/// Residuals of many columns on a matrix engine for bytes: A and x are rounded to fixed point, each
/// row and column by its own scale, and the sums are exact.
namespace stepwell::refine {
namespace {

constexpr std::int64_t kConvertedRows = 512;  ///< of A that one thread converts at a time
constexpr std::int64_t kConvertedDepth = 512;

/// Columns of x with a size outside this range would lose digits, or have no scale.
constexpr double kLeastSize = 0x1p-960, kMostSize = 0x1p960;

}  // namespace

/// A row's error is kProductError sqrt(n) u ||a_i||_2 ||x||_2, with ||x||_2 <= sqrt(n) ||x||_inf,
/// and three roundings of r, whose magnitudes are at most ||b|| + ||A|| ||x|| and their own errors:
/// they are counted as four.
double GeneralProduct::exact_error(double norm) {
  if (!rows_) rows_.emplace(pool_, factor::Products::exact, a_, transposed_);
  const double row = rows_->largest_norm();
  if (!(row > kLeastSize && row < kMostSize && norm > 0)) return HUGE_VAL;
  const auto n = static_cast<double>(a_.rows);
  return (tiles::kProductError * n * (row / norm) + 4) * core::kUnit;
}

void GeneralProduct::subtract_exact(MatrixView<const double> x, MatrixView<double> r,
                                    Checksums& checksums) {
  const std::int64_t n = a_.rows;
  if (!rows_) rows_.emplace(pool_, factor::Products::exact, a_, transposed_);
  if (!products_) products_.emplace(pool_);
  for (std::int64_t first = 0; first < x.cols; first += factor::kResidueColumns) {
    const std::int64_t count = std::min(factor::kResidueColumns, x.cols - first);
    products_->set_right(x.block(0, first, n, count), kConvertedDepth);
    products_->subtract(core::ceil_div(n, kConvertedRows), kConvertedRows, [&](std::int64_t block) {
      const std::int64_t row = block * kConvertedRows, rows = std::min(kConvertedRows, n - row);
      return factor::BlockGemm::Rows{.a = rows_->rows(row, rows, kConvertedDepth),
                                     .c = r.block(row, first, rows, count)};
    });
  }
  pool_.for_each(x.cols, [&](std::int64_t c) {
    double most = 0;
    for (std::int64_t i = 0; i < n; ++i) most = core::worst(most, std::fabs(x(i, c)));
    if (most == 0 || (most >= kLeastSize && most <= kMostSize)) return;
    std::fill_n(r.column(c), n, std::numeric_limits<double>::quiet_NaN());
  });
  // The conversion to residues has no checksums: this pass detects what has changed until now.
  pool_.for_each(core::ceil_div(n, Checksums::kColumns), [&](std::int64_t block) {
    const std::int64_t first = block * Checksums::kColumns;
    const std::int64_t count = std::min(Checksums::kColumns, n - first);
    checksums.add(first, kernels::checksum(kernels::table(), a_.block(0, first, n, count)));
  });
}

void GeneralProduct::release() {
  rows_.reset();
  products_.reset();
}

std::int64_t GeneralProduct::exact_bytes(std::int64_t n, std::int64_t columns, int threads) {
  return factor::BlockGemm::bytes(factor::Products::exact, kConvertedRows, n,
                                  std::min(columns, factor::kResidueColumns), kConvertedDepth,
                                  threads) +
         core::size_product(n, 2 * 8, "scales");
}

}  // namespace stepwell::refine
