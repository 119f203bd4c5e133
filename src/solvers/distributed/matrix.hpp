// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/agreement.hpp"
#include "factor/cholesky/checkpointing.hpp"
#include "factor/cholesky/workspace.hpp"
#include "refine/distributed/product.hpp"
#include "solvers/systems/square_matrix.hpp"
#include "stepwell/distributed.hpp"
#include "stepwell/factor.hpp"

namespace stepwell::solvers {

/// Where a rank reads its tiles of A: the tiles are kept, regenerated each time, or in the caller's
/// memory.
enum class TileSource : unsigned char { kept, regenerated, in_place };

/// How a matrix is distributed over ranks.
struct DistributedLayout {
  tiles::Distribution distribution;
  tiles::Grid grid;
  int rank = 0;
  int threads = 1;  ///< of this rank
  TileSource source = TileSource::kept;
  factor::Windows windows = factor::Windows::by_memory;
};

/// Memory that a rank needs in addition to its factor to solve for so many columns.
RefinementBytes refinement_bytes(const DistributedLayout& layout, std::int64_t columns,
                                 Refiner refiner);

/// A symmetric positive definite matrix whose tiles are distributed over ranks. All members except
/// bytes() are collective, and throw AgreedError.
class DistributedMatrix : public SquareMatrix {
 public:
  /// 'a' provides this rank's tiles; 'checkpoints' (of the factors) may be null.
  DistributedMatrix(engine::Agreement& agreement, Progress* caller, DistributedLayout layout,
                    const factor::BlockSource& a, factor::Checkpointing* checkpoints);

  Analysis analyze(const SolveOptions& options) override;
  refine::Product& product(bool) override { return *product_; }
  MadeFactor factorize(const Step& step, const Analysis& analysis,
                       const SolveOptions& options) override;
  std::unique_ptr<refine::Preconditioner> precondition(const Analysis& analysis, bool) override;
  RefinementBytes bytes(std::int64_t columns, Refiner refiner) const override;

 private:
  engine::Agreement& agreement_;
  Progress* caller_;  ///< the caller's, or null; ranks agree on cancellation in a factorization
  DistributedLayout layout_;
  const factor::BlockSource* a_;  ///< the caller's source, or kept_ if the tiles are kept
  factor::Checkpointing* checkpoints_;
  std::optional<refine::KeptTiles> kept_;
  std::optional<refine::DistributedProduct> product_;
  std::optional<Factor> factor_;
};

}  // namespace stepwell::solvers
