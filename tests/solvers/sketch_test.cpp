// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/certify/sketch.hpp"

#include <cmath>
#include <limits>

#include "core/numeric/double_double.hpp"
#include "engine/runtime.hpp"
#include "solvers/fixture.hpp"

/// Bounds from random projections, compared with residuals in double-double.
namespace stepwell::solvers::test {
namespace {

/// A system and an x, whose residual is bounded.
struct Candidate {
  Dense<double> a, b, x;
  bool symmetric = false, transposed = false;
};

/// ||b - A x||_2 of a column, in double-double.
double residual_norm(const Candidate& of, std::int64_t column) {
  const std::int64_t n = of.a.view().rows;
  double squares = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    core::DoubleDouble sum{of.b.view()(i, column), 0};
    for (std::int64_t j = 0; j < n; ++j) {
      const bool across = of.symmetric ? j > i : of.transposed;
      const double a = across ? of.a.view()(j, i) : of.a.view()(i, j);
      sum = core::multiply_add(sum, -a, of.x.view()(j, column));
    }
    squares += sum.hi * sum.hi;
  }
  return std::sqrt(squares);
}

std::vector<double> bounds_of(const Candidate& of, std::uint64_t seed = 1, int threads = 2) {
  engine::ThreadPool pool(threads);
  const engine::SingleThreadedBlas blas;
  double largest = 0;
  for (std::int64_t j = 0; j < of.a.view().cols; ++j) {
    for (std::int64_t i = 0; i < of.a.view().rows; ++i) {
      largest = std::max(largest, std::abs(of.a.view()(i, j)));
    }
  }
  refine::Checksums read(of.a.view().rows);
  const Sketch sketch(pool, {of.a.view(), of.symmetric, of.transposed, largest}, seed, read);
  std::vector<Sketch::Bound> found(static_cast<std::size_t>(of.b.view().cols));
  sketch.bound(of.b.view(), of.x.view(), found.data());
  std::vector<double> bounds;
  for (const Sketch::Bound& bound : found) {
    bounds.push_back(std::ldexp(bound.sizes.r, bound.exponent));
  }
  return bounds;
}

Candidate random_candidate(std::int64_t n, std::int64_t columns, std::uint64_t seed) {
  return {gaussian_columns(n, n, seed), gaussian_columns(n, columns, seed + 1),
          gaussian_columns(n, columns, seed + 2)};
}

/// The bound is valid, and not much larger than its slack makes it: the mean of 32 squares is
/// within a factor of four of its expectation.
void expect_tight(const Candidate& of, double hidden = 0) {
  const std::vector<double> bounds = bounds_of(of);
  for (std::size_t c = 0; c < bounds.size(); ++c) {
    const double truth = residual_norm(of, static_cast<std::int64_t>(c));
    EXPECT_GE(bounds[c], truth) << c;
    EXPECT_LE(bounds[c], 2 * Sketch::kSlack * truth + hidden) << c;
  }
}

TEST(SketchTest, BoundsTheResidualsOfAnyX) {
  for (const std::int64_t n : {1, 2, 31, 256, 257, 520}) {
    for (const bool symmetric : {false, true}) {
      for (const bool transposed : {false, true}) {
        if (symmetric && transposed) continue;
        SCOPED_TRACE(testing::Message() << n << " " << symmetric << transposed);
        Candidate of = random_candidate(n, 3, static_cast<std::uint64_t>(n));
        of.symmetric = symmetric;
        of.transposed = transposed;
        if (symmetric) {  // the other triangle is not read
          for (std::int64_t j = 1; j < n; ++j) of.a.view()(0, j) = 7;
        }
        expect_tight(of);
      }
    }
  }
}

TEST(SketchTest, SeesResidualsThatFp64SumsWouldLose) {
  // r is one element of 2^-60 of the size of the terms that cancel in it.
  for (const std::int64_t n : {40, 300}) {
    Candidate of = random_candidate(n, 4, 5);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        of.a.view()(i, j) = std::round(1024 * of.a.view()(i, j));
      }
    }
    for (std::int64_t c = 0; c < 4; ++c) {
      for (std::int64_t i = 0; i < n; ++i) {
        of.x.view()(i, c) = std::round(1024 * of.x.view()(i, c));
      }
      for (std::int64_t i = 0; i < n; ++i) {
        double sum = 0;  // of integers: exact
        for (std::int64_t j = 0; j < n; ++j) sum += of.a.view()(i, j) * of.x.view()(j, c);
        of.b.view()(i, c) = sum;
      }
    }
    // Column 0 is solved exactly; in the others x is off in its last bits.
    for (std::int64_t c = 1; c < 4; ++c) of.x.view()(7, c) += std::ldexp(1.0, -20 - 10 * int(c));
    const std::vector<double> bounds = bounds_of(of);
    EXPECT_LE(bounds[0], 0x1p-76 * 1024 * 1024 * static_cast<double>(n * n));
    expect_tight(of, 2 * bounds[0]);
  }
}

