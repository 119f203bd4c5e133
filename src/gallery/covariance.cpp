// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/covariance.hpp"

#include <algorithm>
#include <utility>

#include "gallery/gallery.hpp"

namespace stepwell::gallery {
namespace {

/// The even bits of x, packed together.
std::uint32_t even_bits(std::uint64_t x) {
  std::uint32_t out = 0;
  for (int b = 0; b < 32; ++b) out |= static_cast<std::uint32_t>((x >> (2 * b)) & 1U) << b;
  return out;
}

/// The leading 32 bits of a number in [0, 1), spread to the even bits of the result.
std::uint64_t spread_bits(double x) {
  const auto bits = static_cast<std::uint64_t>(x * 0x1p32);
  std::uint64_t out = 0;
  for (int b = 0; b < 32; ++b) out |= ((bits >> b) & 1U) << (2 * b);
  return out;
}

}  // namespace

std::vector<Point> grid_points(std::int64_t n) {
  std::int64_t side = 1;  // side of the grid: the smallest power of two with side^2 >= n
  while (side * side < n) side *= 2;
  std::vector<Point> points(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto code = static_cast<std::uint64_t>(i);
    points[static_cast<std::size_t>(i)] = {even_bits(code) / static_cast<double>(side),
                                           even_bits(code >> 1) / static_cast<double>(side)};
  }
  return points;
}

std::vector<Point> random_points(std::int64_t n, std::uint64_t seed, bool sorted) {
  std::vector<std::pair<std::uint64_t, Point>> coded(static_cast<std::size_t>(n));
  std::uint64_t index = stream(seed, 0);
  for (auto& [code, point] : coded) {
    point.x = uniform(index++);
    point.y = uniform(index++);
    code = spread_bits(point.x) | spread_bits(point.y) << 1;
  }
  if (sorted) {  // stable sort: points with the same code stay in the order of generation
    std::stable_sort(coded.begin(), coded.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  std::vector<Point> points;
  points.reserve(coded.size());
  for (const auto& [code, point] : coded) points.push_back(point);
  return points;
}

}  // namespace stepwell::gallery
