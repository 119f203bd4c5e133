// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/systems/spd.hpp"

#include "factor/cholesky/factor_data.hpp"
#include "refine/preconditioner.hpp"

namespace stepwell::solvers {

SpdMatrix::SpdMatrix(MatrixView<const double> a, const Context* context)
    : SquareMatrix(Structure::spd, a.rows, threads_for(a.rows, context)),
      a_(a),
      product_(pool(), a) {}

SpdMatrix::SpdMatrix(MatrixView<const double> a, const Factor& factor, const Context* context)
    : SpdMatrix(a, context) {
  given_ = &factor;
}

Analysis SpdMatrix::analyze(const SolveOptions& options) {
  diagonal_ = factor::read_diagonal(a_);
  const SymmetricScan scan = [&](MatrixView<const double> x, MatrixView<double> y,
                                 refine::MatrixScan& found, bool both,
                                 std::span<refine::Element> elements) {
    product_.apply(x, y, &found, both);
    for (refine::Element& element : elements) element.value = a_(element.row, element.col);
  };
  return analyze_spd(diagonal_, scan, options);
}

MadeFactor SpdMatrix::factorize(const Step& step, const Analysis& analysis,
                                const SolveOptions& options) {
  if (given_ != nullptr) return made_of(*given_);
  factor_.reset();
  return keep(factor::cholesky_of(a_, diagonal_, cholesky_options(step, analysis, options),
                                  factor::OddPowers::in_the_gain),
              factor_);
}

std::unique_ptr<refine::Preconditioner> SpdMatrix::precondition(const Analysis& analysis, bool) {
  return std::make_unique<refine::FactorPreconditioner>(
      pool(), FactorData::of(given_ != nullptr ? *given_ : *factor_), analysis.scale.row,
      analysis.scale.col);
}

RefinementBytes SpdMatrix::bytes(std::int64_t columns, Refiner refiner) const {
  return refinement_bytes(order(), columns, refiner, Structure::spd);
}

KeptFactor SpdMatrix::kept() const {
  return {a_, given_ != nullptr ? given_ : factor_ ? &*factor_ : nullptr, nullptr, nullptr};
}

FactorOptions cholesky_options(const Step& step, const Analysis& analysis,
                               const SolveOptions& options) {
  FactorOptions f;
  f.map = step.map;
  f.tile = options.tile;
  f.cholesky.scaling = options.cholesky.scaling;
  f.theta = options.theta;
  f.cholesky.shift = step.first ? options.cholesky.shift : 0;
  // Shifts are for a map that was asked for; otherwise the next rung is cheaper than the iterations
  // with a weak factor.
  f.climb = step.first && options.map.has_value();
  f.spread = f.map.graded() && analysis.sorted;
  f.engine.context = options.engine.context;
  f.engine.progress = options.engine.progress;
  return f;
}

std::unique_ptr<SquareSolver> spd_solver(MatrixView<const double> a, const SolveOptions& options,
                                         std::int64_t cost_order) {
  return std::make_unique<SquareSolver>(std::make_unique<SpdMatrix>(a, options.engine.context),
                                        options, cost_order);
}

MadeFactor made_of(const Factor& factor) {
  return {factor.report(), factor.ok() ? FactorData::of(factor).l.map().coarsest() : Rung::fp64};
}

MadeFactor keep(Factor factor, std::optional<Factor>& kept) {
  const MadeFactor made = made_of(factor);
  if (factor.ok()) kept = std::move(factor);
  return made;
}

}  // namespace stepwell::solvers
