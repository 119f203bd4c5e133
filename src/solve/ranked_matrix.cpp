// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solve/ranked_matrix.hpp"

#include "factor/ranked.hpp"
#include "refine/preconditioner.hpp"
#include "solve/solver.hpp"

namespace stepwell::driver {

std::int64_t ranked_held_bytes(const RankedPlace& place, std::int64_t columns, Refiner refiner) {
  // Substitution works in four more, one of them the sum over ranks.
  const std::int64_t n = place.grid.n;
  const std::int64_t more =
      core::size_product(n, std::min(columns, kBatch), 8 * 4, "vectors of the substitution");
  return vector_bytes(n, columns, refiner) + more +
         (place.source == TileSource::kept
              ? refine::KeptTiles::bytes(place.distribution, place.rank, place.grid)
              : 0);
}

std::int64_t ranked_product_bytes(const RankedPlace& place, std::int64_t columns) {
  return refine::RankedProduct::workspace_bytes(
      place.distribution, place.rank, place.grid, product_columns(columns),
      place.source == TileSource::made_anew, place.threads);
}

RankedMatrix::RankedMatrix(engine::Agreement& agreement, Progress* outside, RankedPlace place,
                           const factor::BlockSource& a, factor::Checkpointing* checkpoints)
    : agreement_(agreement),
      outside_(outside),
      place_(std::move(place)),
      a_(&a),
      checkpoints_(checkpoints) {}

int RankedMatrix::threads() const {
  return place_.threads;
}

refine::Product& RankedMatrix::begin(engine::Team& team) {
  team_ = &team;
  if (place_.source == TileSource::kept) {
    a_ = &kept_.emplace(team, agreement_, place_.distribution, place_.grid, *a_);
  }
  return product_.emplace(team, agreement_, place_.distribution, place_.grid, *a_);
}

factor::Diagonal RankedMatrix::diagonal() {
  return factor::diagonal_of(product_->diagonal());
}

void RankedMatrix::look(MatrixView<const double> x, MatrixView<double> y, refine::Survey& survey,
                        bool, std::span<refine::Element> elements) {
  product_->look(x, y, survey, elements);
}

Factor RankedMatrix::factor(const FactorOptions& options) {
  FactorOptions with = options;
  with.spread = false;  // rows from all over A are on all ranks
  with.progress = outside_;
  return factor::ranked_cholesky(agreement_.ranks(), place_.distribution, order(), *a_, with,
                                 checkpoints_);
}

std::unique_ptr<refine::Preconditioner> RankedMatrix::precondition(const FactorData& factor,
                                                                   const std::vector<double>& row,
                                                                   const std::vector<double>& col) {
  engine::Communicator& ranks = agreement_.ranks();
  return std::make_unique<refine::FactorPreconditioner>(*team_, factor, row, col,
                                                        refine::Substitution::as_factor,
                                                        ranks.size() > 1 ? &ranks : nullptr);
}

std::int64_t RankedMatrix::held_bytes(std::int64_t columns, Refiner refiner) const {
  return ranked_held_bytes(place_, columns, refiner);
}

std::int64_t RankedMatrix::product_bytes(std::int64_t columns) const {
  return ranked_product_bytes(place_, columns);
}

}  // namespace stepwell::driver
