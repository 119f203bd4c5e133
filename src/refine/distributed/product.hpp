// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/buffer.hpp"
#include "engine/agreement.hpp"
#include "factor/block_source.hpp"
#include "refine/distributed/tiles.hpp"
#include "refine/operators/operator.hpp"
#include "tiles/distribution.hpp"

namespace stepwell::refine {

/// A symmetric matrix whose lower tiles are stored on the ranks that own them. Every rank has all
/// elements of the vectors. A rank's tiles are divided among a few lanes, whose number depends on
/// the sizes alone; each lane has its own sums, which are added in order, and one reduction adds
/// the sums of the ranks. All members are collective unless stated otherwise.
class DistributedProduct : public Product {
 public:
  /// 'a' provides this rank's tiles.
  DistributedProduct(engine::ThreadPool& pool, engine::Agreement& agreement,
                     const tiles::Distribution& distribution, const tiles::Grid& grid,
                     const factor::BlockSource& a);

  std::int64_t order() const override { return grid_.n; }
  void apply(MatrixView<const double> x, MatrixView<double> y) override;
  void apply_blocked(MatrixView<const double> x, MatrixView<double> y,
                     Checksums& checksums) override;
  /// Valid after scan().
  std::int64_t depth() const override { return depth_; }
  /// Costs a broadcast from each rank.
  void apply_exactly(MatrixView<const double> x, MatrixView<const double> b, MatrixView<double> y,
                     MatrixView<double> y_low, Checksums& checksums) override;
  /// Returns the same on all ranks; the checksums of a rank cover its own tiles.
  std::int64_t first_difference(const Checksums& one, const Checksums& other) override;
  void release() override;

  /// Computes y = A x, scans A and reads the given elements of the lower triangle.
  void scan(MatrixView<const double> x, MatrixView<double> y, MatrixScan& found,
            std::span<Element> elements);
  std::vector<double> diagonal();

  /// Bytes of workspace on a rank for products with 'columns' columns; 'scratch': the rank's tiles
  /// are not in memory. Not collective.
  static std::int64_t workspace_bytes(const tiles::Distribution& distribution, int rank,
                                      const tiles::Grid& grid, std::int64_t columns, bool scratch,
                                      int threads);

 private:
  /// A tile that begins at (row, col) of A, and the lane whose sums it adds to.
  using Visit = std::function<void(MatrixView<const double> tile, std::int64_t row,
                                   std::int64_t col, std::size_t lane)>;

  /// Calls visit for each tile of this rank on all threads, for the tiles of a lane in order. Not
  /// collective; throws the error of the first lane that failed.
  void for_tiles(std::size_t lanes, const Visit& visit);
  /// Calls for_tiles() with zeroed sums of 'columns' columns for each lane and 'whole' elements in
  /// whole_. Then the ranks agree on whether one has failed, once per product.
  void for_lanes(std::int64_t columns, std::int64_t whole, const Visit& visit);
  void run_lane(std::size_t lane, std::size_t lanes, double* scratch, const Visit& visit);
  /// y <- the sum over all lanes and ranks. Collective.
  template <class Add>
  void sum_blocks(MatrixView<double> y, Add add);
  std::int64_t own_depth() const;
  /// to <- the sum of a column over the lanes, in order.
  void add_lanes(std::int64_t columns, std::int64_t column, double* to);
  MatrixView<double> sums_of(std::size_t lane, std::int64_t columns) const;
  MatrixView<const double> tile_at(std::int64_t i, std::int64_t j, double* scratch) const;

  engine::ThreadPool& pool_;
  engine::Agreement& agreement_;
  tiles::Grid grid_;
  const factor::BlockSource& a_;
  std::vector<std::pair<std::int64_t, std::int64_t>> own_;  ///< this rank's tiles, column by column
  std::size_t lanes_ = 0;                                   ///< number of lanes in the last product
  std::int64_t depth_ = 0;
  core::Buffer<double> partial_, scratch_, whole_;
};

}  // namespace stepwell::refine
