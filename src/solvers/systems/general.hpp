// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "refine/operators/general_product.hpp"
#include "solvers/systems/lapack_factor.hpp"
#include "solvers/systems/square_matrix.hpp"
#include "solvers/systems/square_solver.hpp"
#include "stepwell/lu.hpp"

namespace stepwell::solvers {

/// A general square matrix in the caller's memory and its LU factor, or LAPACK's. One factor solves
/// with A and with A'.
class GeneralMatrix : public SquareMatrix {
 public:
  GeneralMatrix(MatrixView<const double> a, const Context* context);
  /// Solves with this factor, and makes no other.
  GeneralMatrix(MatrixView<const double> a, const LuFactor& factor, const Context* context);

  Analysis analyze(const SolveOptions& options) override;
  refine::Product& product(bool transposed) override {
    return transposed ? transposed_product_ : product_;
  }
  MadeFactor factorize(const Step& step, const Analysis& analysis,
                       const SolveOptions& options) override;
  std::unique_ptr<refine::Preconditioner> precondition(const Analysis& analysis,
                                                       bool transposed) override;
  RefinementBytes bytes(std::int64_t columns, Refiner refiner) const override;
  KeptFactor kept() const override;

 private:
  MatrixView<const double> a_;
  refine::GeneralProduct product_, transposed_product_;
  const LuFactor* given_ = nullptr;  ///< at most one of the three
  std::optional<LuFactor> lu_;
  std::optional<LapackFactor> lapack_;
};

/// A solver for a general matrix in the caller's memory.
std::unique_ptr<SquareSolver> general_solver(MatrixView<const double> a,
                                             const SolveOptions& options,
                                             std::int64_t cost_order = 0);

}  // namespace stepwell::solvers
