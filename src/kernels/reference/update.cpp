// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "core/numeric/rounding.hpp"
#include "kernels/reference/reference.hpp"
#include "kernels/rung_products.hpp"

namespace stepwell::kernels {
namespace {

float term(PackedIn p, std::int64_t i, std::int64_t k, int plane) {
  return core::to_float(bf16{p.data[p.offset(i, k, plane)]});
}

template <class T>
void write_element(T& c, T product, Write write) {
  c = write == Write::assign ? product : c - product;
}

void update(Rung rung, PackedIn a, PackedIn b, MatrixView<float> c, Shape shape, Write write,
            const Next&) noexcept {
  const RungProducts products = rung_products(rung);
  for (std::int64_t j = 0; j < c.cols; ++j) {
    for (std::int64_t i = shape == Shape::lower ? j : 0; i < c.rows; ++i) {
      // Summed block by block, as the engine does: a single chain of 6 x 4096 terms loses bf16x3's
      // 1e-7.
      float sum = 0;
      for (std::int64_t k0 = 0; k0 < a.depth; k0 += kDepth) {
        float block = 0;
        for (std::int64_t k = k0; k < std::min(a.depth, k0 + kDepth); ++k) {
          for (int p = 0; p < products.count; ++p) {
            block += term(a, i, k, products.pair[p].a) * term(b, j, k, products.pair[p].b);
          }
        }
        sum += block;
      }
      write_element(c(i, j), sum, write);
    }
  }
}

template <class T>
void dense_update(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, Shape shape,
                  Write write) noexcept {
  for (std::int64_t j = 0; j < c.cols; ++j) {
    for (std::int64_t i = shape == Shape::lower ? j : 0; i < c.rows; ++i) {
      T sum = 0;
      for (std::int64_t k = 0; k < a.cols; ++k) sum += a(i, k) * b(j, k);
      write_element(c(i, j), sum, write);
    }
  }
}

}  // namespace

void fill_reference_update(Table& t) {
  for (auto& entry : t.update) entry = {&update, "update_reference", core::Isa::reference};
  t.update_fp32 = {&dense_update<float>, "update_fp32_reference", core::Isa::reference};
  t.update_fp64 = {&dense_update<double>, "update_fp64_reference", core::Isa::reference};
  t.small_update_fp32 = t.update_fp32;
  t.small_update_fp64 = t.update_fp64;
}

}  // namespace stepwell::kernels
