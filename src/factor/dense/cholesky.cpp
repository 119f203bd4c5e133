// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/dense/cholesky.hpp"

#include <algorithm>

#include "core/machine/fp_scope.hpp"
#include "kernels/kernels.hpp"
#include "kernels/recursive.hpp"

namespace stepwell::factor {
namespace {

/// Up to this order one thread factors a block: 170 us.
constexpr std::int64_t kSerial = 256;
/// Rows of a piece of a triangular solve, and order of a piece of an update.
constexpr std::int64_t kRows = 64;
constexpr std::int64_t kTile = 128;

/// All products in fp64, which needs no scratch.
const kernels::Layers kFp64 = kernels::uniform_layers(Rung::fp64);

/// Algorithm 1 of Carrica et al., its solves and updates in pieces.
class DenseCholesky {
 public:
  explicit DenseCholesky(engine::ThreadPool& pool) : pool_(pool) {}

  kernels::Pivot factor(MatrixView<double> a) {
    const std::int64_t n = a.rows;
    if (n <= kSerial) return kernels::tree_potrf(kernels::table(), a, kFp64, nullptr);
    const std::int64_t n1 = core::round_up((n + 1) / 2, kRows);
    const std::int64_t n2 = n - n1;
    const MatrixView<double> a21 = a.block(n1, 0, n2, n1);
    const MatrixView<double> a22 = a.block(n1, n1, n2, n2);
    kernels::Pivot pivot = factor(a.block(0, 0, n1, n1));
    if (!pivot.ok()) return pivot;
    solve(a.block(0, 0, n1, n1), a21);
    update(a21, a22);
    pivot = factor(a22);
    if (!pivot.ok()) pivot.index += n1;
    return pivot;
  }

 private:
  /// B <- B L^-T.
  void solve(MatrixView<const double> l, MatrixView<double> b) {
    pool_.for_each((b.rows + kRows - 1) / kRows, [&](std::int64_t piece) {
      const std::int64_t first = piece * kRows;
      const std::int64_t rows = std::min(kRows, b.rows - first);
      kernels::tree_trsm<double>(kernels::table(), l, b.block(first, 0, rows, b.cols), kFp64,
                                 nullptr);
    });
  }

  /// C <- C - A A', lower.
  void update(MatrixView<const double> a, MatrixView<double> c) {
    const std::int64_t tiles = (c.rows + kTile - 1) / kTile;
    pool_.for_each(tiles * (tiles + 1) / 2, [&](std::int64_t piece) {
      std::int64_t j = 0, i = piece;
      while (i >= tiles) i -= tiles - ++j;
      const MatrixView<double> part =
          c.block(i * kTile, j * kTile, std::min(kTile, c.rows - i * kTile),
                  std::min(kTile, c.rows - j * kTile));
      kernels::update(kernels::table(), a.block(i * kTile, 0, part.rows, a.cols),
                      a.block(j * kTile, 0, part.cols, a.cols), part,
                      i == j ? kernels::Shape::lower : kernels::Shape::full);
    });
  }

  engine::ThreadPool& pool_;
};

}  // namespace

kernels::Pivot dense_cholesky(engine::ThreadPool& pool, MatrixView<double> a) {
  return DenseCholesky(pool).factor(a);
}

}  // namespace stepwell::factor
