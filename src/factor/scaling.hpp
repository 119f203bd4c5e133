// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
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
Diagonal diagonal_of(std::vector<double> value);
/// 'order': indices into A; empty: as A is.
Diagonal read_diagonal(MatrixView<const double> a, std::span<const std::int64_t> order = {});

/// H = diag(row) A diag(col), with col = gain * row: symmetric, though the two differ, and so no
/// square root of the gain is needed but to write L out.
struct Scale {
  std::vector<double> row;
  std::vector<double> col;
  double gain = 1;  ///< a power of two
  friend bool operator==(const Scale&, const Scale&) = default;

  void multiply_gain(double factor);
};

/// For powers of two: 1/D_i relative to the largest diagonal element, whose power of two is the
/// gain; so H is the same bits for A and sA, s any power of two. A diagonal element that is zero or
/// not finite is left alone; of a negative one the size counts.
Scale scale_factors(const Diagonal& diagonal, Scaling scaling);

/// mu = theta xmax / (max h_ii (1 + cu)), rounded down to a power of two; 1 for a map without fp16.
/// After it no number of L can leave fp16's range: l_ij^2 <= mu h_ii (1 + cu).
double choose_mu(const tiles::RungMap& map, const Diagonal& diagonal, const Scale& scale,
                 double theta, double shift);

}  // namespace stepwell::factor
