// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwell/ranks.hpp"
#include "tiles/rung_map.hpp"

namespace stepwell::tiles {

/// Which rank owns which tile of a lower triangle: a function of its place, known to all.
class Distribution {
 public:
  /// One rank owns everything.
  Distribution() = default;

  /// 2D block-cyclic: tile (i, j) belongs to process (i mod rows, j mod cols), processes counted by
  /// rows as BLACS does.
  static Distribution grid(int rows, int cols);

  /// Symmetric block-cyclic (Beaumont et al., hal-03768910): tile (i, j) belongs to the pair
  /// {i mod r, j mod r} of r(r-1)/2 ranks. Row i and column i of L then lie with the same ranks,
  /// and a tile is sent to sqrt(2) times fewer of them. Tiles with i = j (mod r) have no pair: they
  /// are dealt out in turn to the pairs that hold i mod r. Throws Error(invalid_argument) for
  /// another number of ranks than 1, 3, 6, 10, ...
  static Distribution symmetric(int ranks);

  /// What the caller asked for on so many ranks: a grid as square as can be where its rows are not
  /// given.
  static Distribution choose(int ranks, const DistributedOptions& options);

  int ranks() const { return ranks_; }
  std::int64_t grid_cols() const { return cols_; }  ///< of a grid
  int owner(std::int64_t i, std::int64_t j) const;

  /// The others that need L(i, k), ascending: owners of (i, j), k < j <= i, and of (m, i), m > i.
  std::vector<int> readers(const Grid& grid, std::int64_t i, std::int64_t k) const;
  /// Whether 'rank' is one of them.
  bool reads(const Grid& grid, int rank, std::int64_t i, std::int64_t k) const;
  /// The others that solve with diagonal tile j, ascending: owners of (i, j), i > j.
  std::vector<int> solvers(const Grid& grid, std::int64_t j) const;

  /// "grid 2 x 2", "symmetric 4".
  std::string name() const;

 private:
  /// Whether tiles of row i or of column i may be with this rank.
  bool holds(int rank, std::int64_t i) const;
  /// Owners come back after so many tiles along a row, or a column.
  std::int64_t period() const;

  Layout layout_ = Layout::grid;
  int ranks_ = 1;
  std::int64_t rows_ = 1, cols_ = 1;  ///< of a grid; rows_ is r of a symmetric one
};

/// Bytes that all ranks together send for a factor of this map, if each tile goes once to each that
/// needs it: the model. 'inverse_bytes' of a diagonal tile go to those that solve with it.
std::int64_t bytes_to_send(const RungMap& map, const Distribution& distribution,
                           std::int64_t inverse_bytes);

}  // namespace stepwell::tiles
