// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/numeric/exponent.hpp"
#include "kernels/residues.hpp"

namespace stepwell::factor {

Diagonal diagonal_of(std::vector<double> value) {
  Diagonal d;
  d.value = std::move(value);
  for (const double x : d.value) {
    if (!std::isfinite(x)) d.finite = false;
    if (!(x > 0)) d.positive = false;
  }
  return d;
}

Diagonal read_diagonal(MatrixView<const double> a, std::span<const std::int64_t> order) {
  std::vector<double> value(static_cast<std::size_t>(a.rows));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t k = order.empty() ? i : order[static_cast<std::size_t>(i)];
    value[static_cast<std::size_t>(i)] = a(k, k);
  }
  return diagonal_of(std::move(value));
}

void Scale::multiply_gain(double factor) {
  gain *= factor;
  for (std::size_t i = 0; i < row.size(); ++i) col[i] = gain * row[i];
}

Scale scale_factors(const Diagonal& diagonal, Scaling scaling) {
  Scale scale;
  scale.row.assign(diagonal.value.size(), 1.0);
  scale.col = scale.row;
  const auto usable = [](double x) { return std::isfinite(x) && x != 0; };
  if (scaling == Scaling::unit_diagonal) {
    for (std::size_t i = 0; i < scale.row.size(); ++i) {
      const double x = diagonal.value[i];
      if (usable(x)) scale.row[i] = scale.col[i] = 1 / std::sqrt(std::abs(x));
    }
  }
  if (scaling != Scaling::powers_of_two) return scale;
  double largest = 0;
  for (const double x : diagonal.value) {
    if (usable(x)) largest = std::max(largest, std::abs(x));
  }
  // Limited to the range of a product of two factors: for matrices beyond it, only multiplication
  // by powers of four gives the same bits.
  const int reference = largest == 0 ? 0 : std::clamp(std::ilogb(largest), -960, 960);
  for (std::size_t i = 0; i < scale.row.size(); ++i) {
    if (!usable(diagonal.value[i])) continue;
    // |a_ii| = m 2^(reference + below) with 1 <= m < 2: h_ii is m or 2m, so that an exact square
    // root stays exact, and 4 x = 2 gives 1/2.
    const int below = core::exponent_of(diagonal.value[i]) - reference;
    scale.row[i] = core::times_power_of_two(1.0, -((below - (below & 1)) / 2));
  }
  scale.multiply_gain(std::ldexp(1.0, -reference));
  return scale;
}

Scale fixed_point_scale(const Diagonal& diagonal, OddPowers odd) {
  const auto usable = [](double x) { return std::isfinite(x) && x != 0; };
  double largest = 0;
  for (const double x : diagonal.value) {
    if (usable(x)) largest = std::max(largest, std::abs(x));
  }
  const bool halve =
      odd == OddPowers::in_the_gain && largest > 0 && core::exponent_of(largest) % 2 != 0;
  Scale scale;
  for (const double x : diagonal.value) {
    int half = 0;
    if (usable(x)) {
      half = core::exponent_of(x) / 2;
      const auto scaled = [&] {
        return core::times_power_of_two(std::abs(x), -2 * half - (halve ? 1 : 0));
      };
      while (scaled() > kernels::kLargestDiagonal) ++half;
      while (scaled() <= kernels::kLargestDiagonal / 4) --half;
    }
    scale.row.push_back(std::ldexp(1.0, -half));
  }
  scale.col = scale.row;
  if (halve) scale.multiply_gain(0.5);
  return scale;
}

std::vector<double> scaled_diagonal(const Diagonal& diagonal, const Scale& scale, double factor) {
  std::vector<double> scaled;
  for (std::size_t i = 0; i < scale.row.size(); ++i) {
    scaled.push_back((scale.row[i] * diagonal.value[i]) * scale.col[i] * factor);
  }
  return scaled;
}

double choose_mu(const tiles::RungMap& map, const Diagonal& diagonal, const Scale& scale,
                 double theta, double shift) {
  if (!map.uses(Rung::fp16)) return 1;
  double largest = 0;
  for (std::size_t i = 0; i < scale.row.size(); ++i) {
    largest = std::max(largest, std::abs(scale.row[i] * diagonal.value[i]) * scale.col[i]);
  }
  const double u = info(map.coarsest()).unit_roundoff;
  const double mu = theta * info(Format::fp16).largest / (largest * (1 + shift * u));
  return mu > 0 && std::isfinite(mu) ? std::ldexp(1.0, std::ilogb(mu)) : 1;
}

}  // namespace stepwell::factor
