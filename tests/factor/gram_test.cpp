// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/tall/gram.hpp"

#include <stdexcept>

#include "kernels/fixture/fixture.hpp"
#include "kernels/quad.hpp"
#include "kernels/scan.hpp"

/// The Gram matrix of a tall matrix is as accurate as its rung, for any storage and scale of the
/// matrix, has the same bits for any number of threads, and the by-products of the computation are
/// right.
namespace stepwell::factor::test {
namespace {

using kernels::test::Dense;
using kernels::test::kSanitized;
using kernels::test::Random;
using stepwell::test::Quad;

Dense<double> tall(std::int64_t m, std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  return kernels::test::gaussian(m, n, random);
}

std::vector<double> by_rows_copy(const Dense<double>& a) {
  std::vector<double> rows(static_cast<std::size_t>(a.rows * a.cols));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.cols; ++j) {
      rows[static_cast<std::size_t>(i * a.cols + j)] = a(i, j);
    }
  }
  return rows;
}

Gram gram_of(const TallMatrix& a, Rung rung, MatrixView<const double> b = {}, int threads = 2) {
  engine::ThreadPool pool(threads);
  core::RowReader reader(a);
  Gram g = gram(pool, reader, rung, b, nullptr);
  reader.rethrow();
  return g;
}

/// The largest |C - A'A| / (|A|'|A|) in the scale of A, over some elements of every tile.
double error_of(const Gram& g, const Dense<double>& a) {
  double worst = 0;
  const std::int64_t n = a.cols;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; i += 1 + n / 20) {
      Quad sum = 0, size = 0;
      const double si = g.power[static_cast<std::size_t>(i)];
      const double sj = g.power[static_cast<std::size_t>(j)];
      for (std::int64_t k = 0; k < a.rows; ++k) {
        const Quad term = Quad(a(k, i) * si) * Quad(a(k, j) * sj);
        sum += term;
        size += term < 0 ? -term : term;
      }
      const Quad off = Quad(g.c[i + j * n]) - sum;
      const double error = static_cast<double>((off < 0 ? -off : off) / size);
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

/// Both operands are rounded, products are exact; sums are in fp32 within a chunk of up to 4096
/// rows, kept in blocks, then in FP64.
double bound(Rung rung, std::int64_t m) {
  const double rounded = 2 * info(rung).unit_roundoff;
  if (rung == Rung::fp64) return static_cast<double>(m + 2) * 0x1p-53;
  return 1.01 * rounded + static_cast<double>(std::min<std::int64_t>(m, 4096) + 2) * 0x1p-24;
}

TEST(Gram, IsAsAccurateAsItsRung) {
  for (const auto& [m, n] : {std::pair{1, 1}, {40, 7}, {33, 33}, {300, 65}, {4500, 130}}) {
    if (kSanitized && m > 1000) continue;
    const Dense<double> a = tall(m, n, 3);
    for (const Rung rung : mixable_rungs) {
      const Gram g = gram_of(a.view(), rung);
      const double error = error_of(g, a);
      EXPECT_LE(error, bound(rung, m)) << m << " x " << n << " " << to_string(rung);
      if (m > 100 && rung == Rung::bf16) {
        EXPECT_GE(error, 0x1p-20) << "a better rung was used";
      }
    }
  }
}

TEST(Gram, HasTheSameBitsForAnyThreadsAndWhereverTheMatrixLies) {
  const std::int64_t m = kSanitized ? 4200 : 9000, n = 70;
  const Dense<double> a = tall(m, n, 4);
  const Dense<double> b = tall(m, 2, 5);
  const std::vector<double> rows = by_rows_copy(a);
  const TallMatrix function =
      from_function(m, n, [&](std::int64_t first, std::int64_t count, double* out) {
        std::copy_n(rows.data() + first * n, count * n, out);
      });
  for (const Rung rung : {Rung::bf16, Rung::bf16x3, Rung::fp32, Rung::fp64}) {
    const Gram first = gram_of(a.view(), rung, b.view(), 1);
    const auto expect_same = [&](const Gram& g, const char* what) {
      EXPECT_TRUE(std::equal(g.c.begin(), g.c.end(), first.c.begin())) << what;
      EXPECT_TRUE(std::equal(g.ab.begin(), g.ab.end(), first.ab.begin())) << what;
      EXPECT_EQ(g.power, first.power) << what;
    };
    for (int threads = 2; threads <= 4; ++threads) {
      expect_same(gram_of(a.view(), rung, b.view(), threads), "threads");
    }
    const Gram in_rows = gram_of(by_rows(rows.data(), m, n), rung, b.view());
    const Gram by_function = gram_of(function, rung, b.view(), 3);
    // Only the sums of A'B are in another order.
    EXPECT_TRUE(std::equal(in_rows.c.begin(), in_rows.c.end(), first.c.begin()));
    EXPECT_TRUE(std::equal(in_rows.c.begin(), in_rows.c.end(), by_function.c.begin()));
    EXPECT_TRUE(std::equal(in_rows.ab.begin(), in_rows.ab.end(), by_function.ab.begin()));
    for (std::int64_t k = 0; k < first.ab.size(); ++k) {
      EXPECT_NEAR(in_rows.ab[k], first.ab[k], 1e-12 * std::sqrt(static_cast<double>(m)));
    }
  }
}

/// Checks norms, diagonal and A'B.
void expect_columns(const Gram& g, const Dense<double>& a, const Dense<double>& b) {
  EXPECT_EQ(g.power[7], 1);
  for (std::int64_t j = 0; j < 40; ++j) {
    const auto e = static_cast<std::size_t>(j);
    Quad square = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const Quad x = Quad(a(i, j)) * Quad(g.power[e]);
      square += x * x;
    }
    const double norm = std::sqrt(static_cast<double>(square));
    EXPECT_NEAR(kernels::frobenius(g.column[e]) * g.power[e], norm, 1e-13 * norm);
    EXPECT_NEAR(g.c[j + j * 40], norm * norm, 1e-4 * norm * norm);
    for (std::int64_t k = 0; k < 3; ++k) {
      Quad sum = 0;
      for (std::int64_t i = 0; i < a.rows; ++i) {
        sum += Quad(a(i, j)) * Quad(g.power[e]) * Quad(b(i, k));
      }
      EXPECT_NEAR(g.ab[j + k * 40], static_cast<double>(sum), 1e-12 * norm);
    }
  }
}

