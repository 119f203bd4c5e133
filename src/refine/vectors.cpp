// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/vectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stepwell::refine {
namespace {

/// Number of partial sums: the compiler keeps them in vector registers, and no addition waits for
/// the previous one.
constexpr std::size_t kParts = 16;

}  // namespace

double dot(std::int64_t n, const double* x, const double* y) {
  std::array<double, kParts> part{};
  constexpr auto parts = static_cast<std::int64_t>(kParts);
  std::int64_t i = 0;
  for (; i + parts <= n; i += parts) {
    for (std::size_t k = 0; k < kParts; ++k)
      part[k] += x[i + static_cast<std::int64_t>(k)] * y[i + static_cast<std::int64_t>(k)];
  }
  double tail = 0;
  for (; i < n; ++i) tail += x[i] * y[i];
  for (std::size_t width = kParts / 2; width > 0; width /= 2) {
    for (std::size_t k = 0; k < width; ++k) part[k] += part[k + width];
  }
  return part[0] + tail;
}

double norm2(std::int64_t n, const double* x) {
  return std::sqrt(dot(n, x, x));
}

double max_abs(std::int64_t n, const double* x) {
  double largest = 0;
  double poison = 0;  // NaN if an element is NaN or infinite, which a comparison may overlook
  for (std::int64_t i = 0; i < n; ++i) {
    largest = std::max(largest, std::abs(x[i]));
    poison += x[i] * 0;
  }
  return largest + poison;
}

void axpy(std::int64_t n, double alpha, const double* x, double* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += alpha * x[i];
}

void xpby(std::int64_t n, const double* x, double beta, double* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] + beta * y[i];
}

void scale(std::int64_t n, double alpha, double* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] *= alpha;
}

void round_to_fp32(std::int64_t n, double* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<double>(static_cast<float>(x[i]));
}

double normalizer(double size) {
  if (!(size > 0) || !std::isfinite(size)) return 1;
  return std::ldexp(1.0, -std::clamp(std::ilogb(size), -1000, 1000));
}

}  // namespace stepwell::refine
