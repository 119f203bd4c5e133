// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "solvers/exact_least_squares.hpp"
#include "solvers/fixture.hpp"
#include "stepwell/lstsq.hpp"

/// What the tests of least squares share: tall matrices of a known condition, one problem stored in
/// all ways, LAPACK's answer.
namespace stepwell::solvers::test {

using stepwell::test::ExactLeastSquares;
using stepwell::test::Measured;

/// m x n with singular values from 1 down to 1/condition, geometric; the first rows of one, if m <
/// n.
Dense<double> tall_matrix(std::int64_t m, std::int64_t n, double condition, std::uint64_t seed = 1);

/// A x + what no column reaches, so that the residual is about 'size' of ||A x||. Any, if m < n.
Dense<double> right_hand_sides(const Dense<double>& a, std::int64_t columns, double size,
                               std::uint64_t seed = 1);

enum class Storage { columns, rows, function };

/// A matrix in padded memory, NaN where nothing belongs, stored in one of the ways.
class Stored {
 public:
  Stored(const Dense<double>& a, Storage storage, std::int64_t pad = 0);
  TallMatrix matrix() const;
  bool unchanged() const { return memory_.unchanged(); }

 private:
  Storage storage_;
  std::int64_t m_, n_;
  Padded memory_;  ///< of A, or of its transpose
};

/// What lambda and weights add below A.
std::vector<double> tail_of(const LeastSquaresOptions& options, std::int64_t n);

/// A solve of copies: x, and the certificate. Fails the test where the certificate contradicts
/// itself.
Solved lstsq_of(const Dense<double>& a, const Dense<double>& b,
                const LeastSquaresOptions& options = {});
LeastSquaresOptions at_rung(Rung rung);

/// Whether a certificate of least squares says the same in all its places.
::testing::AssertionResult consistent_lstsq(const Certificate& c, std::int64_t n,
                                            std::int64_t columns);

/// LAPACK's dgels on a copy.
Dense<double> lapack_lstsq(const Dense<double>& a, const Dense<double>& b);

/// How much x may differ from the solution with a backward error of 'error' (of the matrix with
/// scaled columns, and x to it): the first order of Wedin's bound. Infinite from where it says
/// nothing.
double forward_bound(const ExactLeastSquares& exact, const double* b, const double* x,
                     double error);

/// The rungs and their reasons, for a message.
std::string path_of(const Certificate& c);

}  // namespace stepwell::solvers::test
