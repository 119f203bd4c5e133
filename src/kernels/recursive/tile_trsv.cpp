// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "core/machine/fp_scope.hpp"
#include "kernels/recursive.hpp"

/// Substitution in blocks of 32, the size of a panel of the packed layout: off-diagonal blocks go
/// through the table's products, the diagonal block is copied to a local array first.
namespace stepwell::kernels {
namespace {

constexpr std::int64_t kBlock = kPanel;

void subtract(const Table& t, PackedIn l, bool transposed, MatrixView<const float> x,
              MatrixView<float> y) {
  t.packed_product_fp32.run(l, transposed, x, y);
}
void subtract(const Table& t, PackedIn l, bool transposed, MatrixView<const double> x,
              MatrixView<double> y) {
  t.packed_product_fp64.run(l, transposed, x, y);
}
void subtract(const Table& t, MatrixView<const float> l, bool transposed, MatrixView<const float> x,
              MatrixView<float> y) {
  t.tile_product_fp32.run(l, transposed, x, y);
}
void subtract(const Table& t, MatrixView<const float> l, bool transposed,
              MatrixView<const double> x, MatrixView<double> y) {
  t.tile_product_fp64.run(l, transposed, x, y);
}

/// y -= L x through the table's y += A x: x is negated piece by piece on the stack.
void subtract(const Table& t, MatrixView<const double> l, bool transposed,
              MatrixView<const double> x, MatrixView<double> y) {
  constexpr std::int64_t kPiece = 512;
  constexpr std::int64_t kColumns = 4;
  alignas(64) double memory[kPiece * kColumns];
  for (std::int64_t c = 0; c < x.cols; c += kColumns) {
    const std::int64_t width = std::min(kColumns, x.cols - c);
    for (std::int64_t k = 0; k < x.rows; k += kPiece) {
      const std::int64_t depth = std::min(kPiece, x.rows - k);
      const MatrixView<double> negated{memory, depth, width, kPiece};
      for (std::int64_t j = 0; j < width; ++j) {
        const double* const from = x.column(c + j) + k;
        for (std::int64_t i = 0; i < depth; ++i) negated(i, j) = -from[i];
      }
      const MatrixView<double> out = y.block(0, c, y.rows, width);
      if (transposed) {
        t.product.run(l.block(k, 0, depth, l.cols), {{}, {}, negated, out});
      } else {
        t.product.run(l.block(0, k, l.rows, depth), {negated, out, {}, {}});
      }
    }
  }
}

void solve_block(const Table& t, float* e, std::int64_t n, bool transposed, MatrixView<float> x) {
  t.trsv_block_fp32.run(e, n, transposed, x);
}
void solve_block(const Table& t, double* e, std::int64_t n, bool transposed, MatrixView<double> x) {
  t.trsv_block_fp64.run(e, n, transposed, x);
}

void unpack_block(const Table& t, PackedIn l, float* e) {
  t.block_vectors_fp32.run(l, e);
}
void unpack_block(const Table& t, PackedIn l, double* e) {
  t.block_vectors_fp64.run(l, e);
}

/// The columns of a diagonal block, or of its transpose, for TrsvBlockFn.
template <class V>
void columns_of(const Table& t, PackedIn l, bool transposed, V* e) {
  if (!transposed) return unpack_block(t, l, e);
  constexpr int kMostPlanes = 3;
  alignas(64) std::uint16_t memory[kMostPlanes * kPlaneElements];
  const PackedOut rows{memory, l.rows, l.depth, l.planes * kPlaneElements, l.planes, Order::rows};
  t.reorder.run(l, rows);
  unpack_block(t, rows, e);
}
template <class T, class V>
void columns_of(const Table&, MatrixView<const T> l, bool transposed, V* e) {
  for (std::int64_t j = 0; j < l.cols; ++j) {
    for (std::int64_t i = j; i < l.rows; ++i) {
      e[transposed ? i * kBlock + j : j * kBlock + i] = static_cast<V>(l(i, j));
    }
  }
}

/// Substitution with L, a packed or plain tile of order n.
template <class L, class V>
void solve(const Table& t, L l, std::int64_t n, bool transposed, MatrixView<V> x) {
  const core::FpScope fp;
  alignas(64) V columns[kBlock * kBlock] = {};
  const std::int64_t blocks = (n + kBlock - 1) / kBlock;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t i = (transposed ? blocks - 1 - b : b) * kBlock;
    const std::int64_t m = std::min(kBlock, n - i);
    const std::int64_t rest = n - i - m;
    const MatrixView<V> xi = x.block(i, 0, m, x.cols);
    if (transposed && rest > 0) {
      subtract(t, l.block(i + m, i, rest, m), true, x.block(i + m, 0, rest, x.cols), xi);
    } else if (!transposed && i > 0) {
      subtract(t, l.block(i, 0, m, i), false, x.block(0, 0, i, x.cols), xi);
    }
    columns_of(t, l.block(i, i, m, m), transposed, columns);
    solve_block(t, columns, m, transposed, xi);
  }
}

}  // namespace

template <class V>
void tile_trsv(const Table& t, PackedIn l, bool transposed, MatrixView<V> x) {
  solve(t, l, l.rows, transposed, x);
}

template <class V>
void tile_trsv(const Table& t, MatrixView<const float> l, bool transposed, MatrixView<V> x) {
  solve(t, l, l.rows, transposed, x);
}

void tile_trsv(const Table& t, MatrixView<const double> l, bool transposed, MatrixView<double> x) {
  solve(t, l, l.rows, transposed, x);
}

void tile_product(const Table& t, MatrixView<const double> l, bool transposed,
                  MatrixView<const double> x, MatrixView<double> y) {
  const core::FpScope fp;
  subtract(t, l, transposed, x, y);
}

template void tile_trsv(const Table&, PackedIn, bool, MatrixView<float>);
template void tile_trsv(const Table&, PackedIn, bool, MatrixView<double>);
template void tile_trsv(const Table&, MatrixView<const float>, bool, MatrixView<float>);
template void tile_trsv(const Table&, MatrixView<const float>, bool, MatrixView<double>);

}  // namespace stepwell::kernels
