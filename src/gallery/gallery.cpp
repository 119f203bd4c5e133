// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/gallery.hpp"

#include <cmath>
#include <vector>

namespace stepwell::gallery {
namespace {

/// The even bits of x, pushed together.
std::uint32_t even_bits(std::uint64_t x) {
  std::uint32_t out = 0;
  for (int b = 0; b < 32; ++b) out |= static_cast<std::uint32_t>((x >> (2 * b)) & 1U) << b;
  return out;
}

struct Point {
  double x, y;
};

std::vector<Point> morton_grid(std::int64_t n) {
  std::int64_t side = 1;  // of the smallest square of a power of two that holds n points
  while (side * side < n) side *= 2;
  std::vector<Point> points(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto code = static_cast<std::uint64_t>(i);
    points[static_cast<std::size_t>(i)] = {even_bits(code) / static_cast<double>(side),
                                           even_bits(code >> 1) / static_cast<double>(side)};
  }
  return points;
}

}  // namespace

void fill_dominant(MatrixView<double> a, std::uint64_t seed) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const auto column = (seed << 44) + static_cast<std::uint64_t>(j) * (std::uint64_t{1} << 24);
    a(j, j) = static_cast<double>(a.rows);
    for (std::int64_t i = j + 1; i < a.rows; ++i) {
      a(i, j) = noise(column + static_cast<std::uint64_t>(i));
    }
  }
}

void fill_matern(MatrixView<double> a, const Matern& matern) {
  const std::vector<Point> p = morton_grid(a.rows);
  const double factor = std::sqrt(3.0) / matern.length;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const Point pj = p[static_cast<std::size_t>(j)];
    for (std::int64_t i = j; i < a.rows; ++i) {
      const Point pi = p[static_cast<std::size_t>(i)];
      const double r = factor * std::hypot(pi.x - pj.x, pi.y - pj.y);
      a(i, j) = (1 + r) * std::exp(-r) + (i == j ? matern.nugget : 0);
    }
  }
}

void fill_geometric(MatrixView<double> a, double condition, int reflections, std::uint64_t seed) {
  const std::int64_t n = a.rows;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) a(i, j) = 0;
    const double place = n > 1 ? static_cast<double>(j) / static_cast<double>(n - 1) : 0;
    a(j, j) = std::pow(condition, -place);
  }
  std::vector<double> v(static_cast<std::size_t>(n));
  std::vector<double> w(static_cast<std::size_t>(n));
  for (int r = 0; r < reflections; ++r) {
    double squares = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      v[k] = noise((seed << 40) + static_cast<std::uint64_t>(r * n + i));
      squares += v[k] * v[k];
    }
    // H A H with H = I - tau v v':  A - v w' - w v',  w = tau A v - (tau^2 / 2) (v' A v) v.
    const double tau = 2 / squares;
    for (double& x : w) x = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const auto q = static_cast<std::size_t>(j);
      w[q] += a(j, j) * v[q];
      for (std::int64_t i = j + 1; i < n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        w[k] += a(i, j) * v[q];
        w[q] += a(i, j) * v[k];
      }
    }
    double inner = 0;
    for (std::size_t k = 0; k < w.size(); ++k) inner += v[k] * w[k];
    for (std::size_t k = 0; k < w.size(); ++k) w[k] = tau * (w[k] - tau / 2 * inner * v[k]);
    for (std::int64_t j = 0; j < n; ++j) {
      const auto q = static_cast<std::size_t>(j);
      for (std::int64_t i = j; i < n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        a(i, j) -= v[k] * w[q] + w[k] * v[q];
      }
    }
  }
}

}  // namespace stepwell::gallery
