// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/gallery.hpp"

#include <cmath>
#include <vector>

#include "gallery/covariance.hpp"

namespace stepwell::gallery {

void fill_dominant(MatrixView<double> a, std::uint64_t seed) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    a(j, j) = static_cast<double>(a.rows);
    for (std::int64_t i = j + 1; i < a.rows; ++i) a(i, j) = element_noise(seed, i, j);
  }
}

void fill_matern(MatrixView<double> a, const Matern& matern) {
  const std::vector<Point> p = grid_points(a.rows);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const Point pj = p[static_cast<std::size_t>(j)];
    for (std::int64_t i = j; i < a.rows; ++i) {
      const Point pi = p[static_cast<std::size_t>(i)];
      a(i, j) = matern_covariance(distance(pi, pj) / matern.length);
    }
    a(j, j) += matern.nugget;
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
