// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stepwell/view.hpp"

/// Test matrices by name, for the tests, the benchmarks and the command line.
namespace stepwell::gallery {

enum class Kind : unsigned char {
  // Symmetric positive definite.
  // With a given spectrum and random eigenvectors: Table 1 of Abdelfattah et al.
  arithmetic,        ///< eigenvalues evenly spaced from 1 to 1 / condition
  clustered,         ///< one eigenvalue is 1, the others are 1 / condition
  logarithmic,       ///< logarithms uniformly random between those of 1 and 1 / condition
  geometric,         ///< logarithms evenly spaced
  custom_clustered,  ///< n / 10 eigenvalues (at least one) are 1, the others are 1 / condition
  dominant,          ///< random elements in [-1, 1) with n on the diagonal: Carrica et al.
  // Covariances of n random points in the unit square, plus the nugget.
  matern,       ///< Matern 3/2
  exponential,  ///< exp(-r / length)
  gaussian,     ///< exp(-r^2 / (2 length^2)); hopelessly ill-conditioned without a nugget
  // Classical matrices without parameters. Indices (i, j) start at 1.
  hilbert,    ///< 1 / (i + j - 1); not positive definite in FP64 beyond n = 13
  lehmer,     ///< min(i, j) / max(i, j)
  minij,      ///< min(i, j)
  trefethen,  ///< primes on the diagonal, ones at distances 1, 2, 4, 8, ...
  laplacian,  ///< 2 on the diagonal, -1 next to it

  // General: the kinds from here on are not symmetric positive definite.
  // U diag(s) V' with given singular values s and random bases U and V.
  general_arithmetic,   ///< evenly spaced from 1 to 1 / condition
  general_clustered,    ///< in the sense of Haidar et al.: one is 1 / condition, the others are 1
  general_one_large,    ///< one is 1, the others are 1 / condition, as in 'clustered' above
  general_logarithmic,  ///< logarithms uniformly random
  general_geometric,    ///< logarithms evenly spaced
  // The same with eigenvalues in the right half-plane, see below.
  positive_arithmetic,
  positive_clustered,
  positive_logarithmic,
  general_dominant,  ///< random elements in [-1, 1), n added to the diagonal
  hplmxp,  ///< random elements in [-1/2, 1/2); each diagonal element is the sum of the absolute
           ///< values of the others in its row: the matrix of the HPL-MxP benchmark
  randn,   ///< normally distributed
  rands,   ///< uniformly distributed in [-1, 1)
  randb,   ///< random signs; often exactly singular if n is small
  // Classical matrices without parameters.
  orthog,     ///< sqrt(2 / (n + 1)) sin(i j pi / (n + 1)): symmetric, orthogonal, indefinite
  circul,     ///< the circulant matrix of 1, 2, ..., n
  frank,      ///< n + 1 - max(i, j) for j >= i - 1: Hessenberg, determinant 1, ill-conditioned
  fiedler,    ///< |i - j|: symmetric, one eigenvalue is positive
  chebspec,   ///< Chebyshev's differentiation matrix, without the first point
  riemann,    ///< i if i + 1 divides j + 1, else -1
  zielke,     ///< 1 below the diagonal, -1 in the last element of row 1: needs pivoting
  triw,       ///< 1 on the diagonal, -1 above it: condition number about n 2^n
  gfpp,       ///< 1 on the diagonal and in the last column, -1 below: the growth factor of partial
              ///< pivoting is 2^(n-1), which overflows FP64 beyond n = 1024
  gfpp_rows,  ///< the transpose of gfpp: the same growth if pivots are searched along rows
};

// The positive_* kinds. Haidar et al. generated matrices with positive eigenvalues by MAGMA's
// "poev", V diag(s) V', which is symmetric positive definite: a solver that analyzes the matrix
// uses Cholesky for it. Ours is V diag(s) G V', where G rotates pairs of coordinates by random
// angles in [-pi/4, pi/4). It is not symmetric, and its singular values are exactly s. With
// A = H P, H = V diag(s) V', P = V G V', a left eigenvector y has y* H y = lambda y* P' y, so that
// the argument of lambda is at most the largest angle. As with poev, elimination needs little
// pivoting and has hardly any growth.

inline constexpr std::array spd_kinds = {
    Kind::arithmetic, Kind::clustered, Kind::logarithmic, Kind::geometric, Kind::custom_clustered,
    Kind::dominant,   Kind::matern,    Kind::exponential, Kind::gaussian,  Kind::hilbert,
    Kind::lehmer,     Kind::minij,     Kind::trefethen,   Kind::laplacian,
};

inline constexpr std::array general_kinds = {
    Kind::general_arithmetic,
    Kind::general_clustered,
    Kind::general_one_large,
    Kind::general_logarithmic,
    Kind::general_geometric,
    Kind::positive_arithmetic,
    Kind::positive_clustered,
    Kind::positive_logarithmic,
    Kind::general_dominant,
    Kind::hplmxp,
    Kind::randn,
    Kind::rands,
    Kind::randb,
    Kind::orthog,
    Kind::circul,
    Kind::frank,
    Kind::fiedler,
    Kind::chebspec,
    Kind::riemann,
    Kind::zielke,
    Kind::triw,
    Kind::gfpp,
    Kind::gfpp_rows,
};

inline constexpr auto all_kinds = [] {
  std::array<Kind, spd_kinds.size() + general_kinds.size()> all{};
  std::copy(general_kinds.begin(), general_kinds.end(),
            std::copy(spd_kinds.begin(), spd_kinds.end(), all.begin()));
  return all;
}();

/// Whether the kind needs a solver for general systems: it is not one of spd_kinds.
constexpr bool is_general(Kind kind) {
  return kind >= Kind::general_arithmetic;
}

/// Whether the matrix is exactly symmetric, positive definite or not.
constexpr bool is_symmetric(Kind kind) {
  return !is_general(kind) || kind == Kind::orthog || kind == Kind::fiedler;
}

/// "arithmetic", "custom-clustered", ...
std::string_view to_string(Kind kind);
std::optional<Kind> kind_from_string(std::string_view name);

/// Whether the kind is defined by its eigenvalues or, if it is general, by its singular values.
bool has_spectrum(Kind kind);

struct Recipe {
  Kind kind = Kind::arithmetic;
  double condition = 1e2;  ///< condition number of a given spectrum; at least 1
  double length = 0.1;     ///< correlation length of a covariance
  double nugget = 1e-2;    ///< added to the diagonal of a covariance
  std::uint64_t seed = 1;
  bool sorted = false;  ///< points of a covariance in Morton order, not in order of generation
};

/// The eigenvalues (or singular values) of a kind that is defined by them, largest first. Throws
/// Error(invalid_argument) for other kinds.
std::vector<double> spectrum(Kind kind, std::int64_t n, double condition, std::uint64_t seed);

/// Fills both triangles of a square matrix. It is exactly symmetric if the kind is, and, unless the
/// kind is general, positive definite as far as FP64 can represent it. The bits do not depend on
/// the number of threads. Throws Error(invalid_argument) for an invalid recipe or view. Cost: at
/// most n^2 log n.
void fill(MatrixView<double> a, const Recipe& recipe, int threads = 1);

}  // namespace stepwell::gallery
