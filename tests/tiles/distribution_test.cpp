// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "stepwell/error.hpp"
#include "tiles/tile_matrix.hpp"

/// The owner of a tile, the ranks that need it, and the communication volume.
namespace stepwell::tiles::test {
namespace {

Grid grid_of(std::int64_t tiles) {
  return {tiles * 8, 8};
}

std::vector<Distribution> all_distributions() {
  std::vector<Distribution> all = {Distribution()};
  for (int rows = 1; rows <= 7; ++rows) {
    for (int cols = 1; cols <= 7; ++cols) all.push_back(Distribution::grid(rows, cols));
  }
  all.push_back(Distribution::grid(11, 3));
  for (int r = 2; r <= 9; ++r) all.push_back(Distribution::symmetric(r * (r - 1) / 2));
  return all;
}

/// The owners of the tiles whose update multiplies with L(i, k), found by enumerating every product
/// L(a, k) L(b, k)' of the factorization.
std::vector<int> readers_by_products(const Distribution& d, std::int64_t tiles, std::int64_t i,
                                     std::int64_t k) {
  std::set<int> found;
  for (std::int64_t b = k + 1; b < tiles; ++b) {
    for (std::int64_t a = b; a < tiles; ++a) {
      if (a == i || b == i) found.insert(d.owner(a, b));
    }
  }
  found.erase(d.owner(i, k));
  return {found.begin(), found.end()};
}

std::vector<std::int64_t> tiles_of_ranks(const Distribution& d, std::int64_t tiles) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(d.ranks()));
  for (std::int64_t j = 0; j < tiles; ++j) {
    for (std::int64_t i = j; i < tiles; ++i) ++count[static_cast<std::size_t>(d.owner(i, j))];
  }
  return count;
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "no error";
}

TEST(Distribution, OwnersAreRanks) {
  for (const Distribution& d : all_distributions()) {
    const std::int64_t tiles = 40;
    std::set<int> seen;
    for (std::int64_t j = 0; j < tiles; ++j) {
      for (std::int64_t i = j; i < tiles; ++i) seen.insert(d.owner(i, j));
    }
    EXPECT_EQ(std::ssize(seen), d.ranks()) << d.name();
    EXPECT_EQ(*seen.begin(), 0) << d.name();
    EXPECT_EQ(*seen.rbegin(), d.ranks() - 1) << d.name();
  }
}

TEST(Distribution, AGridIsThatOfBlacs) {
  const Distribution d = Distribution::grid(2, 3);
  EXPECT_EQ(d.owner(0, 0), 0);
  EXPECT_EQ(d.owner(2, 1), 1);
  EXPECT_EQ(d.owner(1, 0), 3);
  EXPECT_EQ(d.owner(7, 5), 5);
  EXPECT_EQ(d.name(), "grid 2 x 3");
}

TEST(Distribution, ReadersAreThoseThatMultiplyWithTheTile) {
  for (const Distribution& d : all_distributions()) {
    for (const std::int64_t tiles : {1, 2, 3, 5, 8, 13, 21, 30}) {
      const Grid grid = grid_of(tiles);
      for (std::int64_t k = 0; k < tiles; ++k) {
        for (std::int64_t i = k + 1; i < tiles; ++i) {
          const std::vector<int> readers = readers_by_products(d, tiles, i, k);
          ASSERT_EQ(d.readers(grid, i, k), readers)
              << d.name() << ", " << tiles << " tiles, (" << i << ", " << k << ")";
          for (int rank = 0; rank < d.ranks(); ++rank) {
            ASSERT_EQ(d.reads(grid, rank, i, k),
                      std::count(readers.begin(), readers.end(), rank) > 0)
                << d.name() << ", " << tiles << " tiles, (" << i << ", " << k << "), rank " << rank;
          }
        }
      }
    }
  }
}

// The column is longer than the pattern of each distribution: the search for readers stops early.
TEST(Distribution, ReadersOfALongColumn) {
  for (const Distribution& d : {Distribution::grid(2, 7), Distribution::grid(5, 4),
                                Distribution::symmetric(6), Distribution::symmetric(15)}) {
    const std::int64_t tiles = 75;
    const Grid grid = grid_of(tiles);
    for (const std::int64_t k : {0, 1, 4, 29, 30, 31, 44}) {
      for (std::int64_t i = k + 1; i < tiles; ++i) {
        ASSERT_EQ(d.readers(grid, i, k), readers_by_products(d, tiles, i, k))
            << d.name() << ", (" << i << ", " << k << ")";
      }
    }
  }
}

TEST(Distribution, SolversAreTheColumnsOwners) {
  for (const Distribution& d : all_distributions()) {
    for (const std::int64_t tiles : {1, 2, 3, 7, 12, 31, 90}) {
      const Grid grid = grid_of(tiles);
      for (std::int64_t j = 0; j < tiles; ++j) {
        std::set<int> found;
        for (std::int64_t i = j + 1; i < tiles; ++i) found.insert(d.owner(i, j));
        found.erase(d.owner(j, j));
        ASSERT_EQ(d.solvers(grid, j), std::vector<int>(found.begin(), found.end()))
            << d.name() << ", " << tiles << " tiles, column " << j;
      }
    }
  }
}

