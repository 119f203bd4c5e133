// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stepwell/view.hpp"

/// Test matrices by name: what the tests, the benchmarks and the command line draw from.
namespace stepwell::gallery {

enum class Kind : unsigned char {
  // With a given spectrum and random eigenvectors: Table 1 of Abdelfattah et al.
  arithmetic,        ///< eigenvalues evenly spaced from 1 to 1 / condition
  clustered,         ///< one is 1, the others 1 / condition
  logarithmic,       ///< their logarithms drawn evenly between those of 1 and 1 / condition
  geometric,         ///< their logarithms evenly spaced
  custom_clustered,  ///< n / 10 of them (at least one) are 1, the others 1 / condition
  dominant,          ///< random numbers in [-1, 1) with n on the diagonal: Carrica et al.
  // Covariances of n random points in the unit square, plus the nugget.
  matern,       ///< Matern 3/2
  exponential,  ///< exp(-r / length)
  gaussian,     ///< exp(-r^2 / (2 length^2)); hopelessly ill-conditioned without a nugget
  // Classics, without parameters. Element (i, j) counts from 1.
  hilbert,    ///< 1 / (i + j - 1); not positive definite in FP64 beyond n = 13
  lehmer,     ///< min(i, j) / max(i, j)
  minij,      ///< min(i, j)
  trefethen,  ///< primes on the diagonal, ones at distances 1, 2, 4, 8, ...
  laplacian,  ///< 2 on the diagonal, -1 beside it
};

inline constexpr std::array all_kinds = {
    Kind::arithmetic, Kind::clustered, Kind::logarithmic, Kind::geometric, Kind::custom_clustered,
    Kind::dominant,   Kind::matern,    Kind::exponential, Kind::gaussian,  Kind::hilbert,
    Kind::lehmer,     Kind::minij,     Kind::trefethen,   Kind::laplacian,
};

/// "arithmetic", "custom-clustered", ...
std::string_view to_string(Kind kind);
std::optional<Kind> kind_from_string(std::string_view name);

/// Whether the kind is given by its eigenvalues: one of the first five.
bool has_spectrum(Kind kind);

struct Recipe {
  Kind kind = Kind::arithmetic;
  double condition = 1e2;  ///< of a given spectrum; at least 1
  double length = 0.1;     ///< correlation length of a covariance
  double nugget = 1e-2;    ///< what a covariance adds to its diagonal
  std::uint64_t seed = 1;
  bool sorted = false;  ///< the points of a covariance in Morton order, not as they were drawn
};

/// The eigenvalues of a kind that is given by them, largest first. Throws Error(invalid_argument)
/// for the others.
std::vector<double> spectrum(Kind kind, std::int64_t n, double condition, std::uint64_t seed);

/// Fills a square matrix, both triangles, exactly symmetric: positive definite as far as FP64 can
/// hold it. The same bits for every number of threads. Costs n^2 log n at most.
/// Throws Error(invalid_argument) for a recipe or a view that makes no sense.
void fill(MatrixView<double> a, const Recipe& recipe, int threads = 1);

/// Fills a square nonsymmetric matrix: U diag(spectrum) V' with random bases U and V, or random
/// numbers in [-1, 1) plus n on the diagonal for Kind::dominant. The other kinds are symmetric by
/// nature: Error(invalid_argument).
void fill_general(MatrixView<double> a, const Recipe& recipe, int threads = 1);

}  // namespace stepwell::gallery
