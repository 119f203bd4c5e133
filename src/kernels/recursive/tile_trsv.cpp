// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <type_traits>

#include "core/machine/fp_scope.hpp"
#include "core/numeric/rounding.hpp"
#include "kernels/recursive.hpp"

/// Substitution in blocks of 32, the size of a panel of the packed layout: off-diagonal blocks go
/// through the table's products, the diagonal block is copied to a local array.
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

/// Copies the lower triangle of a diagonal block, with the terms summed in V. The general unpack
/// kernel takes three times as long for one block, and nothing else can run in parallel.
template <class V>
void copy_block(PackedIn l, MatrixView<V> out) {
  for (std::int64_t k = 0; k < out.cols; ++k) {
    for (std::int64_t i = k / kEngineRows * kEngineRows; i < out.rows; i += kEngineRows) {
      const std::int64_t rows = std::min(kEngineRows, out.rows - i);
      const std::uint16_t* const from = l.data + l.offset(i, k, 0);
      V* const to = out.column(k) + i;
      for (std::int64_t r = 0; r < rows; ++r) {
        V sum = core::to_float(bf16{from[2 * r]});
        for (int plane = 1; plane < l.planes; ++plane) {
          sum += static_cast<V>(core::to_float(bf16{from[2 * r + plane * kPlaneElements]}));
        }
        to[r] = sum;
      }
    }
  }
}
template <class T, class V>
void copy_block(MatrixView<const T> l, MatrixView<V> out) {
  for (std::int64_t j = 0; j < out.cols; ++j) {
    std::copy(l.column(j) + j, l.column(j) + out.rows, out.column(j) + j);
  }
}

/// x <- L^-1 x, by columns of L.
template <class V>
void forward(MatrixView<const V> l, V* x) {
  for (std::int64_t j = 0; j < l.rows; ++j) {
    x[j] /= l(j, j);
    for (std::int64_t i = j + 1; i < l.rows; ++i) {
      x[i] -= l(i, j) * x[j];
    }
  }
}

/// x <- L^-T x, by rows of L: the updates are independent of each other, whereas a sum would be a
/// chain of dependent operations.
template <class V>
void backward(MatrixView<const V> l, V* x) {
  for (std::int64_t i = l.rows - 1; i >= 0; --i) {
    x[i] /= l(i, i);
    for (std::int64_t j = 0; j < i; ++j) {
      x[j] -= l(i, j) * x[i];
    }
  }
}

/// Substitution with L, a packed or plain tile of order n.
template <class L, class V>
void solve(const Table& t, L l, std::int64_t n, bool transposed, MatrixView<V> x) {
  const core::FpScope fp;
  V diagonal[kBlock * kBlock];
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
    MatrixView<const V> d{diagonal, m, m, kBlock};
    if constexpr (std::is_same_v<L, MatrixView<const V>>) {
      d = l.block(i, i, m, m);
    } else {
      copy_block(l.block(i, i, m, m), MatrixView<V>{diagonal, m, m, kBlock});
    }
    for (std::int64_t c = 0; c < x.cols; ++c) {
      if (transposed) {
        backward<V>(d, xi.column(c));
      } else {
        forward<V>(d, xi.column(c));
      }
    }
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
