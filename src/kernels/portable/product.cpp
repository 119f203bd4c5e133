// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/product.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/blocks-inl.hpp"
#include "kernels/portable/target-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

void product(MatrixView<const double> a, const Products& p) noexcept {
  sweep(a, Sweep<double>{p.x, p.y, p.w, p.z, 1.0});
}

// Order of the triangles on the diagonal; everything below them goes through product().
constexpr std::int64_t kTriangle = 32;

/// y += A x for a small block on the diagonal: mirrored, it is a block like any other.
void triangle(MatrixView<const double> a, MatrixView<const double> x, MatrixView<double> y) {
  alignas(64) double buffer[kTriangle * kTriangle];
  const auto full = view(buffer, a.rows, a.rows);
  for (std::int64_t j = 0; j < a.rows; ++j) {
    for (std::int64_t i = j; i < a.rows; ++i) {
      full(i, j) = full(j, i) = a(i, j);
    }
  }
  sweep(view<const double>(buffer, a.rows, a.rows), Sweep<double>{x, y, {}, {}, 1.0});
}

void symmetric_product(MatrixView<const double> a, MatrixView<const double> x,
                       MatrixView<double> y) noexcept {
  const std::int64_t n = a.rows;
  for (std::int64_t j = 0; j < n; j += kTriangle) {
    const std::int64_t k = std::min(kTriangle, n - j);
    const auto xj = x.block(j, 0, k, x.cols);
    const auto yj = y.block(j, 0, k, y.cols);
    triangle(a.block(j, j, k, k), xj, yj);
    const std::int64_t below = n - j - k;
    if (below > 0) {
      product(a.block(j + k, j, below, k),
              {xj, y.block(j + k, 0, below, y.cols), x.block(j + k, 0, below, x.cols), yj});
    }
  }
}

}  // namespace

void fill_portable_product(Table& t) {
  t.product = {&product, "product_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
  t.symmetric_product = {&symmetric_product, "symmetric_product_" STEPWELL_TARGET_NAME,
                         STEPWELL_TARGET_ISA};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_product)
}  // namespace stepwell::kernels
#endif
