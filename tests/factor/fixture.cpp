// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/fixture.hpp"

#include <cmath>
#include <limits>

#include "factor/cholesky/factor_data.hpp"
#include "tiles/operations.hpp"

extern "C" void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k,
                       const double* alpha, const double* a, const int* lda, const double* beta,
                       double* c, const int* ldc);

namespace stepwell::factor::test {
namespace {

/// C <- C - L L', lower triangle.
void subtract_square(const Dense<double>& l, Dense<double>& c) {
  const int n = static_cast<int>(l.rows);
  const double minus = -1, one = 1;
  if (n > 0) dsyrk_("L", "N", &n, &n, &minus, l.data.data(), &n, &one, c.data.data(), &n);
}

double lower_frobenius(const Dense<double>& a) {
  double squares = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = j; i < a.rows; ++i) squares += (i == j ? 1 : 2) * a(i, j) * a(i, j);
  }
  return std::sqrt(squares);
}

/// A <- P A P, with P = I - 2 v v' and a random unit vector v.
void reflect(Dense<double>& a, Random& random) {
  const std::int64_t n = a.rows;
  std::vector<double> v(n), w(n, 0.0);
  double squares = 0;
  for (double& x : v) {
    x = random.gaussian();
    squares += x * x;
  }
  for (double& x : v) x /= std::sqrt(squares);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) w[i] += a(i, j) * v[j];
  }
  double inner = 0;
  for (std::int64_t i = 0; i < n; ++i) inner += v[i] * w[i];
  for (std::int64_t i = 0; i < n; ++i) w[i] -= inner * v[i];
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) a(i, j) -= 2 * (v[i] * w[j] + w[i] * v[j]);
  }
}

}  // namespace

Dense<double> well_conditioned(std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  const double deviation = 0.5 / std::sqrt(static_cast<double>(n));
  Dense<double> a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      a(i, j) = i < j ? std::numeric_limits<double>::quiet_NaN()
                      : (i == j ? 2 : 0) + deviation * random.gaussian();
    }
  }
  return a;
}

Dense<double> geometric(std::int64_t n, double condition, std::uint64_t seed) {
  Random random(seed);
  Dense<double> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    a(i, i) = std::pow(condition, -static_cast<double>(i) / static_cast<double>(n - 1));
  }
  for (int reflection = 0; reflection < 3; ++reflection) reflect(a, random);
  return symmetric_copy(a);
}

Dense<double> indefinite(std::int64_t n, std::int64_t pivot, double schur) {
  // The identity, bordered at 'pivot' by a row r with 1 - r'r = schur. The other rows are coupled
  // to the first one only, by a column of norm 1/4 at most.
  Dense<double> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = 1;
  if (pivot == 0) a(0, 0) = schur;
  const std::int64_t width = std::min<std::int64_t>(pivot, 7);
  for (std::int64_t k = 0; k < width; ++k) {
    const std::int64_t col = k * pivot / width;
    a(pivot, col) = std::sqrt((1 - schur) / static_cast<double>(width));
  }
  const double weak = 0.25 / std::sqrt(static_cast<double>(n));
  for (std::int64_t i = 1; i < n; ++i) {
    if (i != pivot) a(i, 0) = weak / static_cast<double>(1 + i % 7);
  }
  return symmetric_copy(a);
}

Dense<double> symmetric_copy(const Dense<double>& lower) {
  Dense<double> a(lower);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = lower(j, i);
  }
  return a;
}

FactorOptions options_for(const std::string& map, std::int64_t tile) {
  FactorOptions options;
  options.map = parse_map(map);
  options.tile = tile;
  return options;
}

Factor factor_of(const Dense<double>& a, const FactorOptions& options) {
  return cholesky(a.view(), options);
}

Dense<double> lower_factor(const Factor& factor) {
  Dense<double> l(factor.order(), factor.order());
  EXPECT_TRUE(factor.ok()) << to_string(factor.report().outcome);
  if (factor.ok()) factor.copy_to(l.view());
  return l;
}

double residual(const Dense<double>& a, const Dense<double>& l) {
  Dense<double> magnitudes(l);
  for (double& x : magnitudes.data) x = std::abs(x);
  Dense<double> difference(a), scale(a.rows, a.cols);
  subtract_square(l, difference);
  subtract_square(magnitudes, scale);
  return lower_frobenius(difference) / lower_frobenius(scale);
}

double residual_bound(const FactorReport& report, std::int64_t n) {
  double u = report.unit_roundoff;
  double v = kU64;
  for (const Rung rung : all_rungs) {
    if (report.tiles[static_cast<std::size_t>(rung)] == 0) continue;
    u = std::max(u, info(rung).unit_roundoff + info(rung).product_error);
    if (!has_fp64_accuracy(rung)) v = kU32;
  }
  return 8 * u + static_cast<double>(n + 8) * v;
}

::testing::AssertionResult same_tiles(const Factor& got, const Factor& expected) {
  const tiles::Grid& grid = FactorData::of(expected).l.grid();
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      const tiles::Tile a = FactorData::of(got).l.tile(i, j);
      const tiles::Tile b = FactorData::of(expected).l.tile(i, j);
      Dense<double> x(b.shape.rows, b.shape.cols), y(b.shape.rows, b.shape.cols);
      tiles::copy_tile(kernels::table(), a, {}, x.view());
      tiles::copy_tile(kernels::table(), b, {}, y.view());
      const auto same = kernels::test::same_bits(x.view(), y.view());
      if (!same)
        return ::testing::AssertionFailure() << "tile " << i << ", " << j << ": " << same.message();
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult same_factor(const Factor& got, const Factor& expected) {
  if (!got.ok() || !expected.ok()) return ::testing::AssertionFailure() << "not factored";
  if (FactorData::of(got).scale != FactorData::of(expected).scale) {
    return ::testing::AssertionFailure() << "scaled differently";
  }
  if (got.report().attempts.size() != expected.report().attempts.size() ||
      got.report().shift != expected.report().shift) {
    return ::testing::AssertionFailure() << "another path";
  }
  return same_tiles(got, expected);
}

}  // namespace stepwell::factor::test
