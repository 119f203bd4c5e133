// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/distributed/matrix.hpp"

#include "factor/distributed/cholesky.hpp"
#include "refine/preconditioner.hpp"
#include "solvers/solver.hpp"

namespace stepwell::solvers {

std::int64_t distributed_held_bytes(const DistributedLayout& place, std::int64_t columns,
                                    Refiner refiner) {
  // Substitution works in four more, one of them the sum over ranks.
  const std::int64_t n = place.grid.n;
  const std::int64_t more =
      core::size_product(n, std::min(columns, kBatch), 8 * 4, "vectors of the substitution");
  return vector_bytes(n, columns, refiner) + more +
         (place.source == TileSource::kept
              ? refine::KeptTiles::bytes(place.distribution, place.rank, place.grid)
              : 0);
}

std::int64_t distributed_product_bytes(const DistributedLayout& place, std::int64_t columns) {
  return refine::DistributedProduct::workspace_bytes(
      place.distribution, place.rank, place.grid, product_columns(columns),
      place.source == TileSource::made_anew, place.threads);
}

DistributedMatrix::DistributedMatrix(engine::Agreement& agreement, Progress* outside,
                                     DistributedLayout place, const factor::BlockSource& a,
                                     factor::Checkpointing* checkpoints)
    : agreement_(agreement),
      outside_(outside),
      place_(std::move(place)),
      a_(&a),
      checkpoints_(checkpoints) {}

int DistributedMatrix::threads() const {
  return place_.threads;
}

refine::Product& DistributedMatrix::begin(engine::ThreadPool& pool) {
  pool_ = &pool;
  if (place_.source == TileSource::kept) {
    a_ = &kept_.emplace(pool, agreement_, place_.distribution, place_.grid, *a_);
  }
  return product_.emplace(pool, agreement_, place_.distribution, place_.grid, *a_);
}

factor::Diagonal DistributedMatrix::diagonal() {
  return factor::diagonal_of(product_->diagonal());
}

void DistributedMatrix::scan(MatrixView<const double> x, MatrixView<double> y,
                             refine::MatrixScan& found, bool, std::span<refine::Element> elements) {
  product_->scan(x, y, found, elements);
}

Factor DistributedMatrix::factor(const FactorOptions& options) {
  FactorOptions with = options;
  with.spread = false;  // rows from all over A are on all ranks
  with.progress = outside_;
  return factor::distributed_cholesky(agreement_.ranks(), place_.distribution, order(), *a_, with,
                                      checkpoints_);
}

std::unique_ptr<refine::Preconditioner> DistributedMatrix::precondition(
    const FactorData& factor, const std::vector<double>& row, const std::vector<double>& col) {
  engine::Communicator& ranks = agreement_.ranks();
  return std::make_unique<refine::FactorPreconditioner>(*pool_, factor, row, col,
                                                        refine::Substitution::as_factor,
                                                        ranks.size() > 1 ? &ranks : nullptr);
}

std::int64_t DistributedMatrix::held_bytes(std::int64_t columns, Refiner refiner) const {
  return distributed_held_bytes(place_, columns, refiner);
}

std::int64_t DistributedMatrix::product_bytes(std::int64_t columns) const {
  return distributed_product_bytes(place_, columns);
}

}  // namespace stepwell::solvers
