// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "stepwell/view.hpp"

/// Test matrices: symmetric positive definite, the same numbers for the same arguments everywhere.
/// Only the lower triangle is written.
namespace stepwell::gallery {

/// A number in [-1, 1) that depends on the index alone (splitmix64).
inline double noise(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>(static_cast<std::int64_t>(z ^ (z >> 31))) * 0x1p-63;
}

/// Uniform random numbers in [-1, 1) and n on the diagonal: the matrices of Carrica et al.
/// Condition number about 1.
void fill_dominant(MatrixView<double> a, std::uint64_t seed);

struct Matern {
  double length = 0.1;   ///< correlation length; the grid has side 1
  double nugget = 1e-2;  ///< added to the diagonal
};
/// The Matern 3/2 covariance (1 + sqrt(3) r / length) exp(-sqrt(3) r / length) of n points on a
/// square grid in two dimensions, in Morton order: neighbours in space are neighbours in the
/// matrix, and the norms of tiles fall off from the diagonal.
void fill_matern(MatrixView<double> a, const Matern& matern);

/// Q diag(d) Q' with d_i = condition^(-i/(n-1)) and Q a product of 'reflections' random Householder
/// reflections. Cost reflections * n^2.
void fill_geometric(MatrixView<double> a, double condition, int reflections, std::uint64_t seed);

}  // namespace stepwell::gallery
