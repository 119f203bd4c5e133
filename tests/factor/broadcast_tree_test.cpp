// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/distributed/broadcast_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace stepwell::factor {
namespace {

using tiles::Distribution;
using tiles::Grid;

/// Every receiver gets the tile once, from the rank that its node names, after at most log2 steps.
void check_tree(const std::vector<int>& receivers, int owner, int ranks) {
  std::map<int, int> depth = {{owner, 0}};
  std::vector<int> holders = {owner};
  for (std::size_t k = 0; k < holders.size(); ++k) {
    for (const int to : broadcast_node(receivers, owner, holders[k]).to) {
      ASSERT_EQ(broadcast_node(receivers, owner, to).from, holders[k]);
      ASSERT_TRUE(depth.emplace(to, depth[holders[k]] + 1).second) << to << " gets it twice";
      holders.push_back(to);
    }
  }
  EXPECT_EQ(holders.size(), receivers.size() + 1);
  const int most = std::bit_width(receivers.size());
  for (const auto& [rank, steps] : depth) EXPECT_LE(steps, most);
  const std::set<int> part(holders.begin(), holders.end());
  for (int rank = 0; rank < ranks; ++rank) {
    if (part.contains(rank)) continue;
    const BroadcastNode none = broadcast_node(receivers, owner, rank);
    EXPECT_TRUE(none.from < 0 && none.to.empty());
  }
}

TEST(BroadcastNode, ReachesAllWhoNeedATile) {
  for (const Distribution& d :
       {Distribution::grid(1, 2), Distribution::grid(2, 2), Distribution::grid(3, 4),
        Distribution::grid(8, 8), Distribution::symmetric(6), Distribution::symmetric(45)}) {
    const Grid grid{20 * 32, 32};
    for (std::int64_t k = 0; k < grid.tiles(); ++k) {
      for (std::int64_t i = k; i < grid.tiles(); ++i) {
        check_tree(receivers(d, grid, i, k), d.owner(i, k), d.ranks());
      }
    }
  }
}

TEST(BroadcastNode, SendsFirstWhatTheNextColumnNeeds) {
  const Distribution d = Distribution::grid(4, 4);
  const Grid grid{20 * 32, 32};
  EXPECT_EQ(receivers(d, grid, 5, 2).front(), d.owner(5, 5));
  EXPECT_EQ(receivers(d, grid, 7, 7).front(), d.owner(8, 7));
}

/// The broadcast trees balance the load: no rank sends much more than the others.
TEST(BroadcastNode, BalancesTheForwarding) {
  for (const Distribution& d :
       {Distribution::grid(8, 8), Distribution::grid(4, 16), Distribution::symmetric(45)}) {
    const Grid grid{90 * 32, 32};
    std::vector<std::int64_t> sent(static_cast<std::size_t>(d.ranks()));
    std::int64_t all = 0;
    for (std::int64_t k = 0; k < grid.tiles(); ++k) {
      for (std::int64_t i = k; i < grid.tiles(); ++i) {
        const std::vector<int> to = receivers(d, grid, i, k);
        std::vector<int> holders = to;
        holders.push_back(d.owner(i, k));
        for (const int rank : holders) {
          const auto passed = std::ssize(broadcast_node(to, d.owner(i, k), rank).to);
          sent[static_cast<std::size_t>(rank)] += passed;
          all += passed;
        }
      }
    }
    EXPECT_LT(2 * d.ranks() * *std::max_element(sent.begin(), sent.end()), 3 * all) << d.name();
  }
}

}  // namespace
}  // namespace stepwell::factor
