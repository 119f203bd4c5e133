// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/buffer.hpp"
#include "distributed/fixture.hpp"
#include "distributed/problem.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "factor/distributed/cholesky.hpp"
#include "gallery/recipe.hpp"
#include "kernels/kernels.hpp"
#include "stepwell/distributed.hpp"
#include "stepwell/error.hpp"
#include "tiles/operations.hpp"

/// The distributed factorization, run by mpirun with any number of ranks.
namespace stepwell {
namespace {

using distributed::test::Problem;
using distributed::test::world;
using tiles::Distribution;

std::vector<Distribution> distributions() {
  const int ranks = world().size();
  std::vector<Distribution> found;
  for (int rows = 1; rows <= ranks; ++rows) {
    if (ranks % rows == 0) found.push_back(Distribution::grid(rows, ranks / rows));
  }
  if (ranks == 3 || ranks == 6 || ranks == 10) found.push_back(Distribution::symmetric(ranks));
  return found;
}

Factor factor_over_ranks(const Distribution& d, const Problem& problem, const FactorOptions& f) {
  return factor::distributed_cholesky(RanksData::of(world()), d, problem.a().rows,
                                      factor::FilledBlocks(problem.fill()), f);
}

/// The number of this rank's tiles whose elements differ in any bit from those of one process (the
/// padding between columns is ignored).
std::int64_t tiles_that_differ(const tiles::TileMatrix& here, const tiles::TileMatrix& alone) {
  const tiles::Grid& grid = here.grid();
  const std::int64_t size = grid.tile * grid.tile;
  const core::Buffer<double> mine(size), expected(size);
  std::int64_t count = 0;
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      if (!here.owns(i, j)) continue;
      const auto copy = [&](const tiles::TileMatrix& from, const core::Buffer<double>& to) {
        tiles::copy_tile(kernels::table(), from.tile(i, j), {},
                         view(to.data(), grid.size(i), grid.size(j)));
      };
      copy(here, mine);
      copy(alone, expected);
      const auto bytes = static_cast<std::size_t>(8 * grid.size(i) * grid.size(j));
      if (std::memcmp(mine.data(), expected.data(), bytes) != 0) ++count;
    }
  }
  return count;
}

TEST(DistributedFactor, HasTheBitsOfOneRank) {
  const Problem problem(800, gallery::Kind::arithmetic, 1e2);
  std::vector<const char*> maps = {"bf16", "bf16,fp32,fp64"};
  if (world().size() <= 2) {  // more ranks than cores would take too long
    maps.insert(maps.end(), {"bf16x2", "bf16x3", "fp16", "fp32", "fp64", "adaptive:1e-5"});
  }
  for (const char* const map : maps) {
    for (const std::int64_t tile : {32, 160}) {
      FactorOptions f;
      f.map = parse_map(map);
      f.tile = tile;
      const Factor alone = cholesky(problem.a(), f);
      ASSERT_TRUE(alone.ok());
      for (const Distribution& d : distributions()) {
        const Factor factor = factor_over_ranks(d, problem, f);
        ASSERT_TRUE(factor.ok()) << d.name();
        EXPECT_EQ(tiles_that_differ(FactorData::of(factor).l, FactorData::of(alone).l), 0)
            << map << ", tile " << tile << ", " << d.name();
        EXPECT_EQ(FactorData::of(factor).scale, FactorData::of(alone).scale);
        EXPECT_LT(std::abs(factor.report().norm / alone.report().norm - 1), 800 * 0x1p-53);
        EXPECT_EQ(factor.report().max_abs, alone.report().max_abs);
      }
    }
  }
}

/// The bytes that all ranks together send for a factor of order 1024 in tiles of 32.
double sent_for(const Distribution& d) {
  const Problem problem(1024, gallery::Kind::dominant, 1);
  FactorOptions f;
  f.tile = 32;
  engine::Communicator& ranks = RanksData::of(world());
  const std::int64_t before = ranks.bytes_sent();
  EXPECT_TRUE(factor_over_ranks(d, problem, f).ok());
  std::vector<double> all = {static_cast<double>(ranks.bytes_sent() - before)};
  ranks.sum(all);
  const auto model = static_cast<double>(factor::distributed_bytes_to_send(1024, f, d));
  EXPECT_LE(std::abs(all[0] - model), 0.01 * model) << d.name();
  return all[0];
}

TEST(DistributedFactor, SendsWhatTheModelSays) {
  for (const Distribution& d : distributions()) {
    const double sent = sent_for(d);
    EXPECT_EQ(sent > 0, world().size() > 1) << d.name();
  }
}

