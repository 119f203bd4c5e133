// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "refine/refine.hpp"
#include "solvers/solver.hpp"

namespace stepwell::solvers {

/// ||A^-1||_inf = ||B^-1||_1 for B = A', from below (Hager 1984; Higham 1988, Algorithm 4.1). The
/// factor alone says where to look first. What it found is checked with solutions that were refined
/// until they converged, and the search goes on with such solutions until it finds nothing larger:
/// a coarse factor of an ill-conditioned matrix points anywhere.
class Probes {
 public:
  /// Both sides have a preconditioner. The request says how probes are refined.
  Probes(Side& of, Side& other, refine::Request request);

  /// Times 2^-exponents.largest().
  InverseNorm search();

 private:
  /// A solution x of M x = v, times 2^-largest, and how far it is from one.
  struct Probe {
    std::vector<double> v, x;
    double sum = 0;       ///< ||x||_1
    double residual = 0;  ///< ||v - M x||_1 / ||v||_1, at most

    bool converged() const;
    /// ||M^-1||_1 is at least this, converged or not: M x is at most 1 + residual in size.
    double bound() const { return sum / (1 + residual); }
  };

  void roughly(Side& with, std::vector<double>& v) const;
  /// Whether all have converged; with A itself or, 'transposed', with B.
  bool solve(bool transposed, std::vector<Probe>& probes) const;
  void write(const Side& with, const ScaledColumn& column, const double* y,
             std::vector<double>& x) const;

  Side& of_;
  Side& other_;
  refine::Request request_;
  int largest_;
};

}  // namespace stepwell::solvers
