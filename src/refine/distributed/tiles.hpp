// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/buffer.hpp"
#include "engine/agreement.hpp"
#include "engine/threads/thread_pool.hpp"
#include "factor/block_source.hpp"
#include "tiles/distribution.hpp"

namespace stepwell::refine {

/// Tiles (i, j) of the lower triangle that a rank owns, column by column.
std::vector<std::pair<std::int64_t, std::int64_t>> own_tiles(
    const tiles::Distribution& distribution, int rank, const tiles::Grid& grid);

/// Calls body(k, scratch) for k = 0 .. count - 1 on all threads of the pool. Each thread has its
/// own piece of 'scratch' with 'size' elements. Throws the error of the smallest k that failed.
void for_all(engine::ThreadPool& pool, std::size_t count, double* scratch, std::int64_t size,
             const std::function<void(std::size_t, double*)>& body);

/// A rank's tiles of A in FP64, read once from another source.
class KeptTiles : public factor::BlockSource {
 public:
  /// Collective. Throws AgreedError.
  KeptTiles(engine::ThreadPool& pool, engine::Agreement& agreement,
            const tiles::Distribution& distribution, const tiles::Grid& grid,
            const factor::BlockSource& from);

  /// 'at' must be one of the rank's own tiles.
  MatrixView<const double> block(const factor::Block& at, double* scratch) const override;
  bool needs_scratch() const override { return false; }

  /// Not collective.
  static std::int64_t bytes(const tiles::Distribution& distribution, int rank,
                            const tiles::Grid& grid);

 private:
  struct Place {
    std::int64_t i, j;
    std::int64_t offset;  ///< offset in kept_
  };

  tiles::Grid grid_;
  std::vector<Place> own_;  ///< column by column
  core::Buffer<double> kept_;
};

}  // namespace stepwell::refine