TEST(DistributedFactor, SendsLessInTheSymmetricLayout) {
  if (world().size() != 6) GTEST_SKIP() << "for 6 ranks";
  EXPECT_GE(sent_for(Distribution::grid(2, 3)), 1.3 * sent_for(Distribution::symmetric(6)));
}

TEST(DistributedFactor, SaysTheSameOfAMatrixThatIsNotDefinite) {
  const Problem problem(700, gallery::Kind::arithmetic, 1e2);
  problem.a()(411, 411) = -1;
  for (const bool escalate : {true, false}) {
    FactorOptions f;
    f.tile = 96;
    f.climb = escalate;
    const Factor alone = cholesky(problem.a(), f);
    for (const Distribution& d : distributions()) {
      const Factor factor = factor_over_ranks(d, problem, f);
      EXPECT_EQ(factor.report().outcome, alone.report().outcome) << d.name();
      EXPECT_EQ(factor.report().pivot, 411) << d.name();
      EXPECT_EQ(factor.report().pivot_value, alone.report().pivot_value) << d.name();
    }
  }
}

TEST(DistributedFactor, TakesTheSameShifts) {
  const Problem problem(900, gallery::Kind::geometric, 1e6);
  FactorOptions f;
  f.tile = 128;
  const Factor alone = cholesky(problem.a(), f);
  ASSERT_GT(alone.report().attempts.size(), 1U);  // bf16 breaks down
  for (const Distribution& d : distributions()) {
    const Factor factor = factor_over_ranks(d, problem, f);
    EXPECT_EQ(factor.report().attempts.size(), alone.report().attempts.size());
    EXPECT_EQ(factor.report().shift, alone.report().shift);
    EXPECT_EQ(tiles_that_differ(FactorData::of(factor).l, FactorData::of(alone).l), 0) << d.name();
  }
}

TEST(DistributedFactor, FindsTheFirstNaN) {
  const Problem problem(700, gallery::Kind::dominant, 1);
  problem.a()(650, 300) = std::numeric_limits<double>::quiet_NaN();
  problem.a()(500, 333) = std::numeric_limits<double>::infinity();
  FactorOptions f;
  f.tile = 96;
  for (const Distribution& d : distributions()) {
    const Factor factor = factor_over_ranks(d, problem, f);
    EXPECT_EQ(factor.report().outcome, FactorOutcome::non_finite);
    EXPECT_EQ(factor.report().row, 650);
    EXPECT_EQ(factor.report().col, 300);
  }
}

TEST(DistributedFactor, ThrowsOnAllWhatOneThrows) {
  const Problem problem(700, gallery::Kind::dominant, 1);
  const int last = world().size() - 1;
  const factor::FilledBlocks a(
      [whole = problem.fill(), last](std::int64_t row, std::int64_t col, MatrixView<double> tile) {
        if (row > 300 && row > col && world().rank() == last) throw std::runtime_error("no kernel");
        whole(row, col, tile);
      });
  FactorOptions f;
  f.tile = 64;
  for (const Distribution& d : distributions()) {
    try {
      (void)factor::distributed_cholesky(RanksData::of(world()), d, 700, a, f);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::exception& e) {
      EXPECT_NE(std::string(e.what()).find("no kernel"), std::string::npos) << e.what();
    }
  }
}

TEST(DistributedFactor, StopsOnAllWhereOneCancels) {
  const Problem problem(1024, gallery::Kind::dominant, 1);
  for (const Distribution& d : distributions()) {
    Progress progress;
    progress.cancel = world().rank() == world().size() - 1;
    FactorOptions f;
    f.tile = 64;
    f.engine.progress = &progress;
    EXPECT_EQ(factor_over_ranks(d, problem, f).report().outcome, FactorOutcome::cancelled);
  }
}

TEST(DistributedFactor, HasFewTilesForManyRanks) {
  for (const std::int64_t n : {0, 1, 31, 64, 65}) {
    const Problem problem(n, gallery::Kind::dominant, 1);
    FactorOptions f;
    f.tile = 64;
    const Factor alone = cholesky(problem.a(), f);
    for (const Distribution& d : distributions()) {
      const Factor factor = factor_over_ranks(d, problem, f);
      ASSERT_TRUE(factor.ok());
      EXPECT_EQ(tiles_that_differ(FactorData::of(factor).l, FactorData::of(alone).l), 0) << n;
    }
  }
}

}  // namespace
}  // namespace stepwell
