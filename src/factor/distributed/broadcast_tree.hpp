// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "tiles/distribution.hpp"

/// How a finished tile gets from its owner to the ranks that need it. A tile of a grid of 32 x 32
/// ranks goes to 62 of them, and if the owner sent all of that the next column would wait for its
/// link; so those who have it pass it on, along a binomial tree.
namespace stepwell::factor {

/// The others who need L(i, k), or the inverse of a diagonal tile, first the one that the next
/// column waits for: the solve below the diagonal, and then the diagonal tile.
std::vector<int> receivers(const tiles::Distribution& owners, const tiles::Grid& grid,
                           std::int64_t i, std::int64_t k);

/// Of receivers [begin, end), who have nothing yet, the first gets the tile from whoever has it,
/// and passes it on to those up to here; the others are left to the sender. The first of all, which
/// the next column waits for, passes nothing on: it has other things to do, and is the same rank
/// for a whole row.
inline std::size_t passed_on(std::size_t begin, std::size_t end) {
  return begin == 0 ? 1 : begin + (end - begin + 1) / 2;
}

/// One rank's part in it.
struct BroadcastNode {
  int from = -1;        ///< who sends it the tile; -1: nobody
  std::vector<int> to;  ///< who gets it from this rank, in this order
};
BroadcastNode broadcast_node(std::span<const int> receivers, int owner, int rank);

}  // namespace stepwell::factor
