// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

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
  for (std::int64_t first = 0; first < g.count; first += kGramRun) {
    const std::int64_t last = std::min(first + kGramRun, g.count);
    for (std::int64_t i = 0; i < k; ++i) {
      float sum = 0;
      for (std::int64_t e = first; e < last; ++e) {
        sum += g.coefficients[e] * g.items(i, g.columns[e]);
      }
      g.b[i] += sum;
      for (std::int64_t j = 0; j <= i; ++j) {
        sum = 0;
        for (std::int64_t e = first; e < last; ++e) {
          const float weight = g.weights != nullptr ? g.weights[e] : 1;
          sum += g.items(i, g.columns[e]) * (weight * g.items(j, g.columns[e]));
        }
        g.c(i, j) += sum;
      }
    }
  }
}

}  // namespace

void fill_reference_gather_gram(Table& t) {
  t.gather_gram = {&gather_gram, "gather_gram_reference", core::Isa::reference};
}

}  // namespace stepwell::kernels