TEST(SketchTest, GivesTheSameBoundsInEveryScale) {
  const Candidate of = random_candidate(120, 3, 9);
  const std::vector<double> expected = bounds_of(of);
  for (const int a_power : {-900, -300, 0, 300, 900}) {
    for (const int b_power : {-900, -300, 0, 300, 900}) {
      if (std::abs(b_power - a_power) > 900) continue;  // x is not in FP64's range
      Candidate scaled = of;
      for (std::int64_t j = 0; j < 120; ++j) {
        for (std::int64_t i = 0; i < 120; ++i) {
          scaled.a.view()(i, j) = std::ldexp(of.a.view()(i, j), a_power);
        }
      }
      for (std::int64_t c = 0; c < 3; ++c) {
        for (std::int64_t i = 0; i < 120; ++i) {
          scaled.b.view()(i, c) = std::ldexp(of.b.view()(i, c), b_power);
          scaled.x.view()(i, c) = std::ldexp(of.x.view()(i, c), b_power - a_power);
        }
      }
      const std::vector<double> found = bounds_of(scaled);
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(found[c], std::ldexp(expected[c], b_power)) << a_power << " " << b_power;
      }
    }
  }
}

TEST(SketchTest, SaysNothingAboutColumnsThatAreNotFinite) {
  Candidate of = random_candidate(50, 4, 3);
  of.x.view()(3, 0) = std::numeric_limits<double>::infinity();
  of.x.view()(4, 1) = std::numeric_limits<double>::quiet_NaN();
  of.b.view()(0, 2) = -std::numeric_limits<double>::infinity();
  const std::vector<double> bounds = bounds_of(of);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_TRUE(std::isnan(bounds[c])) << c;
  EXPECT_TRUE(std::isfinite(bounds[3]));
}

TEST(SketchTest, HoldsForResidualsWithFewElementsAndForManySeeds) {
  Candidate of = random_candidate(64, 2, 11);
  for (std::int64_t c = 0; c < 2; ++c) {
    for (std::int64_t i = 0; i < 64; ++i) of.x.view()(i, c) = of.b.view()(i, c) = 0;
  }
  of.b.view()(5, 0) = 3;                       // r has one element
  of.b.view()(5, 1) = of.b.view()(60, 1) = 1;  // or two, which random signs would cancel
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::vector<double> bounds = bounds_of(of, seed * 1000003, 1);
    ASSERT_GE(bounds[0], 3) << seed;
    ASSERT_LE(bounds[0], 3 * 2 * Sketch::kSlack) << seed;
    ASSERT_GE(bounds[1], std::sqrt(2.0)) << seed;
    ASSERT_LE(bounds[1], std::sqrt(2.0) * 2 * Sketch::kSlack) << seed;
  }
}

}  // namespace
}  // namespace stepwell::solvers::test
