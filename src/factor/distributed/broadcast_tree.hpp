// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "tiles/distribution.hpp"

/// How a finished tile gets from its owner to the ranks that need it. With a process grid of
/// 32 x 32 a tile goes to 62 ranks; if the owner sent all these messages, the next column would
/// wait for its link. So ranks that have the tile forward it along a binomial tree.
namespace stepwell::factor {

/// The other ranks that need L(i, k), or the inverse of a diagonal tile. The first is the rank that
/// the next column waits for: the one that solves with the inverse just below the diagonal, or the
/// one that updates diagonal tile i.
std::vector<int> receivers(const tiles::Distribution& owners, const tiles::Grid& grid,
                           std::int64_t i, std::int64_t k);

/// Receivers [begin, end) do not have the tile yet: the first of them gets it from the sender and
/// forwards it to those before the returned index; the sender serves the others. The very first
/// receiver, which the next column waits for, forwards nothing: it has other work to do, and is the
/// same rank for a whole row.
inline std::size_t passed_on(std::size_t begin, std::size_t end) {
  return begin == 0 ? 1 : begin + (end - begin + 1) / 2;
}

/// One rank's node of the broadcast tree.
struct BroadcastNode {
  int from = -1;        ///< the rank that sends the tile to this one; -1: none
  std::vector<int> to;  ///< the ranks that this one sends the tile to, in this order
};
BroadcastNode broadcast_node(std::span<const int> receivers, int owner, int rank);

}  // namespace stepwell::factor
