// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/distributed/matrix.hpp"

#include <algorithm>

#include "factor/cholesky/factor_data.hpp"
#include "factor/distributed/cholesky.hpp"
#include "refine/preconditioner.hpp"
#include "solvers/systems/spd.hpp"

namespace stepwell::solvers {

RefinementBytes refinement_bytes(const DistributedLayout& layout, std::int64_t columns,
                                 Refiner refiner) {
  // Substitution needs four more vectors, one of them the sum over ranks.
  const std::int64_t n = layout.grid.n;
  const std::int64_t more =
      core::size_product(n, std::min(columns, kBatch), 8 * 4, "vectors of the substitution");
  const std::int64_t kept =
      layout.source == TileSource::kept
          ? refine::KeptTiles::bytes(layout.distribution, layout.rank, layout.grid)
          : 0;
  return {vector_bytes(n, columns, refiner) + more + kept,
          refine::DistributedProduct::workspace_bytes(
              layout.distribution, layout.rank, layout.grid, product_columns(columns),
              layout.source == TileSource::regenerated, layout.threads)};
}

DistributedMatrix::DistributedMatrix(engine::Agreement& agreement, Progress* caller,
                                     DistributedLayout layout, const factor::BlockSource& a,
                                     factor::Checkpointing* checkpoints)
    : SquareMatrix(Structure::spd, layout.grid.n, layout.threads),
      agreement_(agreement),
      caller_(caller),
      layout_(std::move(layout)),
      a_(&a),
      checkpoints_(checkpoints) {
  if (layout_.source == TileSource::kept) {
    a_ = &kept_.emplace(pool(), agreement_, layout_.distribution, layout_.grid, *a_);
  }
  product_.emplace(pool(), agreement_, layout_.distribution, layout_.grid, *a_);
}

Analysis DistributedMatrix::analyze(const SolveOptions& options) {
  const SymmetricScan scan =
      [&](MatrixView<const double> x, MatrixView<double> y, refine::MatrixScan& found, bool,
          std::span<refine::Element> elements) { product_->scan(x, y, found, elements); };
  return analyze_spd(factor::diagonal_of(product_->diagonal()), scan, options);
}

MadeFactor DistributedMatrix::factorize(const Step& step, const Analysis& analysis,
                                        const SolveOptions& options) {
  factor_.reset();
  FactorOptions f = cholesky_options(step, analysis, options);
  f.spread = false;  // it needs rows from all over A, and these are on all ranks
  f.engine.progress = caller_;
  return keep(factor::distributed_cholesky(agreement_.ranks(), layout_.distribution, order(), *a_,
                                           f, checkpoints_),
              factor_);
}

std::unique_ptr<refine::Preconditioner> DistributedMatrix::precondition(const Analysis& analysis,
                                                                        bool) {
  engine::Communicator& ranks = agreement_.ranks();
  return std::make_unique<refine::FactorPreconditioner>(
      pool(), FactorData::of(*factor_), analysis.scale.row, analysis.scale.col,
      refine::Substitution::as_factor, ranks.size() > 1 ? &ranks : nullptr);
}

RefinementBytes DistributedMatrix::bytes(std::int64_t columns, Refiner refiner) const {
  return refinement_bytes(layout_, columns, refiner);
}

}  // namespace stepwell::solvers
