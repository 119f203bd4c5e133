// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/fixture.hpp"

#include <cmath>

namespace stepwell::refine::test {

using stepwell::test::Quad;

Setting::Setting(Dense<double> matrix, const std::string& map, int threads)
    : a_(std::move(matrix)),
      ones_(static_cast<std::size_t>(a_.rows), 1.0),
      pool_(threads),
      product_(pool_, a_.view()),
      operator_(std::make_unique<ScaledOperator>(product_, ones_, ones_)),
      factor_(factor_of(a_, options_for(map))) {
  EXPECT_TRUE(factor_.ok());
  preconditioner_ =
      std::make_unique<FactorPreconditioner>(pool_, FactorData::of(factor_), ones_, ones_);
}

Outcome Setting::refine(const Dense<double>& b, Dense<double>& x, const Request& request) {
  Dense<double> r(b.rows, b.cols);
  return refine::refine(*operator_, *preconditioner_, b.view(), x.view(), r.view(), request);
}

double Setting::error(const Dense<double>& b, const Dense<double>& x, std::int64_t column,
                      double norm) const {
  Quad residual = 0, solution = 0, right = 0;
  for (std::int64_t i = 0; i < n(); ++i) {
    Quad r = b(i, column);
    for (std::int64_t j = 0; j < n(); ++j) {
      r -= static_cast<Quad>(i >= j ? a_(i, j) : a_(j, i)) * x(j, column);
    }
    residual += r * r;
    solution += static_cast<Quad>(x(i, column)) * x(i, column);
    right += static_cast<Quad>(b(i, column)) * b(i, column);
  }
  const double size =
      norm * std::sqrt(static_cast<double>(solution)) + std::sqrt(static_cast<double>(right));
  return std::sqrt(static_cast<double>(residual)) / size;
}

double Setting::rounding(const Dense<double>& b, const Dense<double>& x, std::int64_t column,
                         double norm) const {
  double terms = 0, solution = 0, right = 0;
  for (std::int64_t i = 0; i < n(); ++i) {
    double sum = std::abs(b(i, column));
    for (std::int64_t j = 0; j < n(); ++j) {
      sum += std::abs((i >= j ? a_(i, j) : a_(j, i)) * x(j, column));
    }
    terms += sum * sum;
    solution += x(i, column) * x(i, column);
    right += b(i, column) * b(i, column);
  }
  const double size = norm * std::sqrt(solution) + std::sqrt(right);
  return static_cast<double>(n() + 2) * kU64 *
         (std::sqrt(terms) / size + 2 * error(b, x, column, norm));
}

}  // namespace stepwell::refine::test
