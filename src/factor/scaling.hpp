// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "stepwell/factor.hpp"
#include "tiles/rung_map.hpp"

/// The scaling H = D^-1 A D^-1 and mu, which fit a matrix into narrow formats (Higham & Pranesh,
/// Algorithm 2.3 and section 3).
namespace stepwell::factor {

/// The diagonal of A and its properties, which are known before anything is computed.
struct Diagonal {
  std::vector<double> value;
  bool finite = true;
  bool positive = true;
};
Diagonal diagonal_of(std::vector<double> value);
/// 'order': indices into A; empty: A's own order.
Diagonal read_diagonal(MatrixView<const double> a, std::span<const std::int64_t> order = {});

/// H = diag(row) A diag(col), with col = gain * row: H is symmetric although row and col differ, so
/// the square root of the gain is needed only to copy L out.
struct Scale {
  std::vector<double> row;
  std::vector<double> col;
  double gain = 1;  ///< a power of two
  friend bool operator==(const Scale&, const Scale&) = default;

  void multiply_gain(double factor);
};

/// For powers of two: 1/D_i relative to the largest diagonal element, whose power of two is the
/// gain; so H has the same bits for A and sA, s any power of two. A diagonal element that is zero
/// or not finite is not scaled; of a negative element the absolute value is used.
Scale scale_factors(const Diagonal& diagonal, Scaling scaling);

/// What a scaling for residues does with odd powers of two in A.
enum class OddPowers : unsigned char {
  as_they_are,  ///< gain 1: copying L out is exact. H has the same bits for A and sA, s a power of
                ///< 4
  in_the_gain   ///< gain 1 or 1/2. H has the same bits for s any power of two, as solves promise
};

/// For a map in residues: powers of two as well, with the diagonal of H between
/// kernels::kLargestDiagonal / 4 and kernels::kLargestDiagonal.
Scale fixed_point_scale(const Diagonal& diagonal, OddPowers odd = OddPowers::as_they_are);

/// The diagonal of H, multiplied by 'factor'.
std::vector<double> scaled_diagonal(const Diagonal& diagonal, const Scale& scale, double factor);

/// mu = theta xmax / (max h_ii (1 + cu)), rounded down to a power of two; 1 for a map without fp16.
/// With it no element of L can leave fp16's range: l_ij^2 <= mu h_ii (1 + cu).
double choose_mu(const tiles::RungMap& map, const Diagonal& diagonal, const Scale& scale,
                 double theta, double shift);

}  // namespace stepwell::factor
