// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "gallery/gallery.hpp"
#include "gallery/recipe.hpp"
#include "stepwell/error.hpp"

namespace stepwell::gallery {
namespace {

/// The names used on the command line, in the order of Kind.
constexpr std::array<std::string_view, all_kinds.size()> kNames = {
    "arithmetic",
    "clustered",
    "logarithmic",
    "geometric",
    "custom-clustered",
    "dominant",
    "matern",
    "exponential",
    "gaussian",
    "hilbert",
    "lehmer",
    "minij",
    "trefethen",
    "laplacian",
    "general-arithmetic",
    "general-clustered",
    "general-one-large",
    "general-logarithmic",
    "general-geometric",
    "positive-arithmetic",
    "positive-clustered",
    "positive-logarithmic",
    "general-dominant",
    "hplmxp",
    "randn",
    "rands",
    "randb",
    "orthog",
    "circul",
    "frank",
    "fiedler",
    "chebspec",
    "riemann",
    "zielke",
    "triw",
    "gfpp",
    "gfpp-rows",
};

enum class Shape { arithmetic, one_large, one_small, tenth_large, logarithmic, geometric };

/// Nothing if the kind is not defined by its eigenvalues or singular values.
std::optional<Shape> shape_of(Kind kind) {
  switch (kind) {
    case Kind::arithmetic:
    case Kind::general_arithmetic:
    case Kind::positive_arithmetic:
      return Shape::arithmetic;
    case Kind::clustered:
    case Kind::general_one_large:
      return Shape::one_large;
    case Kind::general_clustered:
    case Kind::positive_clustered:
      return Shape::one_small;
    case Kind::custom_clustered:
      return Shape::tenth_large;
    case Kind::logarithmic:
    case Kind::general_logarithmic:
    case Kind::positive_logarithmic:
      return Shape::logarithmic;
    case Kind::geometric:
    case Kind::general_geometric:
      return Shape::geometric;
    default:
      return std::nullopt;
  }
}

/// How many of the n values are 1; the others are 1 / condition.
std::int64_t ones_of(Shape shape, std::int64_t n) {
  if (shape == Shape::one_small && n > 1) return n - 1;
  return shape == Shape::tenth_large ? std::max<std::int64_t>(1, n / 10) : 1;
}

}  // namespace

std::string_view to_string(Kind kind) {
  return kNames.at(static_cast<std::size_t>(kind));
}

std::optional<Kind> kind_from_string(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Kind>(found - kNames.begin());
}

bool has_spectrum(Kind kind) {
  return shape_of(kind).has_value();
}

std::vector<double> spectrum(Kind kind, std::int64_t n, double condition, std::uint64_t seed) {
  const std::optional<Shape> shape = shape_of(kind);
  if (!shape) {
    throw Error(ErrorCode::invalid_argument, "gallery: the kind '" + std::string(to_string(kind)) +
                                                 "' is not defined by its eigenvalues");
  }
  if (n < 0 || !(condition >= 1) || !std::isfinite(condition)) {
    throw Error(ErrorCode::invalid_argument,
                "gallery: a spectrum needs n >= 0 and a finite condition number of at least 1");
  }
  std::vector<double> values(static_cast<std::size_t>(n));
  const std::int64_t ones = ones_of(*shape, n);
  const std::uint64_t random = stream(seed, 64);  // a stream that the bases do not use
  for (std::int64_t i = 0; i < n; ++i) {
    double& value = values[static_cast<std::size_t>(i)];
    const double place = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
    switch (*shape) {
      case Shape::arithmetic:
        value = 1 - place * (1 - 1 / condition);
        break;
      case Shape::geometric:
        value = std::pow(condition, -place);
        break;
      case Shape::logarithmic:
        value = std::pow(condition, -uniform(random + static_cast<std::uint64_t>(i)));
        break;
      default:
        value = i < ones ? 1 : 1 / condition;
    }
  }
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

}  // namespace stepwell::gallery
