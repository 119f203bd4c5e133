// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "kernels/fixture/fixture.hpp"
#include "kernels/quad.hpp"
#include "kernels/scan.hpp"
#include "refine/operators/general_product.hpp"

/// Residuals with exact sums have the error that they state, with A and with A'.
namespace stepwell::refine::test {
namespace {

using kernels::test::Dense;
using kernels::test::gaussian;
using kernels::test::kNaN;
using kernels::test::kU64;
using kernels::test::Random;
using stepwell::test::abs_of;
using stepwell::test::Quad;

class ExactResidual : public ::testing::TestWithParam<bool> {
 protected:
  bool transposed() const { return GetParam(); }
  double element(const Dense<double>& a, std::int64_t i, std::int64_t j) const {
    return transposed() ? a(j, i) : a(i, j);
  }
};
INSTANTIATE_TEST_SUITE_P(Refine, ExactResidual, ::testing::Bool());

/// For Gaussian elements; for rows of which one element is large, the worst case of a row's scale;
/// for columns of x of any size.
TEST_P(ExactResidual, IsOffByNoMoreThanItsBound) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n : {1, 2, 65, 257, 513, 600}) {
    for (const bool dominant : {false, true}) {
      Random random(static_cast<std::uint64_t>(n));
      Dense<double> a = gaussian(n, n, random), x = gaussian(n, 5, random);
      const Dense<double> b = gaussian(n, 5, random);
      for (std::int64_t i = 0; i < n; ++i) {
        a(i, i) += dominant ? 1e4 : 0;
        x(i, 1) *= 0x1p600;
        x(i, 2) *= 0x1p-600;
        x(i, 3) = 0;
        x(i, 4) *= 0x1p-990;
      }
      GeneralProduct product(pool, a.view(), transposed());
      Dense<double> r = b;
      Checksums checksums(n);
      product.subtract_exact(x.view(), r.view(), checksums);
      const MatrixScan scan = scan_general(pool, a.view());
      EXPECT_EQ(scan.checksums.first_difference(checksums), -1);
      const double norm = transposed() ? scan.norm_1 : scan.norm_inf;
      const double most = product.exact_error(norm);
      EXPECT_TRUE(most > 4 * kU64 && most < static_cast<double>(n + 4) * kU64) << most / kU64;
      for (std::int64_t c = 0; c < 4; ++c) {
        Quad error = 0, size_b = 0, size_x = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          Quad sum = b(i, c);
          for (std::int64_t j = 0; j < n; ++j) sum -= static_cast<Quad>(element(a, i, j)) * x(j, c);
          error = std::max(error, abs_of(r(i, c) - sum));
          size_b = std::max(size_b, abs_of(static_cast<Quad>(b(i, c))));
          size_x = std::max(size_x, abs_of(static_cast<Quad>(x(i, c))));
        }
        ASSERT_TRUE(error <= most * (norm * size_x + size_b)) << n << ": column " << c;
      }
      EXPECT_TRUE(std::isnan(r(0, 4))) << "x is too small for these products";
    }
  }
}

TEST(ExactResidualBound, IsNotThereForRowsOutOfRange) {
  engine::ThreadPool pool(1);
  Dense<double> a(2, 2);
  for (const double element : {0.0, 0x1p1000, 0x1p-1000, kNaN<double>}) {
    a(0, 0) = a(1, 1) = element;
    GeneralProduct product(pool, a.view());
    EXPECT_EQ(product.exact_error(element), HUGE_VAL) << element;
  }
}

}  // namespace
}  // namespace stepwell::refine::test
