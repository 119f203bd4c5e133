// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "stepwell/error.hpp"
#include "tiles/rung_map.hpp"

/// Precision maps: their text form, and the rung that they assign to each tile.
namespace stepwell::tiles::test {
namespace {

// ---- text

TEST(MapText, SaysWhatItMeans) {
  EXPECT_EQ(parse_map("bf16"), uniform(Rung::bf16));
  EXPECT_EQ(parse_map("fp64"), uniform(Rung::fp64));
  EXPECT_EQ(parse_map("bf16,bf16x2,fp32"),
            (PrecisionMap{{Rung::bf16, Rung::bf16x2, Rung::fp32}, 0}));
  EXPECT_TRUE(parse_map("adaptive:1e-8").adaptive());
  EXPECT_EQ(parse_map("adaptive:1e-8").eps, 1e-8);
  const PrecisionMap graded = parse_map("graded:bf16x3*1,bf16x2*3,bf16");
  EXPECT_EQ(graded, (PrecisionMap{{Rung::bf16x3, Rung::bf16x2, Rung::bf16}, 0, {1, 3}}));
  EXPECT_TRUE(graded.graded());
  EXPECT_FALSE(graded.adaptive());
  EXPECT_FALSE(parse_map("bf16x3,bf16x2,bf16").graded());
  EXPECT_EQ(PrecisionMap{}, uniform(Rung::bf16));
}

TEST(MapText, ComesBackAsItWas) {
  for (const Rung rung : all_rungs) {
    EXPECT_EQ(to_string(uniform(rung)), to_string(rung));
    EXPECT_EQ(parse_map(to_string(rung)), uniform(rung));
  }
  for (const char* text :
       {"bf16,bf16,bf16x2,fp32", "bf16,fp64", "fp16,fp16", "fp64,bf16", "graded:fp32*1,bf16",
        "graded:bf16x3*1,bf16x2*3,bf16", "graded:bf16*7,fp64*2147483648,bf16*1,fp16"}) {
    EXPECT_EQ(to_string(parse_map(text)), text);
  }
  for (const double eps : {1e-8, 0.1, 1.0 / 3, 5e-324, 0x1.fffffffffffffp-1}) {
    PrecisionMap map;
    map.eps = eps;
    EXPECT_EQ(parse_map(to_string(map)), map) << eps;
  }
  std::string most = "bf16";
  for (int level = 1; level < 64; ++level) most += ",fp32";
  EXPECT_EQ(to_string(parse_map(most)), most);
}

struct BadText {
  std::string text;
  std::string named;  ///< text that the message must contain
};

TEST(MapText, IsRefusedWithThePartThatIsWrong) {
  std::string long_list = "bf16";
  std::string long_columns;
  for (int level = 1; level <= 64; ++level) {
    long_list += ",bf16";
    long_columns += "bf16*1,";
  }
  const std::vector<BadText> bad = {{"", "''"},
                                    {"bf17", "'bf17'"},
                                    {"BF16", "'BF16'"},
                                    {" bf16", "' bf16'"},
                                    {"bf16,,fp32", "rung ''"},
                                    {"bf16,", "rung ''"},
                                    {",bf16", "rung ''"},
                                    {"bf16;fp32", "'bf16;fp32'"},
                                    {"bf16,fp31", "'fp31'"},
                                    {"adaptive", "'adaptive'"},
                                    {"adaptive:", "''"},
                                    {"adaptive:0", "between 0 and 1"},
                                    {"adaptive:-1e-3", "between 0 and 1"},
                                    {"adaptive:1", "between 0 and 1"},
                                    {"adaptive:2", "between 0 and 1"},
                                    {"adaptive:nan", "between 0 and 1"},
                                    {"adaptive:inf", "between 0 and 1"},
                                    {"adaptive:1e-8x", "'1e-8x'"},
                                    {"adaptive:1e-8,bf16", "'1e-8,bf16'"},
                                    {"adaptive:1e-999", "1e-999"},
                                    {"graded", "'graded'"},
                                    {"graded:", "rung ''"},
                                    {"graded:bf16", "at least two rungs"},
                                    {"graded:bf16*2", "'bf16*2'"},
                                    {"graded:bf16,fp32", "only the last"},
                                    {"graded:bf16*1,fp32,bf16", "only the last"},
                                    {"graded:bf16*1,", "rung ''"},
                                    {"graded:bf16*0,fp32", "'0'"},
                                    {"graded:bf16*-1,fp32", "'-1'"},
                                    {"graded:bf16*,fp32", "''"},
                                    {"graded:bf16*1x,fp32", "'1x'"},
                                    {"graded:bf16*1.5,fp32", "'1.5'"},
                                    {"graded:bf16*1*2,fp32", "'1*2'"},
                                    {"graded:bf16*2147483649,fp32", "'2147483649'"},
                                    {"graded:bf16*99999999999999999999,fp32", "'9999"},
                                    {"graded:*1,fp32", "rung ''"},
                                    {"graded:bf17*1,fp32", "'bf17'"},
                                    {"graded:adaptive:0.1", "'adaptive:0.1'"},
                                    {"bf16*1,fp32", "'bf16*1'"},
                                    {long_list, "64 levels"},
                                    {"graded:" + long_columns + "bf16", "64 levels"},
                                    {std::string(100'000, 'x'), "xxx"}};
  for (const BadText& b : bad) {
    try {
      parse_map(b.text);
      ADD_FAILURE() << "accepted '" << b.text << "'";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << message;
      EXPECT_NE(message.find(b.named), std::string::npos) << message;
      EXPECT_NE(message.find("adaptive:<eps>"), std::string::npos) << message;  // valid text
      EXPECT_LT(message.size(), 500U);
    }
  }
}

// ---- the grid

TEST(GridTest, CountsEachTileOnceColumnByColumn) {
  for (std::int64_t n = 0; n <= 300; n += 7) {
    const Grid grid{n, 32};
    std::int64_t next = 0, area = 0, rows = 0;
    for (std::int64_t j = 0; j < grid.tiles(); ++j) {
      rows += grid.size(j);
      EXPECT_GT(grid.size(j), 0);
      EXPECT_LE(grid.size(j), 32);
      for (std::int64_t i = j; i < grid.tiles(); ++i, ++next) {
        ASSERT_EQ(grid.index(i, j), next);
        area += grid.size(i) * grid.size(j) * (i == j ? 1 : 2);
      }
    }
    EXPECT_EQ(next, grid.count());
    EXPECT_EQ(rows, n);
    EXPECT_EQ(area, n * n);
  }
}

// ---- levels

TEST(TreeLevel, IsZeroExactlyAcrossTheFirstSplit) {
  for (std::int64_t tiles = 1; tiles <= 33; ++tiles) {
    const std::int64_t middle = (tiles + 1) / 2;
    for (std::int64_t j = 0; j < tiles; ++j) {
      for (std::int64_t i = j + 1; i < tiles; ++i) {
        EXPECT_EQ(tree_level(tiles, i, j) == 0, j < middle && i >= middle) << tiles;
        EXPECT_EQ(tree_level(tiles, i, j), tree_level(tiles, j, i));
      }
    }
  }
}

// Either half is a separate tree, one level further down.
TEST(TreeLevel, IsThatOfTheHalfAndOneMore) {
  for (std::int64_t tiles = 2; tiles <= 33; ++tiles) {
    const std::int64_t middle = (tiles + 1) / 2;
    for (std::int64_t j = 0; j < tiles; ++j) {
      for (std::int64_t i = j; i < tiles; ++i) {
        if (i >= middle && j < middle) continue;
        const int level = i < middle ? tree_level(middle, i, j)
                                     : tree_level(tiles - middle, i - middle, j - middle);
        EXPECT_EQ(tree_level(tiles, i, j), 1 + level);
      }
    }
  }
  EXPECT_EQ(tree_level(1, 0, 0), 0);
}

// Tiles further from the diagonal are split off no later.
TEST(TreeLevel, FallsDownAColumn) {
  for (std::int64_t tiles = 1; tiles <= 33; ++tiles) {
    for (std::int64_t k = 0; k < tiles; ++k) {
      for (std::int64_t i = k + 1; i < tiles; ++i) {
        EXPECT_LE(tree_level(tiles, i, k), tree_level(tiles, i - 1, k));
      }
    }
  }
}

// ---- layered maps

bool finer_or_equal(Rung a, Rung b) {
  return coarser(a, b) == b;
}

TEST(LayeredMap, GivesEachTileTheRungOfItsLevel) {
  const PrecisionMap map = parse_map("bf16,bf16x2,fp32");
  for (std::int64_t tiles = 1; tiles <= 33; ++tiles) {
    const RungMap rungs({tiles * 32 - 5, 32}, map);
    RungMap::Counts counts{};
    for (std::int64_t j = 0; j < tiles; ++j) {
      EXPECT_EQ(rungs.at(j, j), Rung::fp32);
      ++counts[static_cast<std::size_t>(Rung::fp32)];
      for (std::int64_t i = j + 1; i < tiles; ++i) {
        const auto level = static_cast<std::size_t>(std::min(tree_level(tiles, i, j), 2));
        EXPECT_EQ(rungs.at(i, j), map.layers[level]);
        ++counts[static_cast<std::size_t>(rungs.at(i, j))];
        // In an update of (i, j) from column k, the right operand is at least as fine as the left.
        for (std::int64_t k = 0; k < j; ++k) {
          EXPECT_TRUE(finer_or_equal(rungs.at(j, k), rungs.at(i, k)));
        }
      }
    }
    EXPECT_EQ(rungs.counts(), counts);
    EXPECT_EQ(rungs.coarsest(), tiles > 1 ? Rung::bf16 : Rung::fp32);
    EXPECT_EQ(rungs.most_planes(), tiles > 2 ? 2 : tiles > 1 ? 1 : 0);
    EXPECT_FALSE(rungs.is_uniform());
    EXPECT_EQ(rungs.uses(Rung::fp64), false);
  }
}

// Inside a diagonal tile the recursion continues where the recursion over tiles ends.
TEST(LayeredMap, ContinuesInsideADiagonalTile) {
  const PrecisionMap map = parse_map("bf16,fp32,bf16,fp64");
  const RungMap one({512, 512}, map), two({1024, 512}, map), four({2048, 512}, map);
  for (int depth = 0; depth < 6; ++depth) {
    const auto layer = [&](int level) { return map.layers[std::min(level, 3)]; };
    EXPECT_EQ(one.diagonal_layers(0).at(depth), layer(depth));
    EXPECT_EQ(two.diagonal_layers(1).at(depth), layer(depth + 1));
    EXPECT_EQ(four.diagonal_layers(2).at(depth), layer(depth + 2));
  }
  const RungMap many({32 * 100, 32}, map);
  EXPECT_EQ(many.diagonal_layers(50).at(0), Rung::fp64);
}

// A tile of order 65 is split once; one of order 64 is not.
TEST(LayeredMap, CountsTheCoarsestProductsInsideATile) {
  const auto coarsest = [](std::int64_t n, std::int64_t tile, const char* map) {
    return RungMap({n, tile}, parse_map(map)).coarsest();
  };
  EXPECT_EQ(coarsest(64, 512, "bf16,fp64"), Rung::fp64);
  EXPECT_EQ(coarsest(65, 512, "bf16,fp64"), Rung::bf16);
  EXPECT_EQ(coarsest(512, 512, "fp64,bf16,fp64"), Rung::bf16);
  EXPECT_EQ(coarsest(100, 512, "fp64,bf16,fp64"), Rung::fp64);
  EXPECT_EQ(coarsest(1024, 64, "fp32,fp64"), Rung::fp32);
  EXPECT_EQ(coarsest(512, 512, "fp64"), Rung::fp64);
  EXPECT_EQ(coarsest(0, 512, "bf16"), Rung::fp64);
}

TEST(LayeredMap, IsNotMadeOfAnAdaptiveOne) {
  EXPECT_THROW(RungMap({100, 32}, parse_map("adaptive:0.1")), Error);
  PrecisionMap empty;
  empty.layers.clear();
  EXPECT_THROW(RungMap({100, 32}, empty), Error);
}

// ---- graded maps

TEST(GradedMap, GivesEachBlockColumnItsRung) {
  const PrecisionMap map = parse_map("graded:bf16x3*1,bf16x2*3,bf16");
  for (std::int64_t tiles = 1; tiles <= 12; ++tiles) {
    const RungMap rungs({tiles * 32 - 5, 32}, map);
    RungMap::Counts counts{};
    for (std::int64_t j = 0; j < tiles; ++j) {
      const Rung expected = j < 1 ? Rung::bf16x3 : j < 4 ? Rung::bf16x2 : Rung::bf16;
      for (std::int64_t i = j; i < tiles; ++i) {
        EXPECT_EQ(rungs.at(i, j), expected) << tiles << ": " << i << ", " << j;
        ++counts[static_cast<std::size_t>(expected)];
      }
    }
    EXPECT_EQ(rungs.counts(), counts);
    EXPECT_EQ(rungs.coarsest(), tiles > 4 ? Rung::bf16 : tiles > 1 ? Rung::bf16x2 : Rung::bf16x3);
    EXPECT_EQ(rungs.most_planes(), 3);
    EXPECT_FALSE(rungs.is_uniform());
    EXPECT_TRUE(rungs.products_by_operands());
  }
  EXPECT_FALSE(RungMap({300, 32}, parse_map("bf16x3,bf16x2,bf16")).products_by_operands());
}

TEST(GradedMap, MayHaveMoreColumnsThanTheMatrix) {
  const RungMap rungs({100, 32}, parse_map("graded:fp32*2147483648,fp64*2147483648,bf16"));
  EXPECT_EQ(rungs.counts()[static_cast<std::size_t>(Rung::fp32)], 10);
  EXPECT_EQ(rungs.coarsest(), Rung::fp32);
  EXPECT_EQ(RungMap({0, 32}, parse_map("graded:bf16*1,fp32")).coarsest(), Rung::fp64);
}

TEST(GradedMap, HasOneRungMoreThanCounts) {
  EXPECT_THROW(RungMap({100, 32}, PrecisionMap{{Rung::bf16}, 0, {1}}), Error);
  EXPECT_THROW(RungMap({100, 32}, PrecisionMap{{Rung::bf16, Rung::fp32}, 0, {1, 2}}), Error);
}

TEST(CoarserRung, IsTheLessAccurateOne) {
  for (const Rung a : all_rungs) {
    EXPECT_EQ(coarser(a, a), a);
    for (const Rung b : all_rungs) {
      EXPECT_EQ(coarser(a, b), coarser(b, a));
      EXPECT_GE(info(coarser(a, b)).unit_roundoff,
                std::max(info(a).unit_roundoff, info(b).unit_roundoff));
    }
  }
  EXPECT_EQ(coarser(Rung::fp16, Rung::bf16x2), Rung::fp16);
  EXPECT_EQ(coarser(Rung::bf16x3, Rung::fp32), Rung::bf16x3);
}

// ---- adaptive maps

const std::vector<Rung> kLadder = {Rung::bf16, Rung::bf16x2, Rung::fp32, Rung::fp64};

/// Norms from 1 down to 1e-12, largest on the diagonal.
std::vector<double> falling_norms(const Grid& grid) {
  std::vector<double> norms(static_cast<std::size_t>(grid.count()));
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      norms[static_cast<std::size_t>(grid.index(i, j))] =
          std::pow(10.0, -12.0 * static_cast<double>(i - j) / static_cast<double>(grid.tiles()));
    }
  }
  return norms;
}

TEST(AdaptiveMap, KeepsItsRuleTileByTile) {
  for (const std::int64_t tiles : {1, 2, 5, 16}) {
    const Grid grid{32 * tiles, 32};
    const std::vector<double> norms = falling_norms(grid);
    double squares = 0;
    for (std::int64_t j = 0; j < tiles; ++j) {
      for (std::int64_t i = j; i < tiles; ++i) {
        squares += (i == j ? 1 : 2) * std::pow(norms[grid.index(i, j)], 2);
      }
    }
    for (const double eps : {1e-1, 1e-3, 1e-6, 1e-10, 1e-15, 1e-18}) {
      const RungMap map(grid, eps, norms, kLadder);
      const double allowed = eps * std::sqrt(squares) / static_cast<double>(tiles);
      double error = 0;  // of the whole matrix, squared
      for (std::int64_t j = 0; j < tiles; ++j) {
        for (std::int64_t i = j; i < tiles; ++i) {
          const double norm = norms[grid.index(i, j)];
          const Rung rung = map.at(i, j);
          const double u = info(rung).unit_roundoff;
          EXPECT_TRUE(norm * u <= allowed || rung == Rung::fp64) << eps;
          EXPECT_TRUE(finer_or_equal(map.at(j, j), rung)) << i << ", " << j;
          if (i > j && rung != Rung::bf16) {  // no cheaper rung would suffice
            const Rung cheaper = kLadder[rung == Rung::bf16x2 ? 0 : rung == Rung::fp32 ? 1 : 2];
            EXPECT_GT(norm * info(cheaper).unit_roundoff, allowed);
          }
          error += (i == j ? 1 : 2) * std::pow(norm * u, 2);
        }
      }
      EXPECT_LE(std::sqrt(error), std::max(eps, 0x1p-53) * std::sqrt(squares) * (1 + 1e-12));
    }
  }
}

TEST(AdaptiveMap, UsesTheLastRungWhereNormsAreNotNumbers) {
  const Grid grid{96, 32};
  std::vector<double> norms(6, 1.0);
  norms[2] = std::nan("");
  const RungMap map(grid, 0.1, norms, kLadder);
  EXPECT_EQ(map.counts()[static_cast<std::size_t>(Rung::fp64)], 6);
  EXPECT_EQ(map.coarsest(), Rung::fp64);
}

TEST(AdaptiveMap, UsesTheFirstRungForZeros) {
  const RungMap map({96, 32}, 1e-15, std::vector<double>(6), kLadder);
  EXPECT_EQ(map.counts()[static_cast<std::size_t>(Rung::bf16)], 6);
}

}  // namespace
}  // namespace stepwell::tiles::test
