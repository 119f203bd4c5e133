// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/recipe.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/team.hpp"
#include "gallery/basis.hpp"
#include "gallery/covariance.hpp"
#include "gallery/elements.hpp"
#include "gallery/gallery.hpp"
#include "gallery/general.hpp"
#include "stepwell/error.hpp"

namespace stepwell::gallery {
namespace {

void check(MatrixView<const double> a, const Recipe& recipe, int threads) {
  const auto refuse = [](const std::string& text) {
    throw Error(ErrorCode::invalid_argument, "gallery: " + text);
  };
  if (a.rows != a.cols || a.rows < 0) {
    refuse("the matrix must be square, not " + std::to_string(a.rows) + " x " +
           std::to_string(a.cols));
  }
  if (a.ld < std::max<std::int64_t>(1, a.rows)) {
    refuse("the leading dimension " + std::to_string(a.ld) + " is less than the " +
           std::to_string(a.rows) + " rows");
  }
  if (threads < 1) refuse("the number of threads must be positive");
  if (!(recipe.condition >= 1) || !std::isfinite(recipe.condition)) {
    refuse("the condition number must be finite and at least 1");
  }
  if (!(recipe.length > 0) || !std::isfinite(recipe.length)) {
    refuse("the correlation length must be positive and finite");
  }
  if (!(recipe.nugget >= 0) || !std::isfinite(recipe.nugget)) {
    refuse("the nugget must be finite and not negative");
  }
}

template <class Covariance>
void fill_covariance(MatrixView<double> a, const Recipe& recipe, engine::Team& team,
                     Covariance covariance) {
  const std::vector<Point> points = random_points(a.rows, recipe.seed, recipe.sorted);
  fill_lower(a, team, [&](std::int64_t i, std::int64_t j) {
    const double r =
        distance(points[static_cast<std::size_t>(i)], points[static_cast<std::size_t>(j)]);
    return covariance(r / recipe.length) + (i == j ? recipe.nugget : 0);
  });
}

/// The first n primes.
std::vector<double> primes(std::int64_t n) {
  // The n-th is below n (log n + log log n) for n > 5.
  const double size = std::max(6.0, static_cast<double>(n));
  std::vector<bool> composite(
      static_cast<std::size_t>(size * (std::log(size) + std::log(std::log(size)))) + 2);
  std::vector<double> found;
  for (std::size_t k = 2; found.size() < static_cast<std::size_t>(n); ++k) {
    if (composite[k]) continue;
    found.push_back(static_cast<double>(k));
    for (std::size_t multiple = k * k; multiple < composite.size(); multiple += k) {
      composite[multiple] = true;
    }
  }
  return found;
}

}  // namespace

void fill(MatrixView<double> a, const Recipe& recipe, int threads) {
  check(a, recipe, threads);
  engine::Team team(threads);
  if (is_general(recipe.kind)) return fill_general(a, recipe, team);
  const auto number = [](std::int64_t i) { return static_cast<double>(i); };
  switch (recipe.kind) {
    case Kind::arithmetic:
    case Kind::clustered:
    case Kind::logarithmic:
    case Kind::geometric:
    case Kind::custom_clustered: {
      const Basis q(a.rows, recipe.seed, 0);
      set_scaled_basis(a, q, spectrum(recipe.kind, a.rows, recipe.condition, recipe.seed), team);
      multiply_transposed(a, q, Part::lower, team);
      break;
    }
    case Kind::dominant:
      fill_lower(a, team, [&](std::int64_t i, std::int64_t j) {
        return i == j ? number(a.rows) : element_noise(recipe.seed, i, j);
      });
      break;
    case Kind::matern:
      fill_covariance(a, recipe, team, matern_covariance);
      break;
    case Kind::exponential:
      fill_covariance(a, recipe, team, exponential_covariance);
      break;
    case Kind::gaussian:
      fill_covariance(a, recipe, team, gaussian_covariance);
      break;
    case Kind::hilbert:
      fill_lower(a, team, [&](std::int64_t i, std::int64_t j) { return 1 / number(i + j + 1); });
      break;
    case Kind::lehmer:
      fill_lower(a, team,
                 [&](std::int64_t i, std::int64_t j) { return number(j + 1) / number(i + 1); });
      break;
    case Kind::minij:
      fill_lower(a, team, [&](std::int64_t, std::int64_t j) { return number(j + 1); });
      break;
    case Kind::trefethen: {
      const std::vector<double> diagonal = primes(a.rows);
      fill_lower(a, team, [&](std::int64_t i, std::int64_t j) {
        const std::int64_t apart = i - j;
        if (apart == 0) return diagonal[static_cast<std::size_t>(j)];
        return (apart & (apart - 1)) == 0 ? 1.0 : 0.0;
      });
      break;
    }
    case Kind::laplacian:
      fill_lower(a, team, [](std::int64_t i, std::int64_t j) {
        return i == j ? 2.0 : i == j + 1 ? -1.0 : 0.0;
      });
      break;
    default:  // the general ones
      break;
  }
  mirror(a, team);
}

}  // namespace stepwell::gallery
