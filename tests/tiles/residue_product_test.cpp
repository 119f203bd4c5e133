// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/residue_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/buffer.hpp"
#include "kernels/kernels.hpp"
#include "kernels/quad.hpp"
#include "tiles/fixture.hpp"

/// Products with exact sums: an error of the order of u ||a_i|| ||b_j|| whatever the scales of rows
/// and columns are, the same bits for all ways to compute them, and NaN wherever an operand has
/// one.
namespace stepwell::tiles::test {
namespace {

using core::Isa;
using stepwell::test::Quad;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Matrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> x;

  Matrix(std::int64_t m, std::int64_t n) : rows(m), cols(n), x(static_cast<std::size_t>(m * n)) {}
  double& operator()(std::int64_t i, std::int64_t j) {
    return x[static_cast<std::size_t>(j * rows + i)];
  }
  double operator()(std::int64_t i, std::int64_t j) const {
    return x[static_cast<std::size_t>(j * rows + i)];
  }
  MatrixView<double> view() { return stepwell::view(x.data(), rows, cols); }
  MatrixView<const double> view() const { return stepwell::view(x.data(), rows, cols); }
};

/// Gaussian, with rows and columns of sizes 2^-spread .. 2^spread.
Matrix graded(std::int64_t rows, std::int64_t cols, int spread, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> power(-spread, spread);
  Matrix a(rows, cols);
  std::vector<int> of_row(static_cast<std::size_t>(rows));
  for (int& e : of_row) e = power(random);
  for (std::int64_t j = 0; j < cols; ++j) {
    const int of_column = power(random);
    for (std::int64_t i = 0; i < rows; ++i) {
      a(i, j) = std::ldexp(normal(random), of_row[static_cast<std::size_t>(i)] + of_column);
    }
  }
  return a;
}

Matrix transpose(const Matrix& a) {
  Matrix t(a.cols, a.rows);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) t(j, i) = a(i, j);
  }
  return t;
}

/// c - a b, in blocks of 'depth'.
Matrix computed(const kernels::Table& t, const Matrix& a, const Matrix& b, const Matrix& c,
                std::int64_t depth, bool transposed = false) {
  LineSizes of_a(a.rows), of_b(b.cols);
  of_b.add_columns(t, b.view(), 0);
  const Matrix other = transpose(a);
  if (transposed) {
    of_a.add_columns(t, other.view(), 0);
  } else {
    of_a.add_rows(t, a.view(), 0);
  }
  const LineScales rows(of_a, a.cols), cols(of_b, b.rows);
  std::vector<core::Buffer<std::int8_t>> memory;
  std::vector<kernels::ResiduesIn> blocks;
  for (std::int64_t k = 0; k < b.rows; k += depth) {
    const std::int64_t size = std::min(depth, b.rows - k);
    memory.emplace_back(kernels::residue_bytes(b.cols, size, kernels::kWidePlanes));
    const kernels::ResiduesOut out = kernels::residues(
        memory.back().data(), b.cols, size, kernels::kWidePlanes, kernels::ResidueOrder::rows);
    kernels::to_residues(t, b.view().block(k, 0, size, b.cols), cols.to.data(), out);
    blocks.push_back(out);
  }
  const auto block = [&](std::int64_t k) {
    const std::int64_t first = k * depth, size = std::min(depth, a.cols - first);
    return transposed ? other.view().block(first, 0, size, a.rows)
                      : a.view().block(0, first, a.rows, size);
  };
  Matrix result = c;
  const core::Buffer<std::byte> scratch(residue_product_bytes(c.rows, c.cols, depth));
  subtract_residue_product(t, {block, transposed, rows.to.data(), rows.back.data()},
                           {blocks, cols.back.data()}, result.view(), scratch.data());
  return result;
}

/// The largest |r - (c - a b)_ij| over its bound: a and b are rounded to 2^-59 of a scale in which
/// their norms are at least 0.648, and the result has three roundings.
double error(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& r) {
  double worst = 0;
  const double roots = std::sqrt(static_cast<double>(a.cols));
  for (std::int64_t j = 0; j < c.cols; ++j) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
      Quad exact = c(i, j), size_a = 0, size_b = 0;
      for (std::int64_t k = 0; k < a.cols; ++k) {
        exact -= static_cast<Quad>(a(i, k)) * b(k, j);
        size_a += static_cast<Quad>(a(i, k)) * a(i, k);
        size_b += static_cast<Quad>(b(k, j)) * b(k, j);
      }
      const double size =
          std::sqrt(static_cast<double>(size_a)) * std::sqrt(static_cast<double>(size_b));
      const double bound =
          0.05 * roots * kU64 * size + 3 * kU64 * std::fabs(static_cast<double>(exact));
      const auto off =
          static_cast<double>(stepwell::test::abs_of(static_cast<Quad>(r(i, j)) - exact));
      const double ratio = off == 0 ? 0 : off / bound;
      if (!(ratio <= worst)) worst = ratio;  // a NaN stays
      if (std::isnan(worst)) return worst;
    }
  }
  return worst;
}

