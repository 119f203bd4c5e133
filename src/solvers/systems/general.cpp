// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/systems/general.hpp"

#include "factor/lu/lu_data.hpp"
#include "refine/preconditioner.hpp"

namespace stepwell::solvers {

GeneralMatrix::GeneralMatrix(MatrixView<const double> a, const Context* context)
    : SquareMatrix(Structure::general, a.rows, threads_for(a.rows, context)),
      a_(a),
      product_(pool(), a),
      transposed_product_(pool(), a, true) {}

GeneralMatrix::GeneralMatrix(MatrixView<const double> a, const LuFactor& factor,
                             const Context* context)
    : GeneralMatrix(a, context) {
  given_ = &factor;
}

Analysis GeneralMatrix::analyze(const SolveOptions&) {
  return analyze_general(pool(), a_);
}

MadeFactor GeneralMatrix::factorize(const Step& step, const Analysis& analysis,
                                    const SolveOptions& options) {
  if (given_ != nullptr) return {given_->report(), LuData::of(*given_).l.map().coarsest()};
  lu_.reset();
  lapack_.reset();
  if (step.kind == StepKind::lapack) {
    lapack_.emplace(pool(), a_, analysis.found.scan.max_abs);
    return {lapack_->report(), Rung::fp64};
  }
  FactorOptions f;
  f.map = step.map;
  f.tile = options.tile;
  f.theta = options.theta;
  f.lu.pivoting = options.lu.pivoting;
  f.lu.seed = options.lu.seed;
  f.engine.context = options.engine.context;
  f.engine.progress = options.engine.progress;
  LuFactor factor = factor::lu_scaled(a_, analysis.scale, f);
  MadeFactor made{factor.report(),
                  factor.ok() ? LuData::of(factor).l.map().coarsest() : Rung::fp64};
  // Only LAPACK's factor decides that A is singular.
  if (made.report.outcome == FactorOutcome::singular) {
    made.report.outcome = FactorOutcome::breakdown;
  }
  if (factor.ok()) lu_ = std::move(factor);
  return made;
}

std::unique_ptr<refine::Preconditioner> GeneralMatrix::precondition(const Analysis& analysis,
                                                                    bool transposed) {
  const factor::Scale& scale = analysis.scale;
  if (lapack_) {
    const Exponents exponents =
        transposed ? Exponents(scale.col, scale.row) : Exponents(scale.row, scale.col);
    return std::make_unique<LapackPreconditioner>(pool(), *lapack_, exponents, transposed);
  }
  return std::make_unique<refine::FactorPreconditioner>(
      pool(), LuData::of(given_ != nullptr ? *given_ : *lu_), scale.row, scale.col, transposed);
}

RefinementBytes GeneralMatrix::bytes(std::int64_t columns, Refiner refiner) const {
  return refinement_bytes(order(), columns, refiner, Structure::general);
}

KeptFactor GeneralMatrix::kept() const {
  return {a_, nullptr,
          given_ != nullptr ? given_
          : lu_             ? &*lu_
                            : nullptr,
          lapack_ ? &*lapack_ : nullptr};
}

std::unique_ptr<SquareSolver> general_solver(MatrixView<const double> a,
                                             const SolveOptions& options, std::int64_t cost_order) {
  return std::make_unique<SquareSolver>(std::make_unique<GeneralMatrix>(a, options.engine.context),
                                        options, cost_order);
}

}  // namespace stepwell::solvers
