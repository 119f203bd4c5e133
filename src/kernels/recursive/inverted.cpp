// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>

#include "kernels/recursive/product.hpp"

namespace stepwell::kernels {
namespace {

void invert(const Table& t, MatrixView<const float> l, MatrixView<float> w) {
  t.invert_fp32.run(l, w);
}
void invert(const Table& t, MatrixView<const double> l, MatrixView<double> w) {
  t.invert_fp64.run(l, w);
}

}  // namespace

template <class T>
void invert_diagonal_blocks(const Table& t, MatrixView<const T> l, std::int64_t block,
                            MatrixView<T> w) {
  const core::FpScope fp;
  const std::int64_t n = l.rows;
  for (std::int64_t k = 0; k < n; k += block) {
    const std::int64_t size = std::min(block, n - k);
    invert(t, l.block(k, k, size, size), w.block(k, k, size, size));
    for (std::int64_t j = k; j < k + size; ++j) {
      std::fill_n(w.column(j), k, T{0});
      std::copy(l.column(j) + k + size, l.column(j) + n, w.column(j) + k + size);
    }
  }
}

void invert_diagonal_blocks(const Table& t, Rung rung, MatrixView<const float> l,
                            std::int64_t block, PackedOut rows, std::byte* scratch,
                            const PieceRunner& share) {
  const core::FpScope fp;
  const std::int64_t blocks = (l.rows + block - 1) / block;
  core::run_pieces(share, blocks, scratch, [&](std::int64_t i, std::byte* memory) {
    const std::int64_t k = i * block, size = std::min(block, l.rows - k);
    const auto w = view(reinterpret_cast<float*>(memory), size, size);
    invert(t, l.block(k, k, size, size), w);
    pack(t, rung, w, rows.block(k, k, size, size));
  });
}

void solve_inverted(const Table& t, MatrixView<const float> w, std::int64_t block,
                    MatrixView<float> b, std::byte* scratch) {
  const std::int64_t n = w.rows;
  for (std::int64_t k = 0; k < n; k += block) {
    const std::int64_t size = std::min(block, n - k);
    const MatrixView<float> bk = b.block(0, k, b.rows, size);
    if (k > 0) update(t, b.block(0, 0, b.rows, k), w.block(k, 0, size, k), bk);
    const auto right_side = view(reinterpret_cast<float*>(scratch), b.rows, size);
    for (std::int64_t j = 0; j < size; ++j) {
      std::copy_n(bk.column(j), b.rows, right_side.column(j));
    }
    update(t, right_side, w.block(k, k, size, size), bk, Shape::full, Write::assign);
  }
}

void truncate(MatrixView<float> a, Rung rung, Shape shape) {
  // bf16 terms have 8 significant bits each; two of them hold any 16-bit significand exactly.
  const int bits = rung == Rung::bf16     ? 8
                   : rung == Rung::bf16x2 ? 16
                   : rung == Rung::fp16   ? 11
                                          : 24;
  const std::uint32_t mask = ~std::uint32_t{0} << (24 - bits);
  if (bits == 24) return;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    float* const column = a.column(j);
    for (std::int64_t i = shape == Shape::lower ? j : 0; i < a.rows; ++i) {
      column[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(column[i]) & mask);
    }
  }
}

void solve_inverted(const Table& t, Rung rung, PackedIn w, std::int64_t block, MatrixView<float> b,
                    PackedOut x, std::byte* scratch, Rounding rounding) {
  const std::int64_t n = w.rows;
  for (std::int64_t k = 0; k < n; k += block) {
    const std::int64_t size = std::min(block, n - k);
    const MatrixView<float> bk = b.block(0, k, b.rows, size);
    if (k > 0) update(t, rung, x.block(0, 0, b.rows, k), w.block(k, 0, size, k), bk);
    const PackedOut right_side =
        packed(reinterpret_cast<std::uint16_t*>(scratch), b.rows, size, rung, Order::pairs);
    pack(t, rung, bk, right_side);
    update(t, rung, right_side, w.block(k, k, size, size), bk, Shape::full, Write::assign);
    if (rounding == Rounding::toward_zero) truncate(bk, rung, Shape::full);
    pack(t, rung, bk, x.block(0, k, b.rows, size));
  }
}

template void invert_diagonal_blocks(const Table&, MatrixView<const float>, std::int64_t,
                                     MatrixView<float>);
template void invert_diagonal_blocks(const Table&, MatrixView<const double>, std::int64_t,
                                     MatrixView<double>);

}  // namespace stepwell::kernels
