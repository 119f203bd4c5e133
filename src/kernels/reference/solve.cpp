// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

#include "core/numeric/rounding.hpp"
#include "kernels/reference/reference.hpp"

namespace stepwell::kernels {
namespace {

/// Element (i, k) of a packed operand: the sum of its terms in V, largest first.
template <class V>
V element(PackedIn l, std::int64_t i, std::int64_t k) {
  V sum = 0;
  for (int plane = 0; plane < l.planes; ++plane) {
    sum += static_cast<V>(core::to_float(bf16{l.data[l.offset(i, k, plane)]}));
  }
  return sum;
}

template <class V>
V element(MatrixView<const float> l, std::int64_t i, std::int64_t k) {
  return static_cast<V>(l(i, k));
}

/// y -= L x or y -= L' x; 'inner' is the length of the sums.
template <class V, class L>
void subtract_product(L l, std::int64_t inner, bool transposed, MatrixView<const V> x,
                      MatrixView<V> y) {
  for (std::int64_t c = 0; c < y.cols; ++c) {
    for (std::int64_t i = 0; i < y.rows; ++i) {
      V sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        sum += (transposed ? element<V>(l, k, i) : element<V>(l, i, k)) * x(k, c);
      }
      y(i, c) -= sum;
    }
  }
}

template <class V>
void packed_product(PackedIn l, bool transposed, MatrixView<const V> x, MatrixView<V> y) noexcept {
  subtract_product(l, transposed ? l.rows : l.depth, transposed, x, y);
}

template <class V>
void tile_product(MatrixView<const float> l, bool transposed, MatrixView<const V> x,
                  MatrixView<V> y) noexcept {
  subtract_product(l, transposed ? l.rows : l.cols, transposed, x, y);
}

template <class V>
void block_vectors(PackedIn l, V* e) noexcept {
  for (std::int64_t k = 0; k < kPanel; ++k) {
    for (std::int64_t i = 0; i < kPanel; ++i) {
      e[k * kPanel + i] = l.order == Order::pairs ? element<V>(l, i, k) : element<V>(l, k, i);
    }
  }
}

template <class V>
void trsv_block(V* e, std::int64_t n, bool backward, MatrixView<V> x) noexcept {
  for (std::int64_t c = 0; c < x.cols; ++c) {
    for (std::int64_t s = 0; s < n; ++s) {
      const std::int64_t k = backward ? n - 1 - s : s;
      const V* const column = e + k * kPanel;
      x(k, c) /= column[k];
      for (std::int64_t i = backward ? 0 : k + 1; i < (backward ? k : n); ++i) {
        x(i, c) -= column[i] * x(k, c);
      }
    }
  }
}

void rotate(MatrixView<double> l, MatrixView<double> v, const Rotations& r) noexcept {
  for (std::int64_t step = 0; step < l.cols; ++step) {
    const std::int64_t j = r.descending ? l.cols - 1 - step : step;
    for (std::int64_t t = 0; t < v.cols; ++t) {
      const double c = r.c[j * v.cols + t], s = r.s[j * v.cols + t];
      for (std::int64_t i = 0; i < l.rows; ++i) {
        const double x = l(i, j), y = v(i, t);
        l(i, j) = c * x + s * y;
        v(i, t) = c * y - s * x;
      }
    }
  }
}

}  // namespace

void fill_reference_rotate(Table& t) {
  t.rotate = {&rotate, "rotate_reference", core::Isa::reference};
}

void fill_reference_solve(Table& t) {
  constexpr auto isa = core::Isa::reference;
  t.packed_product_fp32 = {&packed_product<float>, "packed_product_fp32_reference", isa};
  t.packed_product_fp64 = {&packed_product<double>, "packed_product_fp64_reference", isa};
  t.tile_product_fp32 = {&tile_product<float>, "tile_product_fp32_reference", isa};
  t.tile_product_fp64 = {&tile_product<double>, "tile_product_fp64_reference", isa};
  t.block_vectors_fp32 = {&block_vectors<float>, "block_vectors_fp32_reference", isa};
  t.block_vectors_fp64 = {&block_vectors<double>, "block_vectors_fp64_reference", isa};
  t.trsv_block_fp32 = {&trsv_block<float>, "trsv_block_fp32_reference", isa};
  t.trsv_block_fp64 = {&trsv_block<double>, "trsv_block_fp64_reference", isa};
}

}  // namespace stepwell::kernels
