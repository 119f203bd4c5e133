// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/dense/inverse.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/checked.hpp"
#include "core/machine/fp_scope.hpp"
#include "factor/setup.hpp"
#include "kernels/blas/lapack.hpp"

namespace stepwell::factor {
namespace {

constexpr std::int64_t kBlock = 512;   ///< order of a block
constexpr std::int64_t kStrip = 1024;  ///< columns of a triangle that are an operand at a time
constexpr std::int64_t kRows = 2048;   ///< rows of X'X that are computed at a time

std::int64_t blocks_in(std::int64_t n) {
  return core::ceil_div(n, kBlock);
}

class DenseInverse {
 public:
  DenseInverse(engine::ThreadPool& pool, Products products, MatrixView<double> a,
               Progress* progress)
      : pool_(pool), a_(a), products_(products), gemm_(pool, products), progress_(progress) {}

  bool run() {
    const std::int64_t blocks = blocks_in(a_.cols);
    announce(progress_, std::max<std::int64_t>(0, blocks - 1) + core::ceil_div(a_.cols, kRows));
    invert_diagonal();
    invert(0, blocks);
    for (std::int64_t first = 0; first < a_.cols && !cancelled(); first += kRows) {
      multiply_rows(first, std::min(kRows, a_.cols - first));
    }
    return !cancelled();
  }

 private:
  bool cancelled() const { return progress_ != nullptr && progress_->cancel; }
  void step() const {
    if (progress_ != nullptr) ++progress_->done;
  }

  void invert_diagonal() {
    pool_.for_each(blocks_in(a_.cols), [&](std::int64_t i) {
      const core::FpScope fp;
      const MatrixView<double> l = square(i, i + 1);
      const core::Buffer<double> memory(l.rows * l.rows);
      const MatrixView<double> x = view(memory.data(), l.rows, l.rows);
      for (std::int64_t k = 0; k < x.cols; ++k) x(k, k) = 1;
      kernels::solve_triangle(l, {}, x);
      for (std::int64_t k = 0; k < x.cols; ++k) std::copy_n(x.column(k), x.rows, l.column(k));
    });
  }

  /// Blocks [first, end), of which the diagonal blocks are inverted: with the inverses of both
  /// halves, X21 = -X22 (L21 X11).
  void invert(std::int64_t first, std::int64_t end) {
    if (end - first == 1 || cancelled()) return;
    const std::int64_t middle = first + (end - first + 1) / 2;
    invert(first, middle);
    invert(middle, end);
    const MatrixView<double> x11 = square(first, middle), x22 = square(middle, end);
    const MatrixView<double> l21 = a_.block(middle * kBlock, first * kBlock, x22.rows, x11.cols);
    multiply_right(l21, x11);
    multiply_left(x22, l21);
    step();
  }

  /// B <- B X, X lower triangular, strip by strip of columns, from the left.
  void multiply_right(MatrixView<double> b, MatrixView<const double> x) {
    for (std::int64_t j = 0; j < x.cols; j += kStrip) {
      const std::int64_t columns = std::min(kStrip, x.cols - j), depth = x.rows - j;
      gemm_.set_right(x.block(j, j, depth, columns), kBlock);
      const LeftOperand left(pool_, products_, b.block(0, j, b.rows, depth));
      // Products replace a part of the left operand, so they are collected first.
      const core::Buffer<double> memory(b.rows * columns);
      const MatrixView<double> sums = view(memory.data(), b.rows, columns);
      gemm_.subtract(blocks_in(b.rows), kBlock, [&](std::int64_t i) {
        const MatrixView<double> to = rows_of(sums, i);
        return BlockGemm::Rows{.a = left.rows(i * kBlock, to.rows, kBlock), .c = to};
      });
      pool_.for_each(columns, [&](std::int64_t c) {
        for (std::int64_t i = 0; i < b.rows; ++i) b(i, j + c) = -sums(i, c);
      });
    }
  }

