// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <thread>

#include "factor/cholesky/graph.hpp"
#include "factor/cholesky/workspace.hpp"
#include "factor/fixture.hpp"
#include "factor/scaling.hpp"

/// L has the same bits for any number of workers, any schedule and any concurrent calls; and
/// cancellation returns control to the caller.
namespace stepwell::factor::test {
namespace {

class SameBits : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Factor, SameBits,
                         ::testing::Values("bf16", "fp32", "fp64", "int8x14", "bf16,bf16x2,fp32"));

Factor with_threads(const Dense<double>& a, const char* map, int threads) {
  Context context(threads);
  FactorOptions options = options_for(map);
  options.engine.context = &context;
  Factor factor = factor_of(a, options);
  EXPECT_EQ(factor.report().times.workers, threads);
  return factor;
}

TEST_P(SameBits, ForAnyNumberOfWorkers) {
  const Dense<double> a = well_conditioned(650);
  const Factor inline_factor = with_threads(a, GetParam(), 1);
  for (const int threads : {2, 3, 4, 16}) {  // 16: more columns are in work at a time
    for (int run = 0; run < repetitions(5); ++run) {
      EXPECT_TRUE(same_factor(with_threads(a, GetParam(), threads), inline_factor)) << threads;
    }
  }
}

/// L before its scaling is undone, from one attempt on a graph with these settings.
std::vector<double> tiles_from(const Dense<double>& a, const char* map,
                               const engine::GraphOptions& graph_options,
                               std::int64_t window = 1000, bool all_late = false) {
  tiles::TileMatrix l(tiles::RungMap({a.rows, 64}, parse_map(map)));
  const bool residues = l.map().residues() > 0;
  const Diagonal diagonal = read_diagonal(a.view());
  const Scale scale =
      residues ? fixed_point_scale(diagonal) : scale_factors(diagonal, Scaling::powers_of_two);
  const std::vector<double> scaled = scaled_diagonal(diagonal, scale, 1);
  const StoredBlocks source(a.view(), {});
  CholeskyState state;
  if (residues) state.diagonal = scaled;
  state.source = &source;
  state.scale = &scale;
  state.l = &l;
  engine::Graph graph(graph_options);
  const Schedule schedule{l.grid(), std::min(window, l.grid().tiles()), all_late};
  left_looking(graph, state, schedule);
  EXPECT_TRUE(state.results.pivot.ok());
  EXPECT_EQ(graph.times().tasks, task_count(l.map(), {}, schedule, 0));
  if (residues) l.set_restored();
  std::vector<double> elements;
  Dense<double> tile(64, 64);
  for (std::int64_t j = 0; j < l.grid().tiles(); ++j) {
    for (std::int64_t i = j; i < l.grid().tiles(); ++i) {
      const auto out = tile.view().block(0, 0, l.grid().size(i), l.grid().size(j));
      tiles::copy_tile(kernels::table(), l.tile(i, j), {}, out);
      elements.insert(elements.end(), tile.data.begin(), tile.data.end());
    }
  }
  return elements;
}

// Tiles of several blocks of rows, which threads share: two for few workers, more for many.
TEST_P(SameBits, ForTilesThatThreadsShare) {
  const Dense<double> a = well_conditioned(1100);
  FactorOptions options = options_for(GetParam(), 320);
  const auto with = [&](int threads) {
    Context context(threads);
    options.engine.context = &context;
    return factor_of(a, options);
  };
  const Factor expected = with(1);
  for (const int threads : {2, 8, 64}) {
    for (int run = 0; run < repetitions(3); ++run) {
      EXPECT_TRUE(same_factor(with(threads), expected)) << threads;
    }
  }
}

TEST_P(SameBits, ForAHundredRandomSchedules) {
  const Dense<double> a = well_conditioned(500);
  engine::GraphOptions options;
  options.scratch_bytes = tiles::scratch_bytes(64);
  options.run_by = engine::RunBy::caller;
  const std::vector<double> expected = tiles_from(a, GetParam(), options);
  for (int seed = 1; seed <= (kSanitized ? 3 : 10); ++seed) {
    options.settings = {2 + seed % 3, static_cast<std::uint64_t>(seed)};
    for (int run = 0; run < (kSanitized ? 2 : 10); ++run) {
      options.run_by = run % 2 == 0 ? engine::RunBy::starpu : engine::RunBy::thread_pool;
      ASSERT_TRUE(tiles_from(a, GetParam(), options) == expected) << seed << ", run " << run;
    }
  }
  engine::stop_workers(options.settings);
}

// A task that used more than the data that it names, or wrote to what it only reads, would not have
// the same bits on copies of its data.
TEST_P(SameBits, WithDataInOtherMemory) {
  const Dense<double> a = well_conditioned(650);
  engine::GraphOptions options;
  options.scratch_bytes = tiles::scratch_bytes(64);
  options.run_by = engine::RunBy::caller;
  const std::vector<double> expected = tiles_from(a, GetParam(), options);
  options.copied_data = true;
  EXPECT_TRUE(tiles_from(a, GetParam(), options) == expected);
  EXPECT_TRUE(tiles_from(a, GetParam(), options, 2) == expected);

  const tiles::Grid grid{a.rows, 64};
  const Scale scale = scale_factors(read_diagonal(a.view()), Scaling::powers_of_two);
  const auto norms_of = [&](bool copied) {
    options.copied_data = copied;
    engine::Graph graph(options);
    return tile_norms(graph, StoredBlocks(a.view(), {}), grid, scale, {}, 0);
  };
  EXPECT_EQ(norms_of(true), norms_of(false));
}

TEST_P(SameBits, ForAnyWindow) {
  const Dense<double> a = well_conditioned(650);
  engine::GraphOptions options;
  options.scratch_bytes = tiles::scratch_bytes(64);
  for (const auto run_by :
       {engine::RunBy::caller, engine::RunBy::thread_pool, engine::RunBy::starpu}) {
    options.run_by = run_by;
    const std::vector<double> expected = tiles_from(a, GetParam(), options);
    for (const std::int64_t window : {1, 2, 3, 7, 10}) {
      EXPECT_TRUE(tiles_from(a, GetParam(), options, window) == expected) << window;
    }
    EXPECT_TRUE(tiles_from(a, GetParam(), options, 1000, true) == expected) << "all late";
  }
}

// Windows are used where a single window needs much more memory: few ranks can keep the tiles that
// they receive instead of partial sums, many ranks would have to keep too many.
TEST(ScheduleOfRanks, TakesWindowsWhereOneWouldNeedMuchMoreMemory) {
  const auto window = [](std::int64_t n, const char* map, int rows, int columns, Windows windows) {
    const tiles::RungMap rungs({n, 512}, parse_map(map));
    return schedule_for(rungs, tiles::Distribution::grid(rows, columns), windows).window;
  };
  for (const char* const map : {"bf16", "bf16x2", "fp16", "bf16,fp32,fp64"}) {
    EXPECT_EQ(window(100'000, map, 1, 1, Windows::always), 196) << map;
    EXPECT_EQ(window(16'384, map, 1, 2, Windows::by_memory), 32) << map;
    EXPECT_EQ(window(16'384, map, 1, 2, Windows::always), 16) << map;
    EXPECT_EQ(window(8'192, map, 1, 2, Windows::always), 16) << map;
    EXPECT_EQ(window(4'000, map, 2, 2, Windows::always), 8) << map;
    EXPECT_EQ(window(131'072, map, 8, 8, Windows::by_memory), 16) << map;
  }
  EXPECT_EQ(window(100'000, "bf16", 1, 2, Windows::by_memory), 196);
}

TEST_P(SameBits, ForSeveralCallsAtOnce) {
  const std::vector<std::int64_t> orders = {300, 450, 500, 650};
  std::vector<Dense<double>> a;
  std::vector<Factor> alone;
  for (const std::int64_t n : orders) {
    a.push_back(well_conditioned(n));
    alone.push_back(with_threads(a.back(), GetParam(), 2));
  }
  for (int run = 0; run < 3; ++run) {
    std::vector<Factor> together(orders.size());
    std::vector<std::thread> threads;
    for (std::size_t c = 0; c < orders.size(); ++c) {
      threads.emplace_back([&, c] { together[c] = factor_of(a[c], options_for(GetParam())); });
    }
    for (std::thread& t : threads) t.join();
    for (std::size_t c = 0; c < orders.size(); ++c) {
      EXPECT_TRUE(same_factor(together[c], alone[c])) << orders[c];
    }
  }
}

// A call that fails at an early pivot and a cancelled call do not affect the others.
TEST(FactorConcurrency, KeepsFailuresApart) {
  const Dense<double> good = well_conditioned(650), bad = indefinite(650, 70, -9);
  const Factor expected = factor_of(good, options_for("bf16"));
  for (int run = 0; run < 5; ++run) {
    Progress cancelled;
    cancelled.cancel = true;
    FactorOptions cancel_options = options_for("bf16");
    cancel_options.engine.progress = &cancelled;
    Factor ok, failed, given_up;
    std::thread t1([&] { ok = factor_of(good, options_for("bf16")); });
    std::thread t2([&] { failed = factor_of(bad, options_for("bf16")); });
    std::thread t3([&] { given_up = factor_of(good, cancel_options); });
    t1.join();
    t2.join();
    t3.join();
    EXPECT_TRUE(same_factor(ok, expected));
    EXPECT_EQ(failed.report().outcome, FactorOutcome::not_positive_definite);
    EXPECT_EQ(failed.report().pivot, 70);
    EXPECT_EQ(given_up.report().outcome, FactorOutcome::cancelled);
  }
}

// ---- progress and cancellation

class FactorProgress : public ::testing::TestWithParam<std::tuple<const char*, int>> {
 protected:
  FactorProgress() : context_(std::get<1>(GetParam())), options_(options_for(map())) {
    options_.engine.context = &context_;
    options_.engine.progress = &progress_;
  }
  const char* map() const { return std::get<0>(GetParam()); }

  Context context_;
  Progress progress_;
  FactorOptions options_;
};
INSTANTIATE_TEST_SUITE_P(Factor, FactorProgress,
                         ::testing::Combine(::testing::Values("bf16", "fp64", "int8x14",
                                                              "bf16,fp32", "adaptive:1e-4"),
                                            ::testing::Values(1, 2)));

TEST_P(FactorProgress, ReachesItsTotal) {
  for (const std::int64_t n : {0, 1, 64, 65, 500}) {
    const Factor factor = factor_of(well_conditioned(n), options_);
    EXPECT_TRUE(factor.ok());
    EXPECT_EQ(progress_.done, progress_.total) << n;
    EXPECT_EQ(progress_.total, factor.report().times.tasks) << n;
  }
}

TEST_P(FactorProgress, IsCancelledBeforeItBegins) {
  progress_.cancel = true;
  const Factor factor = factor_of(well_conditioned(500), options_);
  EXPECT_EQ(factor.report().outcome, FactorOutcome::cancelled);
  EXPECT_FALSE(factor.ok());
  std::vector<double> l(500 * 500);
  EXPECT_THROW(factor.copy_to(view(l.data(), 500, 500)), Error);
}

// The cancelling thread may be too late; then the factor is complete, and the test tries again.
TEST_P(FactorProgress, IsCancelledOnTheWay) {
  const Dense<double> a = well_conditioned(700);
  const Factor whole = factor_of(a, options_);
  FactorOutcome outcome = FactorOutcome::ok;
  for (int attempt = 0; attempt < 100 && outcome == FactorOutcome::ok; ++attempt) {
    progress_.done = 0;
    progress_.cancel = false;
    std::thread canceller([&] {
      while (progress_.done < 10) std::this_thread::yield();
      progress_.cancel = true;
    });
    outcome = factor_of(a, options_).report().outcome;
    canceller.join();
  }
  EXPECT_EQ(outcome, FactorOutcome::cancelled);
  progress_.cancel = false;
  EXPECT_TRUE(same_factor(factor_of(a, options_), whole));
}

}  // namespace
}  // namespace stepwell::factor::test
