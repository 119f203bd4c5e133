// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/blas3/block_gemm.hpp"

#include "engine/runtime.hpp"
#include "factor/fixture.hpp"

/// C - A B in blocks: the same product, exact or by the BLAS, for A and B stored either way, and
/// for a part of B.
namespace stepwell::factor::test {
namespace {

constexpr std::int64_t kDepth = 64;

Dense<double> transpose(const Dense<double>& a) {
  Dense<double> t(a.cols, a.rows);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) t(j, i) = a(i, j);
  }
  return t;
}

class BlockGemmTest : public ::testing::TestWithParam<Products> {};
INSTANTIATE_TEST_SUITE_P(Factor, BlockGemmTest, ::testing::Values(Products::exact, Products::blas));

TEST_P(BlockGemmTest, SubtractsProductsOfAnyPart) {
  const std::int64_t m = 150, depth = 200, n = 700, half = 80, column = 32, first_block = 1;
  Random random(9);
  const Dense<double> a = kernels::test::gaussian(m, depth, random);
  const Dense<double> b = kernels::test::gaussian(depth, n, random);
  const Dense<double> before = kernels::test::gaussian(m, n - column, random);
  const Dense<double> a_transposed = transpose(a), b_transposed = transpose(b);
  const engine::SingleThreadedBlas blas;
  for (const int threads : {1, 3}) {
    for (const bool transposed : {false, true}) {
      engine::ThreadPool pool(threads);
      const LeftOperand left(pool, GetParam(), transposed ? a_transposed.view() : a.view(),
                             transposed);
      BlockGemm gemm(pool, GetParam());
      gemm.set_right(transposed ? b_transposed.view() : b.view(), kDepth, transposed);
      Dense<double> c(before);
      // Two blocks of rows, of which the first has one block of B, the other all from there on.
      gemm.subtract(2, half, [&](std::int64_t i) {
        const std::int64_t first = i * half, rows = std::min(half, m - first);
        return BlockGemm::Rows{.a = left.rows(first, rows, kDepth, first_block * kDepth),
                               .c = c.view().block(first, 0, rows, n - column),
                               .column = column,
                               .first_block = first_block,
                               .blocks = 1 - i};
      });
      double worst = 0;
      for (std::int64_t j = 0; j < n - column; ++j) {
        for (std::int64_t i = 0; i < m; ++i) {
          const std::int64_t end = i < half ? (first_block + 1) * kDepth : depth;
          long double sum = before(i, j), size = std::abs(before(i, j));
          for (std::int64_t k = first_block * kDepth; k < end; ++k) {
            const long double term = static_cast<long double>(a(i, k)) * b(k, column + j);
            sum -= term;
            size += std::abs(term);
          }
          const auto error = static_cast<double>(std::abs(sum - c(i, j)) / size);
          if (!(error <= worst)) worst = error;
        }
      }
      // Exact products have an error of the norms of whole lines, of which 64 terms are a part.
      EXPECT_TRUE(worst <= static_cast<double>(depth) * kU64) << worst;
    }
  }
}

}  // namespace
}  // namespace stepwell::factor::test
