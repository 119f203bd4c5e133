// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "solvers/fixture.hpp"

/// Code shared by the tests that draw thousands of systems: their sizes and scales, and the
/// results.
namespace stepwell::solvers::test {

inline constexpr double kNormal = std::numeric_limits<double>::min();

inline constexpr std::array<std::int64_t, 24> kOrders = {1,   2,   3,  5,   8,   16,  31,  32,
                                                         33,  63,  64, 65,  127, 128, 129, 255,
                                                         256, 257, 12, 100, 511, 512, 513, 40};
/// Powers of two.
inline constexpr std::array<int, 11> kScales = {0,   0,  0,   -1000, -500, -140,
                                                -30, 30, 130, 500,   1000};

/// The results for one kind.
struct Tally {
  int systems = 0, converged = 0, singular = 0, skipped = 0, compared = 0, as_good = 0;
};

/// A column that is called converged is: 'error' is its backward error in double-double. What the
/// certificate says of it is rounded, by n u at worst, typically by much less.
inline void expect_certified(const ColumnCertificate& column, double error, std::int64_t n,
                             bool proven) {
  ASSERT_TRUE(error < tolerance_of(n)) << "converged with " << error / kU64 << " u";
  ASSERT_NEAR(column.backward_error, error, (2 + std::sqrt(static_cast<double>(n))) * kU64);
  if (!proven) return;
  ASSERT_GE(column.proven_backward_error, error * (1 - 1e-9));
  ASSERT_LE(column.proven_backward_error, error * (1 + 1e-9) + 1e-20);
}

inline std::string kind_name(const ::testing::TestParamInfo<gallery::Kind>& info) {
  std::string name(gallery::to_string(info.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace stepwell::solvers::test
