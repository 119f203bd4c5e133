// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

/// Points in the unit square and covariances between them. In Morton order, neighbours in space are
/// neighbours in the matrix, and the norms of tiles decrease away from the diagonal.
namespace stepwell::gallery {

struct Point {
  double x, y;
};

inline double distance(Point a, Point b) {
  return std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
}

/// n points of a square grid, in Morton order.
std::vector<Point> grid_points(std::int64_t n);

/// n random points, in the order of generation or in Morton order.
std::vector<Point> random_points(std::int64_t n, std::uint64_t seed, bool sorted);

// Covariances of two points whose distance is r correlation lengths.

/// Matern 3/2.
inline double matern_covariance(double r) {
  const double s = std::sqrt(3.0) * r;
  return (1 + s) * std::exp(-s);
}

inline double exponential_covariance(double r) {
  return std::exp(-r);
}

/// The squared exponential.
inline double gaussian_covariance(double r) {
  return std::exp(-0.5 * r * r);
}

}  // namespace stepwell::gallery
