// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "refine/operators/symmetric_product.hpp"
#include "solvers/systems/square_matrix.hpp"
#include "solvers/systems/square_solver.hpp"
#include "stepwell/factor.hpp"

namespace stepwell::solvers {

/// A symmetric positive definite matrix in the caller's memory, whose lower triangle is read, and
/// its Cholesky factor.
class SpdMatrix : public SquareMatrix {
 public:
  SpdMatrix(MatrixView<const double> a, const Context* context);
  /// Solves with this factor, and makes no other.
  SpdMatrix(MatrixView<const double> a, const Factor& factor, const Context* context);

  Analysis analyze(const SolveOptions& options) override;
  refine::Product& product(bool) override { return product_; }
  MadeFactor factorize(const Step& step, const Analysis& analysis,
                       const SolveOptions& options) override;
  std::unique_ptr<refine::Preconditioner> precondition(const Analysis& analysis, bool) override;
  RefinementBytes bytes(std::int64_t columns, Refiner refiner) const override;
  KeptFactor kept() const override;

 private:
  MatrixView<const double> a_;
  refine::SymmetricProduct product_;
  factor::Diagonal diagonal_;  ///< since analyze()
  const Factor* given_ = nullptr;
  std::optional<Factor> factor_;
};

/// The options of a step's Cholesky factor.
FactorOptions cholesky_options(const Step& step, const Analysis& analysis,
                               const SolveOptions& options);

MadeFactor made_of(const Factor& factor);

/// Keeps a factor that succeeded.
MadeFactor keep(Factor factor, std::optional<Factor>& kept);

/// A solver for a symmetric matrix in the caller's memory.
std::unique_ptr<SquareSolver> spd_solver(MatrixView<const double> a, const SolveOptions& options,
                                         std::int64_t cost_order = 0);

}  // namespace stepwell::solvers
