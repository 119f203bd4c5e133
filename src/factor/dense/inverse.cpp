// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/dense/inverse.hpp"

#include <algorithm>
#include <utility>

#include "core/checked.hpp"
#include "core/machine/fp_scope.hpp"
#include "factor/setup.hpp"
#include "kernels/blas/lapack.hpp"

namespace stepwell::factor {
namespace {

using kernels::Shape;
using tiles::ProductOut;

constexpr std::int64_t kBlock = 512;  ///< order of a block of a product
/// Order of a diagonal block that one thread inverts by the BLAS, and columns of it at a time: for
/// less, converting operands takes as long as exact products.
constexpr std::int64_t kLeaf = 1024;
constexpr std::int64_t kLeafColumns = 128;
constexpr std::int64_t kStrip = kResidueColumns;  ///< columns that are an operand at a time
constexpr std::int64_t kRows = 2048;              ///< rows of X'X that are computed at a time
/// Rows of a product in place that a thread multiplies at a time, if the BLAS does: its bits depend
/// on them.
constexpr std::int64_t kBlasRows = 128;
constexpr std::int64_t kFewestRows = 64;

std::int64_t blocks_in(std::int64_t n) {
  return core::ceil_div(n, kBlock);
}

std::int64_t leaves_in(std::int64_t n) {
  return core::ceil_div(n, kLeaf);
}

/// The other triangles of the diagonal blocks, which are zero until they are restored: operands of
/// products are whole blocks.
class OtherTriangle {
 public:
  OtherTriangle(engine::ThreadPool& pool, MatrixView<double> a, bool upper)
      : a_(a), upper_(upper), saved_(a.cols * kBlock, core::Contents::any) {
    pool.for_each(a.cols, [&](std::int64_t j) {
      visit(j, [](double& element, double& saved) { saved = std::exchange(element, 0); });
    });
  }
  OtherTriangle(const OtherTriangle&) = delete;
  OtherTriangle& operator=(const OtherTriangle&) = delete;
  /// On one thread: it may be called where there is no memory, and must not throw.
  ~OtherTriangle() {
    for (std::int64_t j = 0; j < a_.cols; ++j) {
      visit(j, [](double& element, const double& saved) { element = saved; });
    }
  }

 private:
  template <class Use>
  void visit(std::int64_t j, const Use& use) const {
    const std::int64_t block = j / kBlock * kBlock;
    const std::int64_t first = upper_ ? j + 1 : block;
    const std::int64_t end = upper_ ? std::min(block + kBlock, a_.rows) : j;
    for (std::int64_t i = first; i < end; ++i) use(a_(i, j), saved_[j * kBlock + i - block]);
  }

  MatrixView<double> a_;
  const bool upper_;
  core::Buffer<double> saved_;
};

/// Rows and columns below are those of L and X, lower triangular; in the upper triangle of A they
/// are stored transposed.
class DenseInverse {
 public:
  DenseInverse(engine::ThreadPool& pool, Products products, MatrixView<double> a, bool upper,
               Progress* progress)
      : pool_(pool),
        a_(a),
        upper_(upper),
        replace_(upper ? ProductOut::replace_transposed : ProductOut::replace),
        products_(products),
        gemm_(pool, products),
        progress_(progress) {}

  bool run() {
    announce(progress_, leaves_in(n()) - 1 + core::ceil_div(n(), kRows));
    const OtherTriangle other(pool_, a_, upper_);
    invert_diagonal();
    invert(0, n());
    for (std::int64_t first = 0; first < n() && !cancelled(); first += kRows) {
      multiply_rows(first, std::min(kRows, n() - first));
    }
    return !cancelled();
  }

 private:
  std::int64_t n() const { return a_.cols; }
  bool cancelled() const { return progress_ != nullptr && progress_->cancel; }
  void step() const {
    if (progress_ != nullptr) ++progress_->done;
  }

