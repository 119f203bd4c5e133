// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

#include "kernels/reference/reference.hpp"

namespace stepwell::kernels {
namespace {

void gather_gram(const GatherGram& g) noexcept {
  const std::int64_t k = g.items.rows;
  for (std::int64_t j = 0; j < k; ++j) {
    for (std::int64_t i = j; i < k; ++i) {
      g.c(i, j) = g.base != nullptr ? g.base[i + j * g.c.ld] : 0;
    }
  }
  for (std::int64_t e = 0; e < g.count; ++e) {
    const float* const y = g.items.column(g.columns[e]);
    const float weight = g.weights != nullptr ? g.weights[e] : 1;
    for (std::int64_t j = 0; j < k; ++j) {
      const float scaled = weight * y[j];
      for (std::int64_t i = j; i < k; ++i) {
        g.c(i, j) += y[i] * scaled;
      }
      g.b[j] += g.coefficients[e] * y[j];
    }
  }
}

}  // namespace

void fill_reference_gather_gram(Table& t) {
  t.gather_gram = {&gather_gram, "gather_gram_reference", core::Isa::reference};
}

}  // namespace stepwell::kernels
