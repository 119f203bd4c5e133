// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/fixture/fixture.hpp"

/// Rotations of columns have the bits of the reference, and keep the norms of rows.
namespace stepwell::kernels::test {
namespace {

class RotateTest : public PerIsa {};
INSTANTIATE_TEST_SUITE_P(Kernels, RotateTest, every_vector_isa(), isa_name);

TEST_P(RotateTest, HasTheBitsOfTheReference) {
  std::uint64_t turn = 0;
  for (const auto& shape : contract_pairs()) {
    const std::int64_t m = shape.first, n = shape.second;
    for (const std::int64_t columns : {std::int64_t{1}, std::int64_t{7}, kMostRotated}) {
      SCOPED_TRACE(testing::Message() << m << " x " << n << ", " << columns);
      Random random(90 + turn);
      Guarded<double> l(m, n, turn % 3, turn % 4, 0.0), v(m, columns, turn % 2, turn % 5, 0.0);
      const bool descending = ++turn % 2 == 0;
      l.fill([&](auto, auto) { return random.gaussian(); });
      v.fill([&](auto, auto) { return random.gaussian(); });
      Dense<double> l_twin(m, n), v_twin(m, columns);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) l_twin(i, j) = l.view()(i, j);
        for (std::int64_t t = 0; t < columns; ++t) v_twin(i, t) = v.view()(i, t);
      }
      std::vector<double> c, s, before;
      for (std::int64_t k = 0; k < n * columns; ++k) {
        const double angle = random.gaussian();
        c.push_back(std::cos(angle));
        s.push_back(std::sin(angle));
      }
      const auto norm = [&](std::int64_t i) {
        double sum = 0;
        for (std::int64_t j = 0; j < n; ++j) sum = std::hypot(sum, l_twin(i, j));
        for (std::int64_t t = 0; t < columns; ++t) sum = std::hypot(sum, v_twin(i, t));
        return sum;
      };
      for (std::int64_t i = 0; i < m; ++i) before.push_back(norm(i));
      const Rotations r{c.data(), s.data(), descending};
      rotate(table_, l.view(), v.view(), r);
      rotate(reference_table(), l_twin.view(), v_twin.view(), r);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(l.view()(i, j), l_twin(i, j));
        for (std::int64_t t = 0; t < columns; ++t) ASSERT_EQ(v.view()(i, t), v_twin(i, t));
        const double old = before[static_cast<std::size_t>(i)];
        ASSERT_NEAR(norm(i), old, static_cast<double>(4 * (n * columns + 2)) * kU64 * old);
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::kernels::test