  void invert_diagonal() {
    pool_.for_each(leaves_in(n()), [&](std::int64_t i) {
      const core::FpScope fp;
      const std::int64_t first = i * kLeaf, size = std::min(kLeaf, n() - first);
      const MatrixView<double> l = part(first, first, size, size);
      const core::Buffer<double> memory(size * size);
      const MatrixView<double> x = view(memory.data(), size, size);
      for (std::int64_t k = 0; k < size; ++k) x(k, k) = 1;
      for (std::int64_t k = 0; k < size; k += kLeafColumns) {
        const std::int64_t cols = std::min(kLeafColumns, size - k);
        // The rows where these columns are not zero.
        const std::int64_t top = upper_ ? 0 : k, rows = upper_ ? k + cols : size - k;
        kernels::solve_triangle(l.block(top, top, rows, rows), {.upper = upper_},
                                x.block(top, k, rows, cols));
      }
      for (std::int64_t k = 0; k < size; ++k) {
        const std::int64_t top = upper_ ? 0 : k, end = upper_ ? k + 1 : size;
        std::copy(x.column(k) + top, x.column(k) + end, l.column(k) + top);
      }
    });
  }

  /// Rows and columns [first, end), whose leaves are inverted: with the inverses of both halves,
  /// X21 = -X22 (L21 X11).
  void invert(std::int64_t first, std::int64_t end) {
    const std::int64_t leaves = leaves_in(end - first);
    if (leaves == 1 || cancelled()) return;
    const std::int64_t middle = first + (leaves + 1) / 2 * kLeaf;
    invert(first, middle);
    invert(middle, end);
    multiply_right(first, middle, end);
    multiply_left(first, middle, end);
    step();
  }

  /// L21 <- -L21 X11, strip by strip of columns, from the left: the columns before a strip are not
  /// needed any more.
  void multiply_right(std::int64_t first, std::int64_t middle, std::int64_t end) {
    const std::int64_t rows = end - middle;
    const std::int64_t height = rows_at_a_time(rows);
    for (std::int64_t j = first; j < middle; j += kStrip) {
      const std::int64_t columns = std::min(kStrip, middle - j), depth = middle - j;
      gemm_.set_right(part(j, j, depth, columns), kBlock, upper_,
                      {Lines::Part::from_diagonal, kBlock});
      const LeftOperand left(pool_, products_, part(middle, j, rows, depth), upper_);
      gemm_.subtract(core::ceil_div(rows, height), height, [&](std::int64_t i) {
        const std::int64_t row = i * height, count = std::min(height, rows - row);
        return BlockGemm::Rows{.a = left.rows(row, count, kBlock),
                               .c = part(middle + row, j, count, columns),
                               .out = replace_,
                               .in_place = true};
      });
    }
  }

  /// L21 <- -X22 L21.
  void multiply_left(std::int64_t first, std::int64_t middle, std::int64_t end) {
    const std::int64_t rows = end - middle, blocks = blocks_in(rows);
    const LeftOperand left(pool_, products_, part(middle, middle, rows, rows), upper_, -1,
                           {Lines::Part::to_diagonal, kBlock});
    for (std::int64_t j = first; j < middle; j += kStrip) {
      const std::int64_t columns = std::min(kStrip, middle - j);
      gemm_.set_right(part(middle, j, rows, columns), kBlock, upper_);
      gemm_.subtract(blocks, kBlock, [&](std::int64_t index) {
        const std::int64_t i = blocks - 1 - index;  // the longest first
        const std::int64_t row = i * kBlock, count = std::min(kBlock, rows - row);
        return BlockGemm::Rows{.a = left.rows(row, count, kBlock),
                               .c = part(middle + row, j, count, columns),
                               .blocks = i + 1,
                               .out = replace_};
      });
    }
  }

