// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/scaling.hpp"

#include <algorithm>
#include <cmath>

namespace stepwell::factor {

Diagonal read_diagonal(MatrixView<const double> a) {
  Diagonal d;
  d.value.resize(static_cast<std::size_t>(a.rows));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const double x = a(i, i);
    d.value[static_cast<std::size_t>(i)] = x;
    if (!std::isfinite(x)) d.finite = false;
    if (!(x > 0)) d.positive = false;
  }
  return d;
}

std::vector<double> scale_factors(const Diagonal& diagonal, Scaling scaling) {
  std::vector<double> scale(diagonal.value.size(), 1.0);
  for (std::size_t i = 0; i < scale.size(); ++i) {
    const double x = std::abs(diagonal.value[i]);
    if (scaling == Scaling::none || !std::isfinite(x) || x == 0) continue;
    if (scaling == Scaling::unit_diagonal) {
      scale[i] = 1 / std::sqrt(x);
      continue;
    }
    int exponent = 0;
    std::frexp(x, &exponent);  // x = m 2^exponent with 1/2 <= m < 1: h_ii is m or 2m
    scale[i] = std::ldexp(1.0, -((exponent - (exponent & 1)) / 2));
  }
  return scale;
}

double choose_mu(const tiles::RungMap& map, const Diagonal& diagonal,
                 const std::vector<double>& scale, double theta, double shift) {
  if (!map.uses(Rung::fp16)) return 1;
  double largest = 0;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    largest = std::max(largest, std::abs(scale[i] * diagonal.value[i]) * scale[i]);
  }
  const double u = info(map.coarsest()).unit_roundoff;
  const double mu = theta * info(Format::fp16).largest / (largest * (1 + shift * u));
  if (!(mu > 0) || !std::isfinite(mu)) return 1;
  return std::ldexp(1.0, static_cast<int>(2 * std::floor(std::ilogb(mu) / 2.0)));
}

}  // namespace stepwell::factor
