// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/dense/residue_lu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/checked.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/numeric/worst.hpp"
#include "factor/blas3/block_gemm.hpp"
#include "factor/dense/lu.hpp"
#include "factor/triangular/block_substitution.hpp"

namespace stepwell::factor {
namespace {

constexpr std::int64_t kPanel = 512;  ///< columns of a panel, and the order of a block
constexpr std::int64_t kStrip = 64;   ///< columns in which a thread exchanges rows at a time

/// Rows of A are comparable if the largest of their elements, relative to the largest ones of their
/// columns, differ by no more.
constexpr double kComparable = 0x1p-10;

class ResidueLu {
 public:
  ResidueLu(engine::ThreadPool& pool, MatrixView<double> a, int* pivots)
      : pool_(pool), a_(a), pivots_(pivots), products_(pool) {}

  std::int64_t run() {
    factor(0, a_.cols);
    return zero_;
  }

 private:
  /// Columns [first, end) from row 'first' on.
  void factor(std::int64_t first, std::int64_t end) {
    if (end - first <= kPanel) return panel(first, end - first);
    const std::int64_t middle = first + core::round_up((end - first) / 2, kPanel);
    const std::int64_t left = middle - first, right = end - middle, below = a_.rows - middle;
    factor(first, middle);
    exchange(first, middle, middle, right);
    const MatrixView<double> u = a_.block(first, middle, left, right);
    residue_lu_solve(pool_, a_.block(first, first, left, left), {false, false, true}, u);
    subtract(a_.block(middle, first, below, left), u, a_.block(middle, middle, below, right));
    factor(middle, end);
    exchange(middle, end, first, left);
  }

  void panel(std::int64_t k, std::int64_t columns) {
    const std::int64_t zero = dense_lu(pool_, a_.block(k, k, a_.rows - k, columns), pivots_ + k);
    if (zero >= 0 && zero_ < 0) zero_ = k + zero;
    for (std::int64_t i = k; i < k + columns; ++i) pivots_[i] += static_cast<int>(k);
  }

  /// Exchanges rows as the pivots [from, to) say, in 'count' columns from 'column' on.
  void exchange(std::int64_t from, std::int64_t to, std::int64_t column, std::int64_t count) const {
    pool_.for_each(core::ceil_div(count, kStrip), [&](std::int64_t strip) {
      const std::int64_t first = column + strip * kStrip;
      for (std::int64_t c = first; c < std::min(first + kStrip, column + count); ++c) {
        double* const x = a_.column(c);
        for (std::int64_t i = from; i < to; ++i) std::swap(x[i], x[pivots_[i] - 1]);
      }
    });
  }

  /// C -= L U.
  void subtract(MatrixView<const double> l, MatrixView<const double> u, MatrixView<double> c) {
    const LeftOperand left(pool_, Products::exact, l);
    for (std::int64_t j = 0; j < c.cols; j += kResidueColumns) {
      const std::int64_t columns = std::min(kResidueColumns, c.cols - j);
      products_.set_right(u.block(0, j, u.rows, columns), kPanel);
      products_.subtract(core::ceil_div(l.rows, kPanel), kPanel, [&](std::int64_t i) {
        const std::int64_t first = i * kPanel, rows = std::min(kPanel, l.rows - first);
        return BlockGemm::Rows{.a = left.rows(first, rows, kPanel),
                               .c = c.block(first, j, rows, columns)};
      });
    }
  }

  engine::ThreadPool& pool_;
  MatrixView<double> a_;
  int* pivots_;
  BlockGemm products_;
  std::int64_t zero_ = -1;
};

}  // namespace

bool uses_residue_lu(engine::ThreadPool& pool, MatrixView<const double> a) {
  if (a.rows < kResidueLu || !has_residue_engine()) return false;
  tiles::LineSizes columns(a.cols);
  const std::int64_t strips = core::ceil_div(a.cols, kStrip);
  const auto strip_of = [&a](std::int64_t strip) {
    const std::int64_t first = strip * kStrip;
    return a.block(0, first, a.rows, std::min(kStrip, a.cols - first));
  };
  pool.for_each(strips, [&](std::int64_t s) {
    columns.add_columns(kernels::table(), strip_of(s), s * kStrip);
  });
  std::vector<double> reciprocal;
  for (const double most : columns.max_abs) reciprocal.push_back(most > 0 ? 1 / most : 0);
  // The largest element of each row in columns of one size.
  std::vector<double> largest(static_cast<std::size_t>(a.rows));
  pool.for_each(core::ceil_div(a.rows, kPanel), [&](std::int64_t block) {
    const std::int64_t end = std::min((block + 1) * kPanel, a.rows);
    for (std::int64_t j = 0; j < a.cols; ++j) {
      const double* const x = a.column(j);
      const double scale = reciprocal[static_cast<std::size_t>(j)];
      for (std::int64_t i = block * kPanel; i < end; ++i) {
        double& most = largest[static_cast<std::size_t>(i)];
        most = core::worst(most, std::fabs(x[i]) * scale);
      }
    }
  });
  return std::ranges::all_of(largest,
                             [](double x) { return x >= kComparable && std::isfinite(x); });
}

std::int64_t residue_lu(engine::ThreadPool& pool, MatrixView<double> a, int* pivots) {
  return ResidueLu(pool, a, pivots).run();
}

std::int64_t residue_lu_bytes(std::int64_t n, int threads) {
  if (n < kResidueLu || !has_residue_engine()) return 0;
  const std::int64_t half = core::round_up((n + 1) / 2, kPanel);
  return BlockGemm::bytes(Products::exact, kPanel, half, std::min(half, kResidueColumns), kPanel,
                          threads) +
         core::size_product(n, 5 * 8, "scales");
}

void residue_lu_solve(engine::ThreadPool& pool, MatrixView<const double> lu,
                      kernels::Triangle triangle, MatrixView<double> b) {
  const bool transposed = triangle.transposed;
  BlockTriangle t{{lu.rows, kPanel}, triangle.upper != transposed, transposed, {}, {}};
  const auto block = [lu](std::int64_t i, std::int64_t k) {
    const std::int64_t row = i * kPanel, column = k * kPanel;
    return lu.block(row, column, std::min(kPanel, lu.rows - row),
                    std::min(kPanel, lu.cols - column));
  };
  t.block = [block, transposed](std::int64_t i, std::int64_t k) {
    return transposed ? block(k, i) : block(i, k);
  };
  t.solve = [block, triangle](std::int64_t i, MatrixView<double> x) {
    kernels::solve_triangle(block(i, i), triangle, x);
  };
  substitute_blocks(pool, t, b, Products::exact);
}

std::int64_t residue_lu_solve_bytes(std::int64_t n, std::int64_t columns, int threads) {
  return block_substitution_bytes({n, kPanel}, columns, threads, Products::exact);
}

}  // namespace stepwell::factor
