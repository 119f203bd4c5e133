// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/numeric/hash.hpp"
#include "stepwell/view.hpp"

/// Symmetric positive definite test matrices, reproducible: the same arguments give the same
/// elements everywhere. These functions write the lower triangle only; recipe.hpp has more kinds,
/// and fills both triangles.
namespace stepwell::gallery {

using core::hash;

/// A pseudorandom number in [-1, 1) that depends only on the index.
inline double noise(std::uint64_t index) {
  return static_cast<double>(static_cast<std::int64_t>(hash(index))) * 0x1p-63;
}

/// A pseudorandom number in [0, 1) that depends only on the index.
inline double uniform(std::uint64_t index) {
  return static_cast<double>(hash(index) >> 11) * 0x1p-53;
}

/// The first index of a random stream; each seed and 'part' gives a different stream.
inline std::uint64_t stream(std::uint64_t seed, std::uint64_t part) {
  return hash(hash(seed) + part);
}

/// Element (i, j) of a random matrix.
inline double element_noise(std::uint64_t seed, std::int64_t i, std::int64_t j) {
  return noise(stream(seed, static_cast<std::uint64_t>(j)) + static_cast<std::uint64_t>(i));
}

/// Uniform random elements in [-1, 1), with n on the diagonal: the matrices of Carrica et al. The
/// condition number is about 1. This is the lower triangle of Kind::dominant in recipe.hpp.
void fill_dominant(MatrixView<double> a, std::uint64_t seed);

struct Matern {
  double length = 0.1;   ///< correlation length; the grid has side 1
  double nugget = 1e-2;  ///< added to the diagonal
};
/// The Matern 3/2 covariance (1 + sqrt(3) r / length) exp(-sqrt(3) r / length) of n points on a
/// square grid in two dimensions, in Morton order: neighbours in space are neighbours in the
/// matrix, and the norms of tiles decrease away from the diagonal.
void fill_matern(MatrixView<double> a, const Matern& matern);

/// Q diag(d) Q' with d_i = condition^(-i/(n-1)) and Q a product of 'reflections' random Householder
/// reflections. Cost: reflections * n^2.
void fill_geometric(MatrixView<double> a, double condition, int reflections, std::uint64_t seed);

}  // namespace stepwell::gallery
