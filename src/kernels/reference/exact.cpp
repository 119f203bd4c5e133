// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>

#include "core/numeric/double_double.hpp"
#include "kernels/reference/reference.hpp"

namespace stepwell::kernels {
namespace {

std::uint64_t exact_product(MatrixView<const double> a, const ExactProducts& p) noexcept {
  using core::DoubleDouble;
  std::uint64_t checksum = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    DoubleDouble z;
    if (p.z != nullptr) z = {p.z[j], p.z_low[j]};
    for (std::int64_t i = 0; i < a.rows; ++i) {
      checksum += std::bit_cast<std::uint64_t>(a(i, j));
      if (p.y != nullptr) {
        const auto y = core::multiply_add({p.y[i], p.y_low[i]}, a(i, j), p.x[j]);
        p.y[i] = y.hi;
        p.y_low[i] = y.lo;
      }
      if (p.z != nullptr) z = core::multiply_add(z, a(i, j), p.w[i]);
    }
    if (p.z != nullptr) {
      p.z[j] = z.hi;
      p.z_low[j] = z.lo;
    }
  }
  return checksum;
}

}  // namespace

void fill_reference_exact(Table& t) {
  t.exact_product = {&exact_product, "exact_product_reference", core::Isa::reference};
}

}  // namespace stepwell::kernels
