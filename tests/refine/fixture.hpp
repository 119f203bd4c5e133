// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "factor/fixture.hpp"
#include "kernels/quad.hpp"
#include "refine/operators/symmetric_product.hpp"
#include "refine/preconditioner.hpp"
#include "refine/refine.hpp"

/// Code shared by the tests of refiners: a system with a coarse factor, to refine and to check.
namespace stepwell::refine::test {

using factor::test::factor_of;
using factor::test::geometric;
using factor::test::options_for;
using factor::test::well_conditioned;
using kernels::test::Dense;
using kernels::test::kSanitized;
using kernels::test::kU32;
using kernels::test::kU64;
using kernels::test::Random;

/// A matrix, its factor in the scale of A, and the operator and preconditioner made of them.
class Setting {
 public:
  Setting(Dense<double> matrix, const std::string& map, int threads = 1);

  Outcome refine(const Dense<double>& b, Dense<double>& x, const Request& request);
  /// ||b - A x||_2 / (||A||_2 ||x||_2 + ||b||_2) of a column, with the residual in 113 bits and
  /// 'norm' as a lower bound of ||A||_2.
  double error(const Dense<double>& b, const Dense<double>& x, std::int64_t column,
               double norm) const;

  /// Bound of the difference between this error and one computed with FP64 residuals: sums of n + 1
  /// terms, norms of n terms.
  double rounding(const Dense<double>& b, const Dense<double>& x, std::int64_t column,
                  double norm) const;

  std::int64_t n() const { return a_.rows; }
  const Dense<double>& matrix() const { return a_; }
  Operator& a() { return *operator_; }
  Preconditioner& m() { return *preconditioner_; }

 private:
  Dense<double> a_;
  std::vector<double> ones_;
  engine::ThreadPool pool_;
  SymmetricProduct product_;
  std::unique_ptr<ScaledOperator> operator_;
  Factor factor_;
  std::unique_ptr<FactorPreconditioner> preconditioner_;
};

inline Dense<double> right_hand_sides(std::int64_t n, std::int64_t columns) {
  Random random(static_cast<std::uint64_t>(n + columns));
  return kernels::test::gaussian(n, columns, random);
}

}  // namespace stepwell::refine::test
