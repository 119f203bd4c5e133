// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "refine/refine.hpp"
#include "solvers/systems/square_solver.hpp"

namespace stepwell::solvers {

/// A lower bound on ||A^-1||_inf = ||B^-1||_1 for B = A' (Hager 1984; Higham 1988, Algorithm 4.1).
/// The search starts with the factor alone. What it finds is checked with solutions that are
/// refined until they converge, and the search continues with such solutions until it finds nothing
/// larger: a coarse factor of an ill-conditioned matrix may point in any direction.
class Probes {
 public:
  /// Both sides must have a preconditioner. The request says how probes are refined.
  Probes(Side& of, Side& other, refine::Request request);

  /// Returns the bound on ||A^-1||_inf, times 2^-exponents.largest().
  InverseNorm search();

 private:
  /// An approximate solution x of M x = v, times 2^-largest, with its residual. M is A or B.
  struct Probe {
    std::vector<double> v, x;
    double sum = 0;       ///< ||x||_1
    double residual = 0;  ///< upper bound on ||v - M x||_1 / ||v||_1

    bool converged() const;
    /// A lower bound on ||M^-1||_1 if ||v||_1 <= 1, converged or not: ||M x||_1 <= 1 + residual.
    double bound() const { return sum / (1 + residual); }
  };

  void apply_preconditioner(Side& with, std::vector<double>& v) const;
  /// Solves for the probes with A or, if 'transposed', with B. Returns whether all have converged.
  bool solve(bool transposed, std::vector<Probe>& probes) const;
  void write(const Side& with, const ScaledColumn& column, const double* y,
             std::vector<double>& x) const;

  Side& of_;
  Side& other_;
  refine::Request request_;
  int largest_;
};

}  // namespace stepwell::solvers
