// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

#include "kernels/reference/reference.hpp"

namespace stepwell::kernels {
namespace {

void product(MatrixView<const double> a, const Products& p) noexcept {
  if (p.y.data != nullptr) {
    for (std::int64_t c = 0; c < p.y.cols; ++c) {
      for (std::int64_t i = 0; i < a.rows; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < a.cols; ++j) {
          sum += a(i, j) * p.x(j, c);
        }
        p.y(i, c) += sum;
      }
    }
  }
  if (p.z.data != nullptr) {
    for (std::int64_t c = 0; c < p.z.cols; ++c) {
      for (std::int64_t j = 0; j < a.cols; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < a.rows; ++i) {
          sum += a(i, j) * p.w(i, c);
        }
        p.z(j, c) += sum;
      }
    }
  }
}

void symmetric_product(MatrixView<const double> a, MatrixView<const double> x,
                       MatrixView<double> y) noexcept {
  for (std::int64_t c = 0; c < y.cols; ++c) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < a.rows; ++j) {
        sum += (i >= j ? a(i, j) : a(j, i)) * x(j, c);
      }
      y(i, c) += sum;
    }
  }
}

}  // namespace

void fill_reference_product(Table& t) {
  t.product = {&product, "product_reference", core::Isa::reference};
  t.symmetric_product = {&symmetric_product, "symmetric_product_reference", core::Isa::reference};
}

}  // namespace stepwell::kernels
