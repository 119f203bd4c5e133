// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/communicator.hpp"
#include "engine/thread_pool.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::factor {

/// substitute() with the tiles of L on ranks, and x whole on all of them before and after.
///
/// The owner of diagonal tile k collects what the owners of row k's tiles have summed up, in the
/// order of ranks, solves, and sends block k of x to those who own tiles of column k; backward the
/// same with rows and columns exchanged. So the bits depend on the distribution and on nothing
/// else. A rank applies the tile that the next block waits for first.
class DistributedSubstitution {
 public:
  DistributedSubstitution(engine::ThreadPool& pool, engine::Communicator& ranks,
                          const tiles::TileMatrix& l);

  /// x <- (L L')^-1 x, x: n x r, V float or double. Collective. Works in three vectors the size of
  /// x. Cost of a rank: 2 n^2 r over the ranks, and two messages for each block of x that it needs
  /// or has a part of.
  template <class V>
  void run(MatrixView<V> x) const;

 private:
  /// One step of a direction solves one block. Blocks that come later are called by their steps.
  struct Step {
    std::vector<std::int64_t> apply_to;  ///< blocks that this rank's tiles take the solved one to
    std::int64_t last = -1;         ///< the last step whose tile, this rank's, is applied to this
    std::vector<int> contributors;  ///< the other ranks with such tiles; of an own block only
    std::vector<int> readers;       ///< the others that need the solved block; of an own one only
  };
  struct Direction {
    bool transposed = false;
    std::vector<Step> steps;
  };
  template <class V>
  struct Vectors;

  Direction direction(bool transposed) const;
  template <class V>
  void run(const Direction& direction, Vectors<V>& v) const;
  std::int64_t block(const Direction& d, std::int64_t step) const;
  struct Place {
    std::int64_t i, j;
  };
  /// The tile that takes the block of a step to a later one.
  Place between(const Direction& d, std::int64_t step, std::int64_t later) const;
  bool mine(std::int64_t k) const { return l_.owns(k, k); }

  engine::ThreadPool& pool_;
  engine::Communicator& ranks_;
  const tiles::TileMatrix& l_;
  Direction forward_, backward_;
};

}  // namespace stepwell::factor
