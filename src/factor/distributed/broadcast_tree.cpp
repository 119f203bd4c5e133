// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/distributed/broadcast_tree.hpp"

#include <algorithm>

namespace stepwell::factor {

std::vector<int> receivers(const tiles::Distribution& owners, const tiles::Grid& grid,
                           std::int64_t i, std::int64_t k) {
  std::vector<int> to = i == k ? owners.solvers(grid, k) : owners.readers(grid, i, k);
  const int urgent =
      i == k ? owners.owner(std::min(i + 1, grid.tiles() - 1), k) : owners.owner(i, i);
  // Ranks above the owner come first: in ascending order the lowest rank of a process row or column
  // would forward every tile of it.
  std::rotate(to.begin(), std::upper_bound(to.begin(), to.end(), owners.owner(i, k)), to.end());
  const auto found = std::find(to.begin(), to.end(), urgent);
  if (found != to.end()) std::rotate(to.begin(), found, found + 1);
  return to;
}

BroadcastNode broadcast_node(std::span<const int> receivers, int owner, int rank) {
  const auto place = static_cast<std::size_t>(std::find(receivers.begin(), receivers.end(), rank) -
                                              receivers.begin());
  BroadcastNode node;
  if (rank != owner && place == receivers.size()) return node;
  int holder = owner;
  std::size_t begin = 0;
  std::size_t end = receivers.size();
  while (begin < end) {
    const std::size_t next = passed_on(begin, end);
    if (holder == rank) {
      node.to.push_back(receivers[begin]);
      begin = next;
    } else if (place < next) {  // this rank is receivers[begin], or gets the tile through it
      if (place == begin) node.from = holder;
      holder = receivers[begin++];
      end = next;
    } else {
      begin = next;
    }
  }
  return node;
}

}  // namespace stepwell::factor
