// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/general.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "gallery/basis.hpp"
#include "gallery/elements.hpp"
#include "gallery/gallery.hpp"

namespace stepwell::gallery {
namespace {

using std::numbers::pi;

double number(std::int64_t i) {
  return static_cast<double>(i);
}

/// A standard normal random number for element (i, j), by the Box-Muller method.
double element_normal(std::uint64_t seed, std::int64_t i, std::int64_t j) {
  const std::uint64_t index =
      stream(seed, static_cast<std::uint64_t>(j)) + 2 * static_cast<std::uint64_t>(i);
  return std::sqrt(-2 * std::log1p(-uniform(index))) * std::cos(2 * pi * uniform(index + 1));
}

/// A <- A G: columns 2k and 2k + 1 are rotated by a random angle in [-pi/4, pi/4).
void turn_pairs(MatrixView<double> a, std::uint64_t seed, engine::ThreadPool& pool) {
  const std::uint64_t random = stream(seed, 65);  // a stream that bases and spectra do not use
  pool.for_each(a.cols / 2, [&](std::int64_t k) {
    const double angle = pi / 4 * noise(random + static_cast<std::uint64_t>(k));
    const double c = std::cos(angle), s = std::sin(angle);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const double left = a(i, 2 * k), right = a(i, 2 * k + 1);
      a(i, 2 * k) = c * left + s * right;
      a(i, 2 * k + 1) = c * right - s * left;
    }
  });
}

/// Element (p, q) of the matrix that maps the values of a polynomial at x_k = cos(k pi / n),
/// k = 0..n, to those of its derivative. Differences of cosines are computed as products of sines,
/// to avoid cancellation.
double chebyshev(std::int64_t n, std::int64_t p, std::int64_t q) {
  const auto sine = [&](std::int64_t k) { return std::sin(number(k) * pi / number(2 * n)); };
  if (p == q) {
    if (p == n) return -number(2 * n * n + 1) / 6;
    const double height = sine(2 * p);
    return -std::cos(number(p) * pi / number(n)) / (2 * height * height);
  }
  const double ends = (p == n ? 2.0 : 1.0) / (q == n ? 2.0 : 1.0);
  const double sign = (p + q) % 2 == 0 ? 1 : -1;
  return sign * ends / (2 * sine(p + q) * sine(q - p));
}

double gfpp(std::int64_t n, std::int64_t i, std::int64_t j) {
  if (i == j || j == n - 1) return 1;
  return i > j ? -1 : 0;
}

/// Random elements, with the sum of the absolute values of each row on the diagonal.
void fill_hplmxp(MatrixView<double> a, std::uint64_t seed, engine::ThreadPool& pool) {
  fill_all(a, pool, [&](std::int64_t i, std::int64_t j) {
    return i == j ? 0 : element_noise(seed, i, j) / 2;
  });
  for_blocks(a.rows, pool, [&](std::int64_t begin, std::int64_t end) {
    double sums[kBlock] = {};
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = begin; i < end; ++i) sums[i - begin] += std::abs(a(i, j));
    }
    for (std::int64_t i = begin; i < end; ++i) a(i, i) = sums[i - begin];
  });
}

/// Fills the kinds with given singular values.
void fill_singular(MatrixView<double> a, const Recipe& recipe, bool positive,
                   engine::ThreadPool& pool) {
  const Basis u(a.rows, recipe.seed, 0);
  set_scaled_basis(a, u, spectrum(recipe.kind, a.rows, recipe.condition, recipe.seed), pool);
  if (positive) {
    turn_pairs(a, recipe.seed, pool);
    multiply_transposed(a, u, Part::all, pool);
  } else {
    multiply_transposed(a, Basis(a.rows, recipe.seed, 1), Part::all, pool);
  }
}

}  // namespace

void fill_general(MatrixView<double> a, const Recipe& recipe, engine::ThreadPool& pool) {
  const std::int64_t n = a.rows;
  const std::uint64_t seed = recipe.seed;
  using Index = std::int64_t;
  switch (recipe.kind) {
    case Kind::positive_arithmetic:
    case Kind::positive_clustered:
    case Kind::positive_logarithmic:
      return fill_singular(a, recipe, true, pool);
    case Kind::general_dominant:
      return fill_all(a, pool, [&](Index i, Index j) {
        return element_noise(seed, i, j) + (i == j ? number(n) : 0);
      });
    case Kind::hplmxp:
      return fill_hplmxp(a, seed, pool);
    case Kind::randn:
      return fill_all(a, pool, [&](Index i, Index j) { return element_normal(seed, i, j); });
    case Kind::rands:
      return fill_all(a, pool, [&](Index i, Index j) { return element_noise(seed, i, j); });
    case Kind::randb:
      return fill_all(a, pool,
                      [&](Index i, Index j) { return element_noise(seed, i, j) < 0 ? -1.0 : 1.0; });
    case Kind::orthog: {
      const double size = std::sqrt(2 / number(n + 1));
      fill_lower(a, pool, [&](Index i, Index j) {  // reduced by the period of the sine
        const Index angle = (i + 1) * (j + 1) % (2 * (n + 1));
        return size * std::sin(number(angle) * pi / number(n + 1));
      });
      return copy_lower_to_upper(a, pool);
    }
    case Kind::circul:
      return fill_all(a, pool, [&](Index i, Index j) { return number((j - i + n) % n + 1); });
    case Kind::frank:
      return fill_all(
          a, pool, [&](Index i, Index j) { return j + 1 >= i ? number(n - std::max(i, j)) : 0.0; });
    case Kind::fiedler:
      fill_lower(a, pool, [](Index i, Index j) { return number(i - j); });
      return copy_lower_to_upper(a, pool);
    case Kind::chebspec:
      return fill_all(a, pool, [&](Index i, Index j) { return chebyshev(n, i + 1, j + 1); });
    case Kind::riemann:
      return fill_all(
          a, pool, [](Index i, Index j) { return (j + 2) % (i + 2) == 0 ? number(i + 1) : -1.0; });
    case Kind::zielke:
      return fill_all(a, pool, [&](Index i, Index j) {
        if (i > j) return 1.0;
        return i == 0 && j == n - 1 ? -1.0 : 0.0;
      });
    case Kind::triw:
      return fill_all(a, pool, [](Index i, Index j) { return i == j ? 1.0 : i < j ? -1.0 : 0.0; });
    case Kind::gfpp:
      return fill_all(a, pool, [&](Index i, Index j) { return gfpp(n, i, j); });
    case Kind::gfpp_rows:
      return fill_all(a, pool, [&](Index i, Index j) { return gfpp(n, j, i); });
    default:
      return fill_singular(a, recipe, false, pool);
  }
}

}  // namespace stepwell::gallery