/// Six tiles and possibly more threads than cores: a thread may be delayed anywhere, and none may
/// narrow into a buffer that another thread still multiplies.
TEST(Gram, HasTheSameBitsHoweverThreadsAreHeldUp) {
  const std::int64_t m = kSanitized ? 20000 : 60000, n = 300;
  const Dense<double> a = tall(m, n, 5);
  const Gram first = gram_of(a.view(), Rung::bf16, {}, 1);
  for (int run = 0; run < 10; ++run) {
    const Gram g = gram_of(a.view(), Rung::bf16, {}, 8);
    ASSERT_TRUE(std::equal(g.c.begin(), g.c.end(), first.c.begin())) << "run " << run;
  }
}

TEST(Gram, KnowsTheColumnsAndTheRightHandSide) {
  Dense<double> a = tall(500, 40, 6);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    a(i, 7) = 0;
    a(i, 11) *= 1e150;
    a(i, 12) *= 1e-150;
  }
  const Dense<double> b = tall(500, 3, 7);
  const std::vector<double> rows = by_rows_copy(a);
  for (const TallMatrix& matrix : {TallMatrix(a.view()), by_rows(rows.data(), a.rows, a.cols)}) {
    const Gram g = gram_of(matrix, Rung::bf16x2, b.view());
    expect_columns(g, a, b);
  }
}

TEST(Gram, ReadsAgainWhereLaterRowsAreOutOfTheFirstOnesRange) {
  Dense<double> a = tall(8200, 33, 8);
  for (std::int64_t i = 4096; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.cols; ++j) a(i, j) *= 1e200;
  }
  const Gram g = gram_of(a.view(), Rung::bf16x3);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const double norm = kernels::frobenius(g.column[static_cast<std::size_t>(j)]);
    const double scaled = norm * g.power[static_cast<std::size_t>(j)];
    EXPECT_NEAR(g.c[j + j * a.cols], scaled * scaled, 1e-5 * scaled * scaled);
  }
}

TEST(Gram, FindsTheFirstNonFiniteElement) {
  Dense<double> a = tall(5000, 50, 9);
  a(4999, 20) = std::numeric_limits<double>::quiet_NaN();
  a(4100, 20) = std::numeric_limits<double>::infinity();
  const Gram g = gram_of(a.view(), Rung::bf16);
  EXPECT_EQ(g.column[20].non_finite, 2);
  EXPECT_EQ(g.column[20].bad_row, 4100);
  EXPECT_EQ(g.column[19].non_finite, 0);
}

TEST(Gram, EndsWhenItIsCancelledOrAFunctionThrows) {
  const TallMatrix throws =
      from_function(20000, 40, [](std::int64_t first, std::int64_t count, double* out) {
        if (first > 8000) throw std::runtime_error("the disk is gone");
        std::fill_n(out, count * 40, 1.0);
      });
  EXPECT_THROW(gram_of(throws, Rung::bf16), std::runtime_error);
  Progress progress;
  progress.cancel = true;
  const Dense<double> a = tall(5000, 50, 9);
  const TallMatrix matrix = a.view();
  engine::ThreadPool pool(2);
  core::RowReader reader(matrix);
  EXPECT_TRUE(gram(pool, reader, Rung::bf16, {}, &progress).cancelled);
}

}  // namespace
}  // namespace stepwell::factor::test
