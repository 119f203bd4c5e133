// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/product.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/columns-inl.hpp"
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

/// y += A x for a small triangle, one column at a time: the part below the diagonal element is a
/// block with one column.
void triangle(MatrixView<const double> a, const double* x, double* y) {
  for (std::int64_t j = 0; j < a.rows; ++j) {
    y[j] += a(j, j) * x[j];
    sweep_columns<1, true, true>(a.column(j) + j + 1, a.ld, a.rows - j - 1, x + j, y + j + 1,
                                 x + j + 1, y + j, 1.0, static_cast<const double*>(nullptr));
  }
}

void symmetric_product(MatrixView<const double> a, MatrixView<const double> x,
                       MatrixView<double> y) noexcept {
  const std::int64_t n = a.rows;
  for (std::int64_t j = 0; j < n; j += kTriangle) {
    const std::int64_t k = std::min(kTriangle, n - j);
    for (std::int64_t c = 0; c < y.cols; ++c) {
      triangle(a.block(j, j, k, k), x.column(c) + j, y.column(c) + j);
    }
    const std::int64_t below = n - j - k;
    if (below > 0) {
      product(a.block(j + k, j, below, k),
              {x.block(j, 0, k, x.cols), y.block(j + k, 0, below, y.cols),
               x.block(j + k, 0, below, x.cols), y.block(j, 0, k, y.cols)});
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
