// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/rung_map.hpp"

#include <algorithm>
#include <cmath>

#include "stepwell/error.hpp"

namespace stepwell::tiles {
namespace {

/// Most tiles along one side of a matrix. A map has one byte for each tile of the triangle, about
/// half of the square of this number: 128 MiB, at n = 8 million with tiles of 512.
constexpr std::int64_t kMostTiles = std::int64_t{1} << 14;

bool has_residues(Rung rung) {
  return info(rung).residues > 0;
}

Rung finer(Rung a, Rung b) {
  return coarser(a, b) == a ? b : a;
}

}  // namespace

Rung coarser(Rung a, Rung b) {
  const double ua = info(a).unit_roundoff;
  const double ub = info(b).unit_roundoff;
  if (ua != ub) return ua > ub ? a : b;
  return std::min(a, b);  // equal unit roundoff: bf16x3 counts as coarser than fp32
}

int tree_level(std::int64_t tiles, std::int64_t i, std::int64_t j) {
  std::int64_t first = 0;
  std::int64_t count = tiles;
  int level = 0;
  for (; count > 1; ++level) {
    const std::int64_t middle = first + (count + 1) / 2;
    if ((i < middle) != (j < middle)) return level;
    const bool upper = i < middle;
    count = upper ? middle - first : first + count - middle;
    if (!upper) first = middle;
  }
  return level;
}

void require_mixable(const PrecisionMap& map, const std::string& who) {
  const auto found = std::ranges::find_if(map.layers, has_residues);
  if (map.adaptive() || found == map.layers.end()) return;
  throw Error(
      ErrorCode::invalid_argument,
      who + ": the rung " + std::string(to_string(*found)) +
          " is only for Cholesky factorizations and, without its fifteenth residue, syrk() in "
          "one process, with all tiles at it; use fp64 for the same accuracy");
}

RungMap::RungMap(const Grid& grid, const PrecisionMap& map) : grid_(grid) {
  if (map.adaptive() || map.layers.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "this operation needs a map of rungs by level, not '" + to_string(map) + "'");
  }
  if (map.layers.size() > 1) require_mixable(map, "map '" + to_string(map) + "'");
  if (grid.tiles() > kMostTiles) {
    throw Error(ErrorCode::too_large, "a matrix of order " + std::to_string(grid.n) +
                                          " has too many tiles of " + std::to_string(grid.tile) +
                                          "; at most " + std::to_string(kMostTiles) +
                                          " tiles are allowed in each dimension");
  }
  rungs_.resize(static_cast<std::size_t>(grid.count()));
  if (map.graded()) {
    fill_graded(map);
  } else {
    layers_ = map.layers;
    fill_layers();
  }
  summarize();
}

void RungMap::fill_layers() {
  const auto last = static_cast<int>(layers_.size()) - 1;
  for (std::int64_t j = 0; j < grid_.tiles(); ++j) {
    rungs_[index(j, j)] = layers_.back();
    for (std::int64_t i = j + 1; i < grid_.tiles(); ++i) {
      const int level = std::min(tree_level(grid_.tiles(), i, j), last);
      rungs_[index(i, j)] = layers_[static_cast<std::size_t>(level)];
    }
  }
}

void RungMap::fill_graded(const PrecisionMap& map) {
  if (map.columns.size() + 1 != map.layers.size()) {
    throw Error(ErrorCode::invalid_argument, "a graded map has one rung more than column counts");
  }
  by_operands_ = true;
  std::size_t layer = 0;
  std::int64_t left = map.columns[0];
  for (std::int64_t j = 0; j < grid_.tiles(); ++j, --left) {
    while (layer < map.columns.size() && left <= 0) {
      ++layer;
      if (layer < map.columns.size()) left = map.columns[layer];
    }
    for (std::int64_t i = j; i < grid_.tiles(); ++i) rungs_[index(i, j)] = map.layers[layer];
  }
}

RungMap::RungMap(const Grid& grid, double eps, const std::vector<double>& norms,
                 const std::vector<Rung>& ladder)
    : grid_(grid) {
  const std::int64_t tiles = grid.tiles();
  double squares = 0;
  for (std::int64_t j = 0; j < tiles; ++j) {
    for (std::int64_t i = j; i < tiles; ++i) {
      const double norm = norms[index(i, j)];
      squares += (i == j ? 1 : 2) * norm * norm;
    }
  }
  const double allowed = eps * std::sqrt(squares) / static_cast<double>(tiles);
  const auto choose = [&](double norm) {
    for (const Rung rung : ladder) {
      if (norm * info(rung).unit_roundoff <= allowed) return rung;
    }
    return ladder.back();
  };
  rungs_.resize(static_cast<std::size_t>(grid.count()));
  for (std::int64_t j = 0; j < tiles; ++j) {
    Rung& diagonal = rungs_[index(j, j)];
    diagonal = choose(norms[index(j, j)]);
    for (std::int64_t i = j + 1; i < tiles; ++i) {
      rungs_[index(i, j)] = choose(norms[index(i, j)]);
      diagonal = finer(diagonal, rungs_[index(i, j)]);
    }
  }
  summarize();
}

void RungMap::summarize() {
  for (const Rung rung : rungs_) {
    coarsest_ = coarser(coarsest_, rung);
    most_planes_ = std::max(most_planes_, info(rung).planes);
    ++counts_[static_cast<std::size_t>(rung)];
  }
  for (std::int64_t j = 0; j < grid_.tiles(); ++j) {  // products inside diagonal tiles count too
    std::int64_t order = grid_.size(j);
    for (int depth = 0; order > kernels::kLeaf; ++depth) {
      coarsest_ = coarser(coarsest_, diagonal_layers(j).at(depth));
      order = core::round_up((order + 1) / 2, kernels::kPanel);
    }
  }
}

kernels::Layers RungMap::diagonal_layers(std::int64_t j) const {
  if (layers_.empty()) return kernels::uniform_layers(at(j, j));
  const auto above = static_cast<std::size_t>(tree_level(grid_.tiles(), j, j));
  if (above + 1 >= layers_.size()) return kernels::uniform_layers(layers_.back());
  kernels::Layers layers;
  layers.count = 0;
  for (std::size_t l = above; l < layers_.size() && layers.count < 8; ++l) {
    // The recursion packs a block for each product: splitting it into several terms takes longer
    // than an fp32 product.
    const bool plain = info(layers_[l]).planes > 1;
    layers.rung[static_cast<std::size_t>(layers.count++)] = plain ? Rung::fp32 : layers_[l];
  }
  return layers;
}

TileShape shape_of(const RungMap& map, std::int64_t i, std::int64_t j) {
  return {map.at(i, j), map.grid().size(i), map.grid().size(j), 0, map.stores_numbers()};
}

std::int64_t row_bytes(const RungMap& map, std::int64_t i, std::int64_t count) {
  std::int64_t bytes = 0;
  for (std::int64_t k = 0; k < count; ++k) bytes += shape_of(map, i, k).bytes();
  return bytes;
}

}  // namespace stepwell::tiles
