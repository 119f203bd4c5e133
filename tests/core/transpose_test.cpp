// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/numeric/transpose.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace stepwell::core {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// For sizes around the block size, with padded leading dimensions: the rest of 'a' is NaN and is
/// not read, and the rest of 'out' stays unchanged.
TEST(Transpose, WritesThatPartAndReadsNoOther) {
  for (const Part part : {Part::all, Part::lower, Part::upper}) {
    for (const std::int64_t rows : {0, 1, 5, 31, 32, 33, 70}) {
      for (const std::int64_t cols : {0, 1, 32, 33, 65}) {
        const std::int64_t ld_a = cols + 3, ld_out = rows + 2;
        std::vector<double> a(static_cast<std::size_t>(ld_a * rows + 1), kNan);
        std::vector<double> out(static_cast<std::size_t>(ld_out * cols + 1), -1);
        const MatrixView<double> from{a.data(), cols, rows, ld_a},
            to{out.data(), rows, cols, ld_out};
        const auto asked = [&](std::int64_t i, std::int64_t j) {
          return i < rows && (part == Part::all || (part == Part::lower ? i >= j : i <= j));
        };
        for (std::int64_t j = 0; j < cols; ++j) {
          for (std::int64_t i = 0; i < rows; ++i) {
            if (asked(i, j)) from(j, i) = static_cast<double>(1000 * i + j);
          }
        }
        transpose(from, to, part);
        for (std::int64_t j = 0; j < cols; ++j) {
          for (std::int64_t i = 0; i < ld_out; ++i) {
            const double expected = asked(i, j) ? static_cast<double>(1000 * i + j) : -1;
            ASSERT_EQ(to(i, j), expected) << rows << " x " << cols << ": " << i << ", " << j;
          }
        }
        ASSERT_EQ(out.back(), -1);
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::core
