// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/tall/column_scan.hpp"

#include <algorithm>

#include "core/buffer.hpp"
#include "core/machine/fp_scope.hpp"
#include "kernels/kernels.hpp"
#include "kernels/scan.hpp"

namespace stepwell::factor {

MatrixView<const double> by_columns(const core::RowBlock& rows, std::int64_t j, std::int64_t w,
                                    double* scratch, std::int64_t ld) {
  const core::RowBlock block = rows.block(0, j, rows.rows(), w);
  if (!block.by_rows) return block.stored;
  const MatrixView<double> out = view(scratch, rows.rows(), w, ld);
  kernels::transpose(kernels::table(), block.stored, out);
  return out;
}

void scan_columns(MatrixView<const double> a, ColumnScans& found) {
  for (std::int64_t c = 0; c < a.cols; ++c) {
    kernels::LoadArgs args;
    args.a = a.block(0, c, a.rows, 1);
    kernels::Scan& scan = found[static_cast<std::size_t>(c)] = {};
    kernels::load(kernels::table(), args, scan);
  }
}

std::vector<kernels::Scan> scan_columns(engine::ThreadPool& pool, core::RowReader& a) {
  constexpr std::int64_t kRows = 1024;
  const std::int64_t n = a.cols();
  const std::int64_t rows = std::min(kRows, a.rows());
  std::vector<kernels::Scan> all(static_cast<std::size_t>(n));
  core::Buffer<double> read(a.scratch(rows), core::Contents::any);
  std::vector<core::Buffer<double>> scratch;
  for (int t = 0; t < pool.size(); ++t) {
    scratch.emplace_back(a.by_rows() ? kColumnGroup * rows : 0, core::Contents::any);
  }
  for (std::int64_t first = 0; first < a.rows() && !a.failed(); first += rows) {
    const core::RowBlock block = a.read(first, std::min(rows, a.rows() - first), read.data());
    std::atomic<std::int64_t> next{0};
    pool.run([&](int thread) {
      const core::FpScope fp;
      ColumnScans found;
      for (std::int64_t j = kColumnGroup * next++; j < n; j = kColumnGroup * next++) {
        const std::int64_t w = std::min(kColumnGroup, n - j);
        scan_columns(
            by_columns(block, j, w, scratch[static_cast<std::size_t>(thread)].data(), rows), found);
        for (std::int64_t c = 0; c < w; ++c) {
          kernels::combine(all[static_cast<std::size_t>(j + c)], found[static_cast<std::size_t>(c)],
                           first, 0);
        }
      }
    });
  }
  return all;
}

}  // namespace stepwell::factor
