// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/distribution.hpp"

#include <algorithm>
#include <cmath>

#include "stepwell/error.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::tiles {
namespace {

[[noreturn]] void misuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

/// The r with r(r-1)/2 = ranks, or 0 if there is none.
int side_of(int ranks) {
  int r = 2;
  while (r * (r - 1) / 2 < ranks) ++r;
  return r * (r - 1) / 2 == ranks ? r : 0;
}

}  // namespace

Distribution Distribution::grid(int rows, int cols) {
  if (rows < 1 || cols < 1) misuse("a grid of processes must have at least one row and one column");
  Distribution d;
  d.ranks_ = rows * cols;
  d.rows_ = rows;
  d.cols_ = cols;
  return d;
}

Distribution Distribution::symmetric(int ranks) {
  const int r = ranks < 1 ? 0 : side_of(ranks);
  if (r == 0) {
    int below = 2;
    while ((below + 1) * below / 2 <= ranks) ++below;
    misuse("the symmetric layout is for r(r-1)/2 ranks, not " + std::to_string(ranks) + "; use " +
           std::to_string(below * (below - 1) / 2) + " or " +
           std::to_string((below + 1) * below / 2) + " ranks, or the layout 'grid'");
  }
  Distribution d;
  d.layout_ = Layout::symmetric;
  d.ranks_ = ranks;
  d.rows_ = d.cols_ = r;
  return d;
}

Distribution Distribution::choose(int ranks, const DistributedOptions& options) {
  if (options.layout == Layout::symmetric) return symmetric(ranks);
  int rows = options.grid_rows;
  if (rows == 0) {
    rows = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
    while (ranks % rows != 0) --rows;
  }
  if (rows < 0 || ranks % rows != 0) {
    misuse("a process grid of " + std::to_string(rows) + " rows is not possible with " +
           std::to_string(ranks) + " ranks; use a divisor, or 0 for the most square grid");
  }
  return grid(rows, ranks / rows);
}

int Distribution::owner(std::int64_t i, std::int64_t j) const {
  if (ranks_ == 1) return 0;
  const std::int64_t r = rows_;
  if (layout_ == Layout::grid) return static_cast<int>(i % rows_ * cols_ + j % cols_);
  std::int64_t a = i % r;
  std::int64_t b = j % r;
  // Tiles that are adjacent along the diagonal, or one below the other, go to different pairs.
  if (a == b) b = (a + 1 + (i / r + j / r) % (r - 1)) % r;
  const auto [low, high] = std::minmax(a, b);
  return static_cast<int>(high * (high - 1) / 2 + low);
}

bool Distribution::holds(int rank, std::int64_t i) const {
  if (layout_ == Layout::grid) return i % rows_ == rank / cols_ || i % cols_ == rank % cols_;
  if (ranks_ == 1) return true;
  std::int64_t high = 1;
  while (high * (high + 1) / 2 <= rank) ++high;
  const std::int64_t low = rank - high * (high - 1) / 2;
  return i % rows_ == high || i % rows_ == low;
}

std::int64_t Distribution::period() const {
  // The diagonal tiles of the symmetric layout have a longer period, but their owners are pairs
  // that own other tiles of the same row and column.
  return std::max(rows_, cols_);
}

namespace {

/// The ranks sorted, without duplicates and without 'self'.
std::vector<int> others(std::vector<int> ranks, int self) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::erase(ranks, self);
  return ranks;
}

}  // namespace

std::vector<int> Distribution::readers(const Grid& grid, std::int64_t i, std::int64_t k) const {
  if (ranks_ == 1) return {};
  std::vector<int> found = {owner(i, i)};
  for (std::int64_t j = k + 1; j < std::min(i, k + 1 + period()); ++j) {
    found.push_back(owner(i, j));
  }
  for (std::int64_t m = i + 1; m < std::min(grid.tiles(), i + 1 + period()); ++m) {
    found.push_back(owner(m, i));
  }
  return others(std::move(found), owner(i, k));
}

bool Distribution::reads(const Grid& grid, int rank, std::int64_t i, std::int64_t k) const {
  if (!holds(rank, i) || owner(i, k) == rank) return false;
  if (owner(i, i) == rank) return true;
  for (std::int64_t j = k + 1; j < std::min(i, k + 1 + period()); ++j) {
    if (owner(i, j) == rank) return true;
  }
  for (std::int64_t m = i + 1; m < std::min(grid.tiles(), i + 1 + period()); ++m) {
    if (owner(m, i) == rank) return true;
  }
  return false;
}

std::vector<int> Distribution::solvers(const Grid& grid, std::int64_t j) const {
  if (ranks_ == 1) return {};
  std::vector<int> found;
  for (std::int64_t i = j + 1; i < std::min(grid.tiles(), j + 1 + period()); ++i) {
    found.push_back(owner(i, j));
  }
  return others(std::move(found), owner(j, j));
}

std::string Distribution::name() const {
  if (layout_ == Layout::symmetric) return "symmetric " + std::to_string(rows_);
  return "grid " + std::to_string(rows_) + " x " + std::to_string(cols_);
}

std::int64_t bytes_to_send(const RungMap& map, const Distribution& distribution,
                           std::int64_t inverse_bytes) {
  const Grid& grid = map.grid();
  std::int64_t bytes = 0;
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    bytes += std::ssize(distribution.solvers(grid, j)) * inverse_bytes;
    for (std::int64_t i = j + 1; i < grid.tiles(); ++i) {
      bytes += std::ssize(distribution.readers(grid, i, j)) * shape_of(map, i, j).bytes();
    }
  }
  return bytes;
}

}  // namespace stepwell::tiles