  /// Rows [first, first + rows) of X'X, left of the diagonal and on it: X(k, rows)' X(k, :) for k
  /// >= row, because X is zero above.
  void multiply_rows(std::int64_t first, std::int64_t rows) {
    const std::int64_t depth = n() - first;
    const MatrixView<double> x = part(first, first, depth, rows);
    const LeftOperand left(pool_, products_, x, !upper_, -1, {Lines::Part::from_diagonal, kBlock});
    // The last strip of the result replaces these rows of the left operand.
    const core::Buffer<double> memory(rows * rows, core::Contents::any);
    const MatrixView<double> copy = view(memory.data(), rows, rows);
    pool_.for_each(rows, [&](std::int64_t c) {
      std::copy_n(part(first, first, rows, rows).column(c), rows, copy.column(c));
    });
    for (std::int64_t j = 0; j < first + rows; j += kStrip) {
      const std::int64_t columns = std::min(kStrip, first + rows - j);
      const bool diagonal = j == first;
      gemm_.set_right(part(first, j, depth, columns), kBlock, upper_,
                      diagonal ? Lines{Lines::Part::from_diagonal, kBlock} : Lines{});
      const std::int64_t blocks = blocks_in(rows);
      gemm_.subtract(blocks, kBlock, [&](std::int64_t index) {
        const std::int64_t i = blocks - 1 - index;  // the longest first
        const std::int64_t row = i * kBlock, count = std::min(kBlock, rows - row);
        tiles::ProductLeft of_x = left.rows(row, count, kBlock, row);
        of_x.block = [&, row, count, in_x = std::move(of_x.block)](std::int64_t k) {
          const std::int64_t from = row + k * kBlock;
          if (from >= rows) return in_x(k);
          const std::int64_t size = std::min(kBlock, depth - from);
          return MatrixView<const double>(upper_ ? copy.block(row, from, count, size)
                                                 : copy.block(from, row, size, count));
        };
        return BlockGemm::Rows{.a = std::move(of_x),
                               .c = part(first + row, j, count, diagonal ? row + count : columns),
                               .shape = diagonal ? Shape::lower : Shape::full,
                               .first_block = i,
                               .out = replace_};
      });
    }
    step();
  }

  /// A block of L or X as it is stored.
  MatrixView<double> part(std::int64_t row, std::int64_t col, std::int64_t rows,
                          std::int64_t cols) const {
    return upper_ ? a_.block(col, row, cols, rows) : a_.block(row, col, rows, cols);
  }

  /// Rows of a product in place, which is not divided by columns: some for each thread.
  std::int64_t rows_at_a_time(std::int64_t rows) const {
    if (products_ == Products::blas) return kBlasRows;
    const std::int64_t of_thread = core::ceil_div(rows, 2 * pool_.size());
    return std::clamp(core::round_up(of_thread, kernels::kResiduePanel), kFewestRows, kBlock);
  }

  engine::ThreadPool& pool_;
  MatrixView<double> a_;
  const bool upper_;
  const ProductOut replace_;
  const Products products_;
  BlockGemm gemm_;
  Progress* progress_;
};

}  // namespace

bool dense_inverse(engine::ThreadPool& pool, Products products, MatrixView<double> a,
                   Triangle triangle, Progress* progress) {
  return a.empty() || DenseInverse(pool, products, a, triangle == Triangle::upper, progress).run();
}

Products inverse_products(std::int64_t n) {
  // Even while a matrix engine for bytes runs at a third of its speed.
  constexpr std::int64_t kExactFrom = 4096;
  return has_residue_engine() && n >= kExactFrom ? Products::exact : Products::blas;
}

std::int64_t dense_inverse_bytes(Products products, std::int64_t n, int threads) {
  const std::int64_t rows = std::min(n, kRows);
  const std::int64_t leaf = std::min(n, kLeaf);
  return BlockGemm::bytes(products, kBlock, n, std::min(n, kStrip), kBlock, threads) +
         core::size_product(leaf, leaf, 8 * threads, "blocks") +
         core::size_product(n, kBlock, 8, "the other triangle") +
         core::size_product(rows, rows, 8, "rows of the inverse") +
         core::size_product(n, 4 * 8, "scales");
}

}  // namespace stepwell::factor