TEST(ResidueProduct, HasAnErrorOfTheOrderOfTheNormsForAnyScales) {
  const kernels::Table& t = kernels::table();
  for (const int spread : {0, 10, 100, 200}) {
    for (const std::int64_t depth : {1, 40, 128, 300}) {
      const Matrix a = graded(50, depth, spread, 1), b = graded(depth, 37, spread, 2);
      const Matrix r = computed(t, a, b, graded(50, 37, spread, 3), 128);
      const double ratio = error(a, b, graded(50, 37, spread, 3), r);
      EXPECT_TRUE(ratio <= 1) << ratio << ": spread " << spread << ", depth " << depth;
    }
  }
}

TEST(ResidueProduct, IsNearlyExactWhereSumsCancel) {
  // C is the product as FP64 rounds it, so that only its rounding is left.
  const Matrix a = graded(40, 200, 5, 4), b = graded(200, 40, 5, 5);
  Matrix c(40, 40);
  for (std::int64_t j = 0; j < 40; ++j) {
    for (std::int64_t i = 0; i < 40; ++i) {
      Quad sum = 0;
      for (std::int64_t k = 0; k < 200; ++k) sum += static_cast<Quad>(a(i, k)) * b(k, j);
      c(i, j) = static_cast<double>(sum);
    }
  }
  const double ratio = error(a, b, c, computed(kernels::table(), a, b, c, 128));
  EXPECT_TRUE(ratio <= 1) << ratio;
}

TEST(ResidueProduct, HasTheSameBitsForBlocksInstructionSetsAndTransposes) {
  const Matrix a = graded(70, 300, 20, 6), b = graded(300, 45, 20, 7), c = graded(70, 45, 20, 8);
  const Matrix expected = computed(kernels::table(), a, b, c, 64);
  for (const Isa isa : core::all_isas) {
    if (!kernels::usable()[static_cast<unsigned>(isa)].yes) continue;
    const kernels::Table t = kernels::make_table(isa);
    for (const std::int64_t depth : {64, 96, 128, 300}) {
      for (const bool transposed : {false, true}) {
        const Matrix r = computed(t, a, b, c, depth, transposed);
        for (std::size_t e = 0; e < r.x.size(); ++e) {
          ASSERT_EQ(r.x[e], expected.x[e]) << core::to_string(isa) << ' ' << depth << transposed;
        }
      }
    }
  }
}

TEST(ResidueProduct, LinesOfExtremeSizeAreRightOrNaN) {
  const kernels::Table& t = kernels::table();
  Matrix a = graded(20, 70, 0, 9), b = graded(70, 18, 0, 10);
  for (std::int64_t k = 0; k < 70; ++k) {
    a(1, k) = 0;
    a(2, k) *= 0x1p-1060;  // mostly subnormal: products are below any bound
    a(3, k) *= 0x1p1015;
    b(k, 1) *= 0x1p-700;  // the squares underflow
    b(k, 2) *= 0x1p-1015;
    b(k, 3) = 0;
  }
  a(4, 5) = std::numeric_limits<double>::quiet_NaN();
  a(5, 6) = kInfinity;
  a(6, 7) = -std::numeric_limits<double>::max();
  b(8, 4) = kInfinity;
  b(9, 5) = std::numeric_limits<double>::quiet_NaN();
  const Matrix c = graded(20, 18, 0, 11);
  for (const bool transposed : {false, true}) {
    const Matrix r = computed(t, a, b, c, 64, transposed);
    for (std::int64_t j = 0; j < 18; ++j) {
      for (std::int64_t i = 0; i < 20; ++i) {
        if (i == 4 || i == 5 || i == 6 || j == 4 || j == 5) {
          EXPECT_TRUE(std::isnan(r(i, j))) << i << ' ' << j;
          continue;
        }
        Quad exact = c(i, j), size_a = 0, size_b = 0;
        for (std::int64_t k = 0; k < 70; ++k) {
          exact -= static_cast<Quad>(a(i, k)) * b(k, j);
          size_a += static_cast<Quad>(a(i, k)) * a(i, k);
          size_b += static_cast<Quad>(b(k, j)) * b(k, j);
        }
        const Quad gap = stepwell::test::abs_of(static_cast<Quad>(r(i, j)) - exact);
        // Norms of lines whose squares leave FP64's range are estimated, up to sqrt(70) too large.
        const Quad squares = size_a * size_b, bound = 70 * 0.05 * kU64;
        const Quad rounding = 3 * kU64 * stepwell::test::abs_of(exact);
        const bool right =
            gap <= rounding || (gap - rounding) * (gap - rounding) <= bound * bound * squares;
        EXPECT_TRUE(right) << i << ' ' << j << ": " << r(i, j);
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::tiles::test
