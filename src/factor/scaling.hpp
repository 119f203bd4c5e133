// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "stepwell/factor.hpp"
#include "tiles/rung_map.hpp"

/// H = D^-1 A D^-1 and mu: what makes a matrix fit for narrow formats (Higham & Pranesh, Algorithm
/// 2.3 and section 3).
namespace stepwell::factor {

/// What the diagonal of A says before anything is computed.
struct Diagonal {
  std::vector<double> value;
  bool finite = true;
  bool positive = true;
};
Diagonal read_diagonal(MatrixView<const double> a);

/// 1/D_i. An element of the diagonal that is zero or not finite is left alone (factor 1); of a
/// negative one the size counts.
std::vector<double> scale_factors(const Diagonal& diagonal, Scaling scaling);

/// mu = theta xmax / (max h_ii (1 + cu)), rounded down to a power of four so that sqrt(mu) is
/// exact; 1 for a map without fp16. After it no number of L can leave fp16's range:
/// l_ij^2 <= mu h_ii (1 + cu).
double choose_mu(const tiles::RungMap& map, const Diagonal& diagonal,
                 const std::vector<double>& scale, double theta, double shift);

}  // namespace stepwell::factor
