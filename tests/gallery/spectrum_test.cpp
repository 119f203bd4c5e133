// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "gallery/basis.hpp"
#include "gallery/fixture.hpp"

/// Matrices with prescribed eigenvalues have them, and their eigenvectors behave like random ones.
namespace stepwell::gallery::test {
namespace {

constexpr std::array kSpectra = {Kind::arithmetic, Kind::clustered, Kind::logarithmic,
                                 Kind::geometric, Kind::custom_clustered};
constexpr std::array kPositive = {Kind::positive_arithmetic, Kind::positive_clustered,
                                  Kind::positive_logarithmic};

TEST(Spectrum, IsTableOneOfThePaper) {
  const std::vector<double> arithmetic = spectrum(Kind::arithmetic, 5, 5, 1);
  const std::vector<double> geometric = spectrum(Kind::geometric, 5, 16, 1);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_LE(std::abs(arithmetic[i] - (1 - 0.2 * static_cast<double>(i))), 4 * kU64);
    EXPECT_LE(std::abs(geometric[i] * std::ldexp(1, static_cast<int>(i)) - 1), 4 * kU64);
  }
  EXPECT_EQ(spectrum(Kind::clustered, 4, 8, 1), (std::vector<double>{1, 0.125, 0.125, 0.125}));
  for (const Kind kind : {Kind::general_clustered, Kind::positive_clustered}) {
    EXPECT_EQ(spectrum(kind, 4, 8, 1), (std::vector<double>{1, 1, 1, 0.125}));
    EXPECT_EQ(spectrum(kind, 1, 8, 1), std::vector<double>{1});
  }
  for (const std::int64_t n : {1, 9, 10, 19, 20, 25}) {
    const std::vector<double> d = spectrum(Kind::custom_clustered, n, 8, 1);
    EXPECT_EQ(std::count(d.begin(), d.end(), 1.0), std::max<std::int64_t>(1, n / 10)) << n;
    EXPECT_EQ(std::count(d.begin(), d.end(), 0.125), n - std::max<std::int64_t>(1, n / 10)) << n;
  }
}

TEST(Spectrum, LogarithmicIsUniformInTheLogarithm) {
  const std::int64_t n = 10'000;
  const std::vector<double> d = spectrum(Kind::logarithmic, n, 1e8, 7);
  // In sorted order, the logarithms are uniformly spaced: Kolmogorov's bound at one in a million.
  for (std::int64_t i = 0; i < n; ++i) {
    const double place = -std::log10(d[static_cast<std::size_t>(i)]) / 8;
    EXPECT_LT(std::abs(place - static_cast<double>(i) / static_cast<double>(n)), 0.027);
  }
  EXPECT_NE(d, spectrum(Kind::logarithmic, n, 1e8, 8));
}

TEST(Spectrum, IsThatOfTheMatrix) {
  for (const Kind kind : all_kinds) {
    if (!has_spectrum(kind)) continue;
    for (const double condition : {1.0, 1e2, 1e6, 1e12}) {
      if (kSanitized && condition != 1e6) continue;
      for (const std::int64_t n : {1, 2, 3, 4, 6, 15, 16, 17, 32, 100, 127, 128, 129, 192, 250}) {
        const Recipe recipe{kind, condition, 0.1, 0, 3};
        const std::vector<double> expected = spectrum(kind, n, condition, 3);
        const Square a(n, recipe, 2);
        const std::vector<double> found = is_general(kind) ? singular_values(a) : eigenvalues(a);
        // The norm of A is 1; LAPACK's own error is also within n u.
        const double bound = 8 * static_cast<double>(n) * kU64 + 16 * kU64;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_LT(std::abs(found[i] - expected[i]), bound) << to_string(kind) << " " << n;
        }
      }
    }
  }
}

TEST(Spectrum, OfAPositiveMatrixIsWithinTheRightAngle) {
  for (const Kind kind : kPositive) {
    for (const std::int64_t n : {2, 3, 64, 65, 150}) {
      const std::vector<std::complex<double>> lambda =
          complex_eigenvalues(Square(n, {kind, 1e2, 0.1, 0, 7}));
      double turned = 0;
      for (const std::complex<double> z : lambda) {
        // The angles are at most pi/4; the errors of the eigenvalues are of the order of n u.
        ASSERT_LE(std::abs(z.imag()), z.real() + 100 * static_cast<double>(n) * kU64) << n;
        turned = std::max(turned, std::abs(z.imag()) / z.real());
      }
      EXPECT_TRUE(turned > 0.5 || n <= 3) << to_string(kind) << " " << n;
    }
  }
}

TEST(Spectrum, OfAGeneralMatrixIsOnBothSides) {
  for (const Kind kind : {Kind::general_arithmetic, Kind::general_clustered}) {
    const std::vector<std::complex<double>> lambda =
        complex_eigenvalues(Square(100, {kind, 1e2, 0.1, 0, 7}));
    const auto left = std::count_if(lambda.begin(), lambda.end(),
                                    [](const std::complex<double> z) { return z.real() < 0; });
    EXPECT_GT(left, 30);
    EXPECT_LT(left, 70);
  }
}

