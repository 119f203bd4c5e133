// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gallery/covariance.hpp"
#include "gallery/gallery.hpp"
#include "gallery/recipe.hpp"

/// The symmetric kinds whose elements have an explicit formula, on and below the diagonal.
namespace stepwell::gallery {

/// Throws Error(invalid_argument) for an invalid recipe.
void check(const Recipe& recipe);

/// The first n primes.
std::vector<double> primes(std::int64_t n);

/// Calls use(element), where element(i, j) with i >= j is the element of a matrix of order n; the
/// function object owns its data and may be kept. Returns false if the kind has no such formula.
template <class Use>
bool with_element_rule(std::int64_t n, const Recipe& recipe, Use use) {
  const auto number = [](std::int64_t i) { return static_cast<double>(i); };
  const auto use_covariance = [&](auto covariance) {
    const auto points =
        std::make_shared<const std::vector<Point>>(random_points(n, recipe.seed, recipe.sorted));
    use([points, recipe, covariance](std::int64_t i, std::int64_t j) {
      const double r =
          distance((*points)[static_cast<std::size_t>(i)], (*points)[static_cast<std::size_t>(j)]);
      return covariance(r / recipe.length) + (i == j ? recipe.nugget : 0);
    });
    return true;
  };
  switch (recipe.kind) {
    case Kind::dominant:
      use([n, number, seed = recipe.seed](std::int64_t i, std::int64_t j) {
        return i == j ? number(n) : element_noise(seed, i, j);
      });
      return true;
    case Kind::matern:
      return use_covariance([](double r) { return matern_covariance(r); });
    case Kind::exponential:
      return use_covariance([](double r) { return exponential_covariance(r); });
    case Kind::gaussian:
      return use_covariance([](double r) { return gaussian_covariance(r); });
    case Kind::hilbert:
      use([number](std::int64_t i, std::int64_t j) { return 1 / number(i + j + 1); });
      return true;
    case Kind::lehmer:
      use([number](std::int64_t i, std::int64_t j) { return number(j + 1) / number(i + 1); });
      return true;
    case Kind::minij:
      use([number](std::int64_t, std::int64_t j) { return number(j + 1); });
      return true;
    case Kind::trefethen: {
      const auto diagonal = std::make_shared<const std::vector<double>>(primes(n));
      use([diagonal](std::int64_t i, std::int64_t j) {
        const std::int64_t apart = i - j;
        if (apart == 0) return (*diagonal)[static_cast<std::size_t>(j)];
        return (apart & (apart - 1)) == 0 ? 1.0 : 0.0;
      });
      return true;
    }
    case Kind::laplacian:
      use([](std::int64_t i, std::int64_t j) { return i == j ? 2.0 : i == j + 1 ? -1.0 : 0.0; });
      return true;
    default:
      return false;
  }
}

}  // namespace stepwell::gallery
