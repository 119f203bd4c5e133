// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <stdexcept>

#include "distributed/system.hpp"
#include "solvers/distributed/plan.hpp"

/// Distributed solve_spd() gives the same guarantees as on one rank, and the same results on all
/// ranks.
namespace stepwell::distributed::test {
namespace {

TEST(DistributedSolve, MeetsTheToleranceOfOneRank) {
  const gallery::Recipe recipes[] = {
      recipe(gallery::Kind::arithmetic), recipe(gallery::Kind::geometric, 1e6),
      recipe(gallery::Kind::clustered, 1e3), recipe(gallery::Kind::matern)};
  for (const std::int64_t n : {1, 31, 300, 1000}) {
    for (const gallery::Recipe& r : recipes) {
      for (DistributedOptions distributed : layouts()) {
        for (const bool keep : {true, false}) {
          if (n != 300 && (!keep || distributed.grid_rows == 1)) continue;
          if (n == 1000 && world().size() > 4) continue;  // on few cores this takes a minute
          distributed.keep_tiles = keep;
          SCOPED_TRACE(std::string(gallery::to_string(r.kind)) + " n = " + std::to_string(n));
          System s(n, r);
          const Certificate c = s.solve(with_tile(128), distributed);
          expect_solved(s, c);
        }
      }
    }
  }
}

/// A distributed solve takes the same rungs as one rank, and nearly as many iterations.
TEST(DistributedSolve, TakesTheWayOfOneRank) {
  System s(1200, recipe(gallery::Kind::geometric, 1e4), 3);
  SolveOptions options = with_tile(128);
  options.map = parse_map("bf16x2");
  options.condition = options.prove = true;
  const Certificate alone = solve_spd(s.a.view(), s.b.view(), s.x.view(), options);
  for (const DistributedOptions& distributed : layouts()) {
    const Certificate c = s.solve(options, distributed);
    expect_solved(s, c);
    EXPECT_EQ(map_text(c.method), map_text(alone.method));
    EXPECT_EQ(c.rungs.size(), alone.rungs.size());
    EXPECT_NEAR(c.iterations, alone.iterations, 2);
    EXPECT_NEAR(c.norm, alone.norm, 1e-12 * alone.norm);
    EXPECT_NEAR(c.condition, alone.condition, 0.1 * alone.condition);
    EXPECT_LE(c.columns[0].proven_backward_error, 2 * c.tolerance);
    EXPECT_GT(c.columns[0].proven_backward_error, 0);
  }
}

TEST(DistributedSolve, ClimbsToFp64) {
  System s(400, recipe(gallery::Kind::geometric, 1e13));
  SolveOptions options = with_tile(64);
  options.map = parse_map("bf16");
  options.refine.iterations = 2;
  const Certificate c = s.solve(options, layouts()[0]);
  expect_solved(s, c);
  EXPECT_EQ(map_text(c.method), "fp64");
  EXPECT_GT(c.rungs.size(), 1U);
}

TEST(DistributedSolve, SaysWhereAMatrixIsBad) {
  for (const DistributedOptions& distributed : layouts()) {
    System s(400, recipe(gallery::Kind::arithmetic));
    const double good = s.a(300, 200);
    s.a(300, 200) = std::numeric_limits<double>::quiet_NaN();
    Certificate c = s.solve(with_tile(64), distributed);
    EXPECT_EQ(c.outcome, SolveOutcome::non_finite);
    EXPECT_EQ(c.row, 300);
    EXPECT_EQ(c.col, 200);
    EXPECT_TRUE(same_certificate(c));
    s.a(300, 200) = good;

    // A positive diagonal, but one negative eigenvalue.
    s.a(250, 100) = 1e3;
    c = s.solve(with_tile(64), distributed);
    EXPECT_EQ(c.outcome, SolveOutcome::not_positive_definite);
    EXPECT_EQ(c.pivot, 250);
    EXPECT_TRUE(same_certificate(c));

    s.a(350, 350) = -1;
    c = s.solve(with_tile(64), distributed);
    EXPECT_EQ(c.outcome, SolveOutcome::not_positive_definite);
    EXPECT_TRUE(same_certificate(c));
  }
}

TEST(DistributedSolve, ThrowsOnAllRanksWhatOneThrows) {
  System s(300, recipe(gallery::Kind::arithmetic));
  const int last = world().size() - 1;
  for (DistributedOptions distributed : layouts()) {
    for (const bool keep : {true, false}) {
      distributed.keep_tiles = keep;
      const auto fill = [&](std::int64_t row, std::int64_t col, MatrixView<double> tile) {
        if (row > col && world().rank() == last) throw std::runtime_error("no points");
        tiles_of(s.a)(row, col, tile);
      };
      expect_error(ErrorCode::invalid_argument, "no points", [&] {
        (void)solve_spd(world(), 300, fill, s.b.view(), s.x.view(), with_tile(32), distributed);
      });
    }
  }
  const Certificate c = s.solve(with_tile(64), layouts()[0]);
  expect_solved(s, c);
}

TEST(DistributedSolve, RefusesWhatDiffersBetweenRanks) {
  System s(100, recipe(gallery::Kind::arithmetic));
  const bool odd = world().rank() == world().size() - 1 && world().size() > 1;
  if (world().size() > 1) {
    SolveOptions options = with_tile(odd ? 64 : 32);
    expect_error(ErrorCode::invalid_argument, "the tile is not the same",
                 [&] { (void)s.solve(options, {}); });
    System other = s;
    if (odd) other.b(7, 0) = 5;
    expect_error(ErrorCode::invalid_argument, "B is not the same",
                 [&] { (void)other.solve(with_tile(32), {}); });
    Dense<double> small(odd ? 99 : 100, 1);
    expect_error(ErrorCode::invalid_argument, "it must be", [&] {
      (void)solve_spd(world(), 100, tiles_of(s.a), s.b.view(), small.view(), with_tile(32), {});
    });
  }
}

TEST(DistributedSolve, RefusesMisuse) {
  System s(100, recipe(gallery::Kind::arithmetic));
  expect_error(ErrorCode::invalid_argument, "no function",
               [&] { (void)solve_spd(world(), 100, FillTile{}, s.b.view(), s.x.view()); });
  SolveOptions options;
  options.triangle = Triangle::upper;
  expect_error(ErrorCode::invalid_argument, "lower triangle", [&] { (void)s.solve(options, {}); });
  options = {};
  options.check_symmetry = true;
  expect_error(ErrorCode::invalid_argument, "symmetry", [&] { (void)s.solve(options, {}); });
  expect_error(ErrorCode::invalid_argument, "tile", [&] { (void)s.solve(with_tile(33), {}); });
  DistributedOptions distributed;
  distributed.grid_rows = 7;
  expect_error(ErrorCode::invalid_argument, "divisor", [&] { (void)s.solve({}, distributed); });
  expect_error(ErrorCode::invalid_argument, "negative",
               [&] { (void)solve_spd(world(), -1, tiles_of(s.a), s.b.view(), s.x.view()); });
}

TEST(DistributedSolve, StopsOnAllRanksWhereOneCancels) {
  System s(400, recipe(gallery::Kind::arithmetic));
  Progress progress;
  progress.cancel = world().rank() == world().size() - 1;
  SolveOptions options = with_tile(64);
  options.engine.progress = &progress;
  const Certificate c = s.solve(options, {});
  EXPECT_EQ(c.outcome, SolveOutcome::cancelled);
  EXPECT_TRUE(same_certificate(c));
}

TEST(DistributedSolve, TakesNoMoreThanItsPlan) {
  for (DistributedOptions distributed : layouts()) {
    for (const bool keep : {true, false}) {
      distributed.keep_tiles = keep;
      System s(1000, recipe(gallery::Kind::arithmetic), 2);
      SolveOptions options = with_tile(64);
      options.map = parse_map("bf16");
      const Plan plan = plan_spd(world(), 1000, 2, options, distributed);
      EXPECT_EQ(map_text(plan.method), "bf16");
      EXPECT_GE(plan.top_bytes, plan.bytes);
      const Certificate c = s.solve(options, distributed);
      EXPECT_LE(c.peak_bytes, plan.bytes);
      EXPECT_GE(static_cast<double>(c.peak_bytes), 0.9 * static_cast<double>(plan.bytes));
    }
  }
}

/// One process plans the same for a number of ranks as the ranks themselves.
TEST(DistributedSolve, IsPlannedByOneProcess) {
  Context one(1);
  for (DistributedOptions distributed : layouts()) {
    for (const bool keep : {true, false}) {
      for (const char* const map : {"", "bf16x2", "bf16,fp32", "fp64"}) {
        distributed.keep_tiles = keep;
        SolveOptions options = with_tile(64);
        options.engine.context = &one;
        if (*map != 0) options.map = parse_map(map);
        const Plan all = plan_spd(world(), 2000, 3, options, distributed);
        const Plan alone = solvers::plan_of_all(world().size(), 1, 2000, 3, options, distributed);
        EXPECT_EQ(map_text(alone.method), map_text(all.method));
        EXPECT_EQ(alone.bytes, all.bytes);
        EXPECT_EQ(alone.top_bytes, all.top_bytes);
      }
    }
  }
}

/// The largest plan of any rank, and the plan for all ranks.
std::pair<std::int64_t, std::int64_t> said_and_planned(int ranks, std::int64_t n, Layout layout) {
  DistributedOptions distributed;
  distributed.layout = layout;
  SolveOptions options = with_tile(32);
  options.map = parse_map("bf16");
  options.climb = false;
  solvers::DistributedLayout place;
  place.distribution = tiles::Distribution::choose(ranks, distributed);
  place.grid = {n, 32};
  std::int64_t most = 0;
  for (place.rank = 0; place.rank < ranks; ++place.rank) {
    most = std::max(most, solvers::plan_of_rank(place, 1, options).bytes);
  }
  return {most, solvers::plan_of_all(ranks, 1, n, 1, options, distributed).bytes};
}

TEST(DistributedSolve, IsPlannedForManyRanks) {
  for (const int ranks : {24, 45, 64}) {
    for (const std::int64_t n : {700, 3000, 3200}) {
      const auto [most, planned] =
          said_and_planned(ranks, n, ranks == 45 ? Layout::symmetric : Layout::grid);
      EXPECT_EQ(planned, most) << ranks << " ranks, n = " << n;
    }
  }
  if (world().size() > 1) return;
  // More than 1,024 tiles a side: the plan samples 16 ranks.
  const auto [most, planned] = said_and_planned(24, 33000, Layout::grid);
  EXPECT_LE(planned, most);
  EXPECT_GE(static_cast<double>(planned), 0.99 * static_cast<double>(most));
}

TEST(DistributedSolve, SolvesNothingInNoTime) {
  Dense<double> b(0, 2), x(0, 2);
  const Certificate c = solve_spd(
      world(), 0, [](std::int64_t, std::int64_t, MatrixView<double>) {}, b.view(), x.view());
  EXPECT_TRUE(c.ok());
  System s(50, recipe(gallery::Kind::arithmetic), 0);
  EXPECT_TRUE(s.solve({}, {}).ok());
}

}  // namespace
}  // namespace stepwell::distributed::test
