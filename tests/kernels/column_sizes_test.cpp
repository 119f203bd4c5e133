// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "kernels/fixture/fixture.hpp"

/// The largest magnitude and the sum of squares of each row, for every instruction set.
namespace stepwell::kernels::test {
namespace {

class ColumnSizesTest : public PerIsa {};
INSTANTIATE_TEST_SUITE_P(Kernels, ColumnSizesTest, every_vector_isa(), isa_name);

TEST_P(ColumnSizesTest, IsThatOfTheReferenceToRounding) {
  std::uint64_t turn = 0;
  for (const auto& [m, n] : contract_pairs()) {
    Random random(70 + turn);
    Guarded<double> a(m, n, turn % 3, turn % 4, kNaN<double>);
    ++turn;
    a.fill([&](auto, auto) { return random.gaussian(); });
    std::vector<double> most(m), squares(m), twin(m), twin_squares(m);
    column_sizes(table_, a.view(), most.data(), squares.data());
    column_sizes(reference_table(), a.view(), twin.data(), twin_squares.data());
    EXPECT_EQ(most, twin) << m << " x " << n;
    for (std::int64_t i = 0; i < m; ++i) {
      EXPECT_NEAR(squares[i], twin_squares[i], 2 * n * kU64 * twin_squares[i]) << m << " x " << n;
    }
  }
}

TEST_P(ColumnSizesTest, TellsRowsThatAreNotFinite) {
  for (const double bad : {kNaN<double>, -std::numeric_limits<double>::infinity()}) {
    for (const std::int64_t m : {1, 31, 32, 70}) {
      Random random(71);
      Dense<double> a = gaussian(m, 50, random);
      a(m - 1, 20) = bad;
      std::vector<double> most(m), squares(m);
      column_sizes(table_, std::as_const(a).view(), most.data(), squares.data());
      for (std::int64_t i = 0; i < m; ++i) {
        EXPECT_EQ(std::isfinite(squares[i]), i != m - 1) << m << ", " << i;
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
