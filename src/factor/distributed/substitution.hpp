// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/communicator.hpp"
#include "engine/threads/thread_pool.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::factor {

/// substitute() with the tiles of L distributed over ranks, and x complete on all of them before
/// and after.
///
/// The owner of diagonal tile k collects the sums of the owners of row k's tiles, in the order of
/// ranks, solves, and sends block k of x to the owners of tiles of column k; the backward
/// substitution does the same with rows and columns exchanged. So the bits depend on the
/// distribution and on nothing else. A rank first applies the tile that the next block waits for.
class DistributedSubstitution {
 public:
  DistributedSubstitution(engine::ThreadPool& pool, engine::Communicator& ranks,
                          const tiles::TileMatrix& l);

  /// x <- (L L')^-1 x, x: n x r, V float or double. Collective. The workspace is three vectors of
  /// the size of x. Cost per rank: 2 n^2 r divided by the number of ranks, and two messages for
  /// each block of x that the rank needs or contributes to.
  template <class V>
  void run(MatrixView<V> x) const;

 private:
  /// One step of a direction solves one block. Later blocks are identified by their steps.
  struct Step {
    std::vector<std::int64_t> apply_to;  ///< later blocks that this rank's tiles are applied to
    std::int64_t last = -1;              ///< last step with an own tile applied to this block
    std::vector<int> contributors;       ///< other ranks with such tiles (own blocks only)
    std::vector<int> readers;  ///< other ranks that need the solved block (own blocks only)
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
  /// The tile that applies the block of a step to a later block.
  Place between(const Direction& d, std::int64_t step, std::int64_t later) const;
  bool mine(std::int64_t k) const { return l_.owns(k, k); }

  engine::ThreadPool& pool_;
  engine::Communicator& ranks_;
  const tiles::TileMatrix& l_;
  Direction forward_, backward_;
};

}  // namespace stepwell::factor
