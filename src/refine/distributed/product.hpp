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

/// A symmetric matrix whose lower tiles lie with the ranks that own them. Vectors are whole on
/// every rank. A rank's tiles are dealt out to a few lanes, whose number the sizes fix, each with
/// sums of its own that are added in order; the ranks' sums take one reduction. All members are
/// collective but those that are said not to be.
class DistributedProduct : public Product {
 public:
  /// 'a' has this rank's tiles.
  DistributedProduct(engine::ThreadPool& pool, engine::Agreement& agreement,
                     const tiles::Distribution& distribution, const tiles::Grid& grid,
                     const factor::BlockSource& a);

  std::int64_t order() const override { return grid_.n; }
  void apply(MatrixView<const double> x, MatrixView<double> y) override;
  void apply_blocked(MatrixView<const double> x, MatrixView<double> y,
                     Checksums& checksums) override;
  /// Known once scan() was called.
  std::int64_t depth() const override { return depth_; }
  /// Costs a broadcast from each rank.
  void apply_exactly(MatrixView<const double> x, MatrixView<const double> b, MatrixView<double> y,
                     MatrixView<double> y_low, Checksums& checksums) override;
  /// The same on all ranks, whose checksums are of their own tiles.
  std::int64_t first_difference(const Checksums& one, const Checksums& other) override;
  void release() override;

  /// A product, what A holds, and the values of some elements of the lower triangle.
  void scan(MatrixView<const double> x, MatrixView<double> y, MatrixScan& found,
            std::span<Element> elements);
  std::vector<double> diagonal();

  /// Bytes on a rank for products with so many columns; 'scratch': its tiles are not in memory. Not
  /// collective.
  static std::int64_t workspace_bytes(const tiles::Distribution& distribution, int rank,
                                      const tiles::Grid& grid, std::int64_t columns, bool scratch,
                                      int threads);

 private:
  /// The tile, of size and place as the grid says; 'lane' has its sums.
  using Visit = std::function<void(MatrixView<const double> tile, std::int64_t row,
                                   std::int64_t col, std::size_t lane)>;

  /// Calls visit for each tile of this rank, on all threads: those of a lane in order. Not
  /// collective; throws the first lane's error.
  void for_tiles(std::size_t lanes, const Visit& visit);
  /// With sums of so many columns for each lane, zero at first; 'whole' numbers in whole_. Then the
  /// ranks meet, once in a product.
  void for_lanes(std::int64_t columns, std::int64_t whole, const Visit& visit);
  void run_lane(std::size_t lane, std::size_t lanes, double* scratch, const Visit& visit);
  /// y <- what lanes and ranks have for it. Collective.
  template <class Add>
  void sum_blocks(MatrixView<double> y, Add add);
  std::int64_t own_depth() const;
  /// What the lanes have for rows of a column, in order; to[i] is set.
  void add_lanes(std::int64_t columns, std::int64_t column, double* to);
  MatrixView<double> sums_of(std::size_t lane, std::int64_t columns) const;
  MatrixView<const double> tile_at(std::int64_t i, std::int64_t j, double* scratch) const;

  engine::ThreadPool& pool_;
  engine::Agreement& agreement_;
  tiles::Grid grid_;
  const factor::BlockSource& a_;
  std::vector<std::pair<std::int64_t, std::int64_t>> own_;  ///< tiles, column by column
  std::size_t lanes_ = 0;                                   ///< of the last product
  std::int64_t depth_ = 0;
  core::Buffer<double> partial_, scratch_, whole_;
};

}  // namespace stepwell::refine
