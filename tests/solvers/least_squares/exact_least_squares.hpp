// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <vector>

#include "kernels/fixture/fixture.hpp"
#include "kernels/quad.hpp"

/// The oracle of least squares: Householder QR in 113 bits, and the optimal backward error. For
/// matrices with one or two hundred rows: m n^2 products of 50 ns.
namespace stepwell::test {

using kernels::test::Dense;

/// What a backward error is relative to: A, or A with its columns scaled to norms of 1 .. 2.
enum class Measured { plain, scaled };

class ExactLeastSquares {
 public:
  /// The oracle for [A; diag(tail)].
  explicit ExactLeastSquares(MatrixView<const double> a, const std::vector<double>& tail = {});

  /// The solution, rounded once, if the condition number is far below 2^113.
  Dense<double> solve(MatrixView<const double> b) const;

  /// The powers of two that scale A's columns to norms of 1 .. 2; 0 for a zero column.
  const std::vector<double>& scale() const { return scale_; }
  /// The condition number of the matrix with scaled columns, in the 2-norm; infinite if FP64 can't
  /// resolve it.
  double condition() const;
  double norm() const;                 ///< Frobenius norm of the matrix with scaled columns
  double size(const double* x) const;  ///< ||D^-1 x||, D = diag(scale())
  std::int64_t cols() const { return n_; }

  /// ||[b; 0] - [A; diag(tail)] x||
  double residual_norm(const double* b, const double* x) const;

  /// The smallest ||dA||_F / ||A||_F for which x minimises ||b - (A + dA) x||: equation (6.3) of
  /// Higham & Pranesh without a change of b. For the scaled matrix: of A D and D^-1 x. NaN if x is
  /// not finite.
  double backward_error(const double* b, const double* x, Measured measured) const;

  /// ||D^-1 (x - y)|| / ||D^-1 y||
  double difference(const double* x, const double* y) const;

 private:
  /// Singular values and left vectors of R with its columns scaled as measured and a Frobenius norm
  /// of 1; the vectors of a singular value 0 are 0. NaN if the iteration failed.
  struct Singular {
    std::vector<Quad> values;
    Dense<Quad> left{0, 0};
    std::vector<Quad> factor;  ///< scale factors of R's columns, before the norm
    Quad norm = 0;
  };
  static void find_singular_values(const Dense<Quad>& r, Singular& s);
  const Singular& singular(Measured measured) const;
  std::vector<Quad> residual(const double* b, const double* x) const;
  void reflect(std::vector<Quad>& y) const;  ///< y <- Q'y

  std::int64_t rows_, m_, n_;  ///< rows and columns of A; m_ includes the tail
  std::vector<double> scale_;
  std::vector<Quad> a_;  ///< m_ x n_, scaled
  std::vector<Quad> v_;  ///< R, and below it the Householder vectors
  std::vector<Quad> diagonal_, beta_;
  mutable std::map<Measured, Singular> singular_;  ///< computed at the first use
};

}  // namespace stepwell::test
