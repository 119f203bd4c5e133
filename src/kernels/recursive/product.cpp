// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/recursive/product.hpp"

namespace stepwell::kernels {
namespace {

/// Elements of one operand of a product in a tree_* call: one of its sides is at most half the
/// order.
std::int64_t operand_elements(std::int64_t order) {
  return packed_elements(order, recursive::first_half(order) + kPanel, 3);
}

void narrow(MatrixView<const double> from, MatrixView<float> to) {
  for (std::int64_t j = 0; j < from.cols; ++j) {
    for (std::int64_t i = 0; i < from.rows; ++i) to(i, j) = static_cast<float>(from(i, j));
  }
}

/// Allocates pieces of scratch, aligned to 64 bytes.
struct Scratch {
  std::byte* at;

  template <class T>
  T* take(std::int64_t count) {
    T* const piece = reinterpret_cast<T*>(at);
    at += core::round_up(count * static_cast<std::int64_t>(sizeof(T)), 64);
    return piece;
  }
};

template <class T>
void packed_product(const Table& t, Rung rung, MatrixView<const T> a, MatrixView<const T> b,
                    MatrixView<float> c, Write write, Scratch scratch) {
  const int planes = info(rung).planes;
  const PackedOut pa = packed(scratch.take<std::uint16_t>(packed_elements(a.rows, a.cols, planes)),
                              a.rows, a.cols, rung, Order::pairs);
  const PackedOut pb = packed(scratch.take<std::uint16_t>(packed_elements(b.rows, b.cols, planes)),
                              b.rows, b.cols, rung, Order::rows);
  pack(t, rung, a, pa);
  pack(t, rung, b, pb);
  update(t, rung, pa, pb, c, Shape::full, write);
}

}  // namespace

std::int64_t tree_scratch(std::int64_t order) {
  // Two packed operands, and the fp32 product in the fp64 case, with 64 bytes of alignment for
  // each.
  const std::int64_t operand = operand_elements(order) * 2 + 64;
  const std::int64_t product =
      core::round_up(order, kPanel) * (recursive::first_half(order) + kPanel) * 4 + 64;
  return 2 * operand + product;
}

Layers uniform_layers(Rung rung) {
  Layers layers;
  layers.rung[0] = rung;
  return layers;
}

namespace recursive {

template <class T>
void product_at_rung(const Table& t, Rung rung, MatrixView<const T> a, MatrixView<const T> b,
                     MatrixView<T> c, std::byte* scratch) {
  if (c.empty() || a.cols == 0) return;
  constexpr Rung own = std::is_same_v<T, double> ? Rung::fp64 : Rung::fp32;
  if (rung >= own) {
    update(t, a, b, c);
    return;
  }
  Scratch s{scratch};
  if constexpr (std::is_same_v<T, float>) {
    packed_product(t, rung, a, b, c, Write::subtract, s);
  } else {
    const auto p = view(s.take<float>(c.rows * c.cols), c.rows, c.cols);
    if (rung == Rung::fp32) {
      const auto a32 = view(s.take<float>(a.rows * a.cols), a.rows, a.cols);
      const auto b32 = view(s.take<float>(b.rows * b.cols), b.rows, b.cols);
      narrow(a, a32);
      narrow(b, b32);
      update(t, a32, b32, p, Shape::full, Write::assign);
    } else {
      packed_product(t, rung, a, b, p, Write::assign, s);
    }
    for (std::int64_t j = 0; j < c.cols; ++j) {
      for (std::int64_t i = 0; i < c.rows; ++i) c(i, j) -= p(i, j);
    }
  }
}

template void product_at_rung(const Table&, Rung, MatrixView<const float>, MatrixView<const float>,
                              MatrixView<float>, std::byte*);
template void product_at_rung(const Table&, Rung, MatrixView<const double>,
                              MatrixView<const double>, MatrixView<double>, std::byte*);

}  // namespace recursive
}  // namespace stepwell::kernels
