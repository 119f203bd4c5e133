// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/operators/triple_sums.hpp"

#include "core/numeric/double_double.hpp"

namespace stepwell::refine {
namespace {

struct Triple {
  double first = 0, second = 0, third = 0;
  void add(double x) {
    const core::DoubleDouble one = core::two_sum(first, x);
    const core::DoubleDouble two = core::two_sum(second, one.lo);
    first = one.hi;
    second = two.hi;
    third += two.lo;
  }
};

}  // namespace

void add_in_triple_sums(const core::RowBlock& a, const std::vector<MatrixView<const double>>& x,
                        std::int64_t c, double* y, double* low) {
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    Triple sum{y[i], low[i], 0};
    for (const MatrixView<const double>& of : x) {
      for (std::int64_t j = 0; j < a.cols(); ++j) {
        const core::DoubleDouble product = core::two_product(a(i, j), of(j, c));
        sum.add(product.hi);
        sum.add(product.lo);
      }
    }
    const core::DoubleDouble high = core::two_sum(sum.first, sum.second);
    y[i] = high.hi;
    low[i] = high.lo + sum.third;
  }
}

}  // namespace stepwell::refine