  /// B <- -X B, X lower triangular.
  void multiply_left(MatrixView<const double> x, MatrixView<double> b) {
    const LeftOperand left(pool_, products_, x);
    for (std::int64_t j = 0; j < b.cols; j += kResidueColumns) {
      const MatrixView<double> strip = b.block(0, j, b.rows, std::min(kResidueColumns, b.cols - j));
      gemm_.set_right(strip, kBlock);
      clear(strip);
      const std::int64_t blocks = blocks_in(x.rows);
      gemm_.subtract(blocks, kBlock, [&](std::int64_t index) {
        const std::int64_t i = blocks - 1 - index;  // the longest first
        const MatrixView<double> to = rows_of(strip, i);
        return BlockGemm::Rows{
            .a = left.rows(i * kBlock, to.rows, kBlock), .c = to, .blocks = i + 1};
      });
    }
  }

  /// Rows [first, first + rows) of X'X, left of and in the diagonal block: X(k, rows)' X(k, :) for
  /// k >= row, because X is zero above.
  void multiply_rows(std::int64_t first, std::int64_t rows) {
    const MatrixView<double> x = a_.block(first, 0, a_.rows - first, first + rows);
    // The columns of X that are the left operand, negative, because products are subtracted: the
    // result replaces a part of them.
    const core::Buffer<double> memory(x.rows * rows, core::Contents::any);
    const MatrixView<double> negative = view(memory.data(), x.rows, rows);
    pool_.for_each(rows, [&](std::int64_t c) {
      std::transform(x.column(first + c), x.column(first + c) + x.rows, negative.column(c),
                     [](double e) { return -e; });
    });
    const LeftOperand left(pool_, products_, negative, true);
    for (std::int64_t j = 0; j < x.cols; j += kResidueColumns) {
      const std::int64_t columns = std::min(kResidueColumns, x.cols - j);
      gemm_.set_right(x.block(0, j, x.rows, columns), kBlock);
      const MatrixView<double> out = x.block(0, j, rows, columns);
      clear(out);
      const std::int64_t blocks = blocks_in(rows);
      gemm_.subtract(blocks, kBlock, [&](std::int64_t index) {
        const std::int64_t i = blocks - 1 - index;  // the longest first
        // Nothing right of the diagonal block.
        const std::int64_t needed = std::min(columns, first + (i + 1) * kBlock - j);
        const MatrixView<double> to = rows_of(out, i);
        // In the rows above block i these columns of X are zero.
        return BlockGemm::Rows{.a = left.rows(i * kBlock, to.rows, kBlock, i * kBlock),
                               .c = to.block(0, 0, to.rows, needed),
                               .first_block = i};
      });
    }
    step();
  }

  static MatrixView<double> rows_of(MatrixView<double> x, std::int64_t i) {
    return x.block(i * kBlock, 0, std::min(kBlock, x.rows - i * kBlock), x.cols);
  }
  MatrixView<double> square(std::int64_t first, std::int64_t end) const {
    const std::int64_t row = first * kBlock, n = std::min(end * kBlock, a_.cols) - row;
    return a_.block(row, row, n, n);
  }
  void clear(MatrixView<double> x) const {
    pool_.for_each(x.cols, [&](std::int64_t j) { std::fill_n(x.column(j), x.rows, 0.0); });
  }

  engine::ThreadPool& pool_;
  MatrixView<double> a_;
  const Products products_;
  BlockGemm gemm_;
  Progress* progress_;
};

}  // namespace

bool dense_inverse(engine::ThreadPool& pool, Products products, MatrixView<double> a,
                   Progress* progress) {
  return a.empty() || DenseInverse(pool, products, a, progress).run();
}

std::int64_t dense_inverse_bytes(Products products, std::int64_t n, int threads) {
  return BlockGemm::bytes(products, kBlock, n, std::min(n, kResidueColumns), kBlock, threads) +
         core::size_product(n, std::min(n, kRows), 8, "rows of the inverse") +
         core::size_product(n, 4 * 8, "scales");
}

}  // namespace stepwell::factor
