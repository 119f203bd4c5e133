// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/agreement.hpp"
#include "factor/checkpointing.hpp"
#include "factor/workspace.hpp"
#include "refine/ranked_product.hpp"
#include "solve/spd_matrix.hpp"
#include "stepwell/ranks.hpp"

namespace stepwell::driver {

/// Where a rank takes its tiles of A from: they are kept, made anew each time, or in the caller's
/// memory.
enum class TileSource : unsigned char { kept, made_anew, in_place };

/// How a matrix of order n lies on ranks.
struct RankedPlace {
  tiles::Distribution distribution;
  tiles::Grid grid;
  int rank = 0;
  int threads = 1;  ///< of this rank
  TileSource source = TileSource::kept;
  factor::Windows windows = factor::Windows::by_memory;
};

/// What a rank needs for it beside its factor: while systems of so many columns are solved, and in
/// products.
std::int64_t ranked_held_bytes(const RankedPlace& place, std::int64_t columns, Refiner refiner);
std::int64_t ranked_product_bytes(const RankedPlace& place, std::int64_t columns);

/// A whose tiles lie on ranks. All members but the first two and those about bytes are collective,
/// and throw AgreedError.
class RankedMatrix : public SpdMatrix {
 public:
  /// 'a' has this rank's tiles; 'checkpoints' of its factors may be null.
  RankedMatrix(engine::Agreement& agreement, Progress* outside, RankedPlace place,
               const factor::BlockSource& a, factor::Checkpointing* checkpoints);

  std::int64_t order() const override { return place_.grid.n; }
  int threads() const override;
  refine::Product& begin(engine::Team& team) override;
  factor::Diagonal diagonal() override;
  void look(MatrixView<const double> x, MatrixView<double> y, refine::Survey& survey, bool mirror,
            std::span<refine::Element> elements) override;
  Factor factor(const FactorOptions& options) override;
  std::unique_ptr<refine::Preconditioner> precondition(const FactorData& factor,
                                                       const std::vector<double>& row,
                                                       const std::vector<double>& col) override;
  std::int64_t held_bytes(std::int64_t columns, Refiner refiner) const override;
  std::int64_t product_bytes(std::int64_t columns) const override;

 private:
  engine::Agreement& agreement_;
  Progress* outside_;  ///< the caller's, or null: a factorization agrees on it by itself
  RankedPlace place_;
  const factor::BlockSource* a_;  ///< the caller's, then what is kept of it
  factor::Checkpointing* checkpoints_;
  engine::Team* team_ = nullptr;
  std::optional<refine::KeptTiles> kept_;
  std::optional<refine::RankedProduct> product_;
};

}  // namespace stepwell::driver
