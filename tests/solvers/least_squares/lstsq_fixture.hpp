// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "solvers/fixture.hpp"
#include "solvers/least_squares/exact_least_squares.hpp"
#include "stepwell/lstsq.hpp"

/// Code shared by the tests of least squares: tall matrices with a known condition number, one
/// problem in all storages, LAPACK's answer.
namespace stepwell::solvers::test {

using stepwell::test::ExactLeastSquares;
using stepwell::test::Measured;

/// m x n with geometric singular values from 1 down to 1/condition; if m < n, the first rows of
/// such a matrix.
Dense<double> tall_matrix(std::int64_t m, std::int64_t n, double condition, std::uint64_t seed = 1);

/// A x plus a part orthogonal to A's columns, so that the residual is about 'size' times ||A x||.
/// Random if m < n.
Dense<double> right_hand_sides(const Dense<double>& a, std::int64_t columns, double size,
                               std::uint64_t seed = 1);

enum class Storage { columns, rows, function };

/// A matrix in padded memory, NaN outside its elements, in one of the storages.
class Stored {
 public:
  Stored(const Dense<double>& a, Storage storage, std::int64_t pad = 0);
  TallMatrix matrix() const;
  bool unchanged() const { return memory_.unchanged(); }

 private:
  Storage storage_;
  std::int64_t m_, n_;
  Padded memory_;  ///< holds A or its transpose
};

/// The diagonal that lambda and weights append below A.
std::vector<double> tail_of(const LeastSquaresOptions& options, std::int64_t n);

/// A solve with copies: x and the certificate. Fails the test if the certificate contradicts
/// itself.
Solved lstsq_of(const Dense<double>& a, const Dense<double>& b,
                const LeastSquaresOptions& options = {});
LeastSquaresOptions at_rung(Rung rung);

/// A path through the solver: a shape and options that lead to it.
struct LeastSquaresPath {
  std::int64_t m, n;
  std::optional<Rung> rung;
  bool qr;
  double lambda = 0;

  LeastSquaresOptions options() const;
};
void PrintTo(const LeastSquaresPath& p, std::ostream* out);

/// Whether all parts of a least squares certificate agree.
::testing::AssertionResult consistent_lstsq(const Certificate& c, std::int64_t n,
                                            std::int64_t columns);

/// LAPACK's dgels on a copy.
Dense<double> lapack_lstsq(const Dense<double>& a, const Dense<double>& b);

/// First-order bound (Wedin) of the difference between x and the solution for a backward error of
/// 'error' (both for the matrix with scaled columns). Infinite where the bound does not apply.
double forward_bound(const ExactLeastSquares& exact, const double* b, const double* x,
                     double error);

/// The rungs and their reasons, for a message.
std::string path_of(const Certificate& c);

}  // namespace stepwell::solvers::test