// The number of tiles of a rank differs from the mean only by tiles along the diagonal: at most as
// many as a row and a column of the rank's own tiles have.
TEST(Distribution, TilesAreDistributedEvenly) {
  for (const Distribution& d : all_distributions()) {
    for (const std::int64_t tiles : {24, 60, 121}) {
      const std::vector<std::int64_t> count = tiles_of_ranks(d, tiles);
      const auto total = static_cast<double>(grid_of(tiles).count());
      const double mean = total / d.ranks();
      const double perimeter = 2.0 * static_cast<double>(tiles) / std::sqrt(d.ranks()) + 4;
      for (const std::int64_t own : count) {
        EXPECT_LE(std::abs(static_cast<double>(own) - mean), perimeter)
            << d.name() << ", " << tiles << " tiles";
      }
      EXPECT_EQ(static_cast<double>(std::accumulate(count.begin(), count.end(), std::int64_t{0})),
                total);
    }
  }
}

TEST(Distribution, OneRankSendsNothing) {
  const RungMap map(grid_of(12), uniform(Rung::bf16));
  EXPECT_EQ(bytes_to_send(map, Distribution(), 4096), 0);
  EXPECT_EQ(bytes_to_send(map, Distribution::grid(1, 1), 4096), 0);
  EXPECT_EQ(bytes_to_send(map, Distribution::symmetric(1), 4096), 0);
}

TEST(Distribution, BytesAreThoseOfTheMessages) {
  const RungMap map({1000, 64}, PrecisionMap{{Rung::bf16, Rung::bf16x2, Rung::fp32}, 0});
  const std::int64_t tiles = map.grid().tiles();
  for (const Distribution& d : {Distribution::grid(2, 2), Distribution::symmetric(6)}) {
    std::int64_t bytes = 0;
    for (std::int64_t k = 0; k < tiles; ++k) {
      bytes += 100 * std::ssize(d.solvers(map.grid(), k));
      for (std::int64_t i = k + 1; i < tiles; ++i) {
        bytes += std::ssize(readers_by_products(d, tiles, i, k)) * shape_of(map, i, k).bytes();
      }
    }
    EXPECT_EQ(bytes_to_send(map, d, 100), bytes) << d.name();
  }
}

// Beaumont et al.: a factor of sqrt(2) in the limit of many ranks; 2 x 3 is a good grid for its
// size.
TEST(Distribution, TheSymmetricOneSendsLess) {
  for (const int ranks : {6, 10, 15, 28}) {
    for (const std::int64_t tiles : {32, 64, 128}) {
      const RungMap map(grid_of(tiles), uniform(Rung::bf16));
      const auto grid = static_cast<double>(bytes_to_send(map, Distribution::choose(ranks, {}), 0));
      const auto symmetric =
          static_cast<double>(bytes_to_send(map, Distribution::symmetric(ranks), 0));
      EXPECT_GE(grid / symmetric, 1.3) << ranks << " ranks, " << tiles << " tiles";
    }
  }
}

TEST(Distribution, AsSquareAsCanBe) {
  const auto name = [](int ranks, int rows) {
    DistributedOptions options;
    options.grid_rows = rows;
    return Distribution::choose(ranks, options).name();
  };
  EXPECT_EQ(name(1, 0), "grid 1 x 1");
  EXPECT_EQ(name(2, 0), "grid 1 x 2");
  EXPECT_EQ(name(6, 0), "grid 2 x 3");
  EXPECT_EQ(name(7, 0), "grid 1 x 7");
  EXPECT_EQ(name(36, 0), "grid 6 x 6");
  EXPECT_EQ(name(1024, 0), "grid 32 x 32");
  EXPECT_EQ(name(6, 6), "grid 6 x 1");
  DistributedOptions symmetric;
  symmetric.layout = Layout::symmetric;
  EXPECT_EQ(Distribution::choose(10, symmetric).name(), "symmetric 5");
}

TEST(Distribution, RefusalsSayWhatWouldDo) {
  const std::string seven = refusal([] { Distribution::symmetric(7); });
  EXPECT_NE(seven.find("not 7; use 6 or 10"), std::string::npos) << seven;
  const std::string two = refusal([] { Distribution::symmetric(2); });
  EXPECT_NE(two.find("use 1 or 3"), std::string::npos) << two;
  const std::string none = refusal([] { Distribution::symmetric(0); });
  EXPECT_NE(none.find("not 0"), std::string::npos) << none;
  for (const int rows : {4, -1, 7}) {
    DistributedOptions options;
    options.grid_rows = rows;
    const std::string text = refusal([&] { Distribution::choose(6, options); });
    EXPECT_NE(text.find(std::to_string(rows) + " rows"), std::string::npos) << text;
    EXPECT_NE(text.find("6 ranks"), std::string::npos) << text;
    EXPECT_NE(text.find("divisor"), std::string::npos) << text;
  }
  EXPECT_NE(refusal([] { Distribution::grid(0, 3); }).find("at least one row"), std::string::npos);
}

}  // namespace
}  // namespace stepwell::tiles::test