TEST(Basis, IsOrthogonalAndHasNoDominantElement) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n :
       {16, 17, 31, 32, 33, 48, 63, 100, 127, 128, 129, 255, 256, 257, 400}) {
    const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      Square q(n);
      set_scaled_basis(q.view(), Basis(n, seed, 0), ones, pool);
      double largest = 0;
      for (const double x : q.data) largest = std::max(largest, std::abs(x));
      // Among n^2 Gaussian values of variance 1/n, only one in 10^4 matrices has a larger one; a
      // column that one round left unchanged would have a 1.
      const double order = static_cast<double>(n);
      EXPECT_LT(largest, std::sqrt(2 * std::log(1e4 * order * order) / order)) << n;
      multiply_transposed(q.view(), Basis(n, seed, 0), Part::all, pool);
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < n; ++i) {
          ASSERT_LT(std::abs(q(i, j) - (i == j ? 1 : 0)), 8 * std::log2(order) * kU64) << n;
        }
      }
    }
  }
}

TEST(Basis, HasElementsThatLookGaussian) {
  engine::ThreadPool pool(2);
  for (const std::int64_t n : {256, 300, 383, 511}) {
    Square q(n);
    set_scaled_basis(q.view(), Basis(n, 1, 0),
                     std::vector<double>(static_cast<std::size_t>(n), 1.0), pool);
    const auto order = static_cast<double>(n);
    double fourth = 0;
    for (const double x : q.data) fourth += x * x * x * x;
    // The fourth moment of a Gaussian is 3. n^2 samples: a standard deviation of sqrt(96) / n.
    EXPECT_LT(std::abs(fourth - 3), 8 * 9.8 / order + 6 / order);
    // No quarter of a column holds much more than a quarter of its sum of squares.
    for (std::int64_t j = 0; j < n; ++j) {
      for (int part = 0; part < 4; ++part) {
        double squares = 0;
        for (std::int64_t i = part * n / 4; i < (part + 1) * n / 4; ++i)
          squares += q(i, j) * q(i, j);
        ASSERT_LT(std::abs(squares - 0.25), 0.25 * 6 * std::sqrt(8 / order)) << n << " " << j;
      }
    }
  }
}

/// Iterations of conjugate gradients until the residual is 1e-8 of b.
int cg_iterations(const Square& a, const std::vector<double>& b) {
  const std::size_t n = b.size();
  std::vector<double> r(b), p(b), q(n);
  const auto dot = [](const std::vector<double>& x, const std::vector<double>& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
  };
  const double start = dot(r, r);
  double rho = start;
  int iterations = 0;
  while (!(rho <= 1e-16 * start) && iterations < 5000) {
    std::fill(q.begin(), q.end(), 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      const double* const column = a.data.data() + j * n;
      for (std::size_t i = 0; i < n; ++i) q[i] += column[i] * p[j];
    }
    const double alpha = rho / dot(p, q);
    for (std::size_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
    const double next = dot(r, r);
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + next / rho * p[i];
    rho = next;
    ++iterations;
  }
  return iterations;
}

/// The median of an odd number of counts.
int median(std::vector<int> counts) {
  std::nth_element(counts.begin(), counts.begin() + counts.size() / 2, counts.end());
  return counts[counts.size() / 2];
}

// The median of five bases is within 3 % and one iteration, as for two sets of Haar bases.
TEST(Basis, GivesConjugateGradientsTheIterationsOfAHaarBasis) {
  if (kSanitized) GTEST_SKIP() << "statistics of what the other tests build";
  for (const std::int64_t n : {255, 256, 300}) {
    // Right-hand sides that a structured basis would favour: ones and a unit vector.
    const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
    std::vector<double> unit(ones.size(), 0.0);
    unit[static_cast<std::size_t>(n) / 3] = 1;
    for (const Kind kind : kSpectra) {
      for (const double condition : {1e2, 1e3}) {
        const std::vector<double> d = spectrum(kind, n, condition, 1);
        std::vector<int> ours[2], haar[2];
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
          engine::ThreadPool pool(1);
          Square a(n);
          const Basis q(n, seed, 0);
          set_scaled_basis(a.view(), q, d, pool);
          multiply_transposed(a.view(), q, Part::all, pool);
          const Square b = with_haar_basis(d, seed);
          for (const int side : {0, 1}) {
            ours[side].push_back(cg_iterations(a, side == 0 ? ones : unit));
            haar[side].push_back(cg_iterations(b, side == 0 ? ones : unit));
          }
        }
        for (const int side : {0, 1}) {
          const int got = median(ours[side]);
          const int expected = median(haar[side]);
          EXPECT_LE(std::abs(got - expected), 1 + expected / 33)
              << to_string(kind) << " n " << n << " condition " << condition << ": " << got
              << " instead of " << expected;
        }
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::gallery::test
