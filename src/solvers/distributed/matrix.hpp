// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/agreement.hpp"
#include "factor/cholesky/checkpointing.hpp"
#include "factor/cholesky/workspace.hpp"
#include "refine/distributed/product.hpp"
#include "solvers/spd_matrix.hpp"
#include "stepwell/ranks.hpp"

namespace stepwell::solvers {

/// Where a rank takes its tiles of A from: they are kept, made anew each time, or in the caller's
/// memory.
enum class TileSource : unsigned char { kept, made_anew, in_place };

/// How a matrix of order n lies on ranks.
struct DistributedLayout {
  tiles::Distribution distribution;
  tiles::Grid grid;
  int rank = 0;
  int threads = 1;  ///< of this rank
  TileSource source = TileSource::kept;
  factor::Windows windows = factor::Windows::by_memory;
};

/// What a rank needs for it beside its factor: while systems of so many columns are solved, and in
/// products.
std::int64_t distributed_held_bytes(const DistributedLayout& place, std::int64_t columns,
                                    Refiner refiner);
std::int64_t distributed_product_bytes(const DistributedLayout& place, std::int64_t columns);

/// A whose tiles lie on ranks. All members but the first two and those about bytes are collective,
/// and throw AgreedError.
class DistributedMatrix : public SpdMatrix {
 public:
  /// 'a' has this rank's tiles; 'checkpoints' of its factors may be null.
  DistributedMatrix(engine::Agreement& agreement, Progress* outside, DistributedLayout place,
                    const factor::BlockSource& a, factor::Checkpointing* checkpoints);

  std::int64_t order() const override { return place_.grid.n; }
  int threads() const override;
  refine::Product& begin(engine::ThreadPool& pool) override;
  factor::Diagonal diagonal() override;
  void scan(MatrixView<const double> x, MatrixView<double> y, refine::MatrixScan& found,
            bool mirror, std::span<refine::Element> elements) override;
  Factor factor(const FactorOptions& options) override;
  std::unique_ptr<refine::Preconditioner> precondition(const FactorData& factor,
                                                       const std::vector<double>& row,
                                                       const std::vector<double>& col) override;
  std::int64_t held_bytes(std::int64_t columns, Refiner refiner) const override;
  std::int64_t product_bytes(std::int64_t columns) const override;

 private:
  engine::Agreement& agreement_;
  Progress* outside_;  ///< the caller's, or null: a factorization agrees on it by itself
  DistributedLayout place_;
  const factor::BlockSource* a_;  ///< the caller's, then what is kept of it
  factor::Checkpointing* checkpoints_;
  engine::ThreadPool* pool_ = nullptr;
  std::optional<refine::KeptTiles> kept_;
  std::optional<refine::DistributedProduct> product_;
};

}  // namespace stepwell::solvers
