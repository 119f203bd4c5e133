// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/simulation/simulated_run.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/fixture.hpp"

/// A simulated machine takes as long as a real one with the same tasks would.
namespace stepwell::engine::test {
namespace {

/// Tasks cost nothing but what they are said to take.
SimulatedMachine free_engine(int workers) {
  SimulatedMachine m;
  m.workers = workers;
  m.insert = m.insert_use = m.take = 0;
  m.core_bandwidth = 1000;
  return m;
}

/// For machines without a limit of the memory, the size of data does not matter.
constexpr std::span<const Piece> none;
const Piece hundred_bytes{nullptr, 100, 1, 100, 1};

TaskTimes seconds_each(double seconds) {
  TaskTimes times;
  times.record("task", {}, {seconds});
  return times;
}

TEST(TaskTimes, AreTheLowestTenthAndLinesThroughIt) {
  TaskTimes times;
  const auto seconds = [&](std::uint32_t depth, std::uint32_t variant = 0) {
    return times.of("sweep", {depth, variant}).seconds;
  };
  EXPECT_EQ(seconds(4), 0);
  times.record("sweep", {4}, {2});
  EXPECT_EQ(seconds(100), 2);  // nothing else is known
  for (const double s : {900.0, 1.0, 2.0, 800.0}) times.record("sweep", {4}, {s});
  for (const double s : {6.0, 6.0, 6.5}) times.record("sweep", {8}, {s});
  EXPECT_EQ(seconds(4), 1);
  EXPECT_EQ(seconds(8), 6);
  EXPECT_EQ(seconds(6), 3.5);
  EXPECT_EQ(seconds(12), 11);
  EXPECT_EQ(seconds(1), 0);  // never negative
  EXPECT_EQ(times.of("panel", {8}).seconds, 0);
  times.record("sweep", {8, 4}, {20});
  EXPECT_EQ(seconds(8), 6);
  EXPECT_EQ(seconds(8, 4), 20);
  EXPECT_EQ(seconds(8, 5), 20);  // the nearest variant
  EXPECT_EQ(seconds(8, 3), 6);
}

TEST(SimulatedRun, SharesIndependentTasksAndNotAChain) {
  const TaskTimes times = seconds_each(1);
  for (const int workers : {1, 2, 3, 8, 64}) {
    SimulatedRun shared(free_engine(workers), times), chain(free_engine(workers), times);
    for (DataId k = 0; k < 24; ++k) {
      const Use own{k, Access::write}, same{0, Access::read_write};
      shared.insert("task", {&own, 1}, none, {});
      chain.insert("task", {&same, 1}, none, {});
    }
    shared.wait();
    chain.wait();
    EXPECT_EQ(shared.times().seconds, (24 + workers - 1) / workers);
    EXPECT_EQ(shared.times().chain, 1);
    EXPECT_EQ(chain.times().seconds, 24);
    EXPECT_EQ(chain.times().chain, 24);
    EXPECT_EQ(chain.times().work, 24);
    EXPECT_EQ(chain.times().tasks, 24);
  }
}

TEST(SimulatedRun, ReadersRunTogetherAndAWriterWaitsForThem) {
  const TaskTimes times = seconds_each(1);
  SimulatedRun run(free_engine(4), times);
  const Use write{0, Access::write}, read{0, Access::read};
  run.insert("task", {&write, 1}, none, {});
  for (int k = 0; k < 4; ++k) run.insert("task", {&read, 1}, none, {});
  run.insert("task", {&write, 1}, none, {});
  run.wait();
  EXPECT_EQ(run.times().seconds, 3);
  const Use other{1, Access::write};
  run.insert("task", {&other, 1}, none, {});
  run.wait();  // after the others have finished
  EXPECT_EQ(run.times().seconds, 4);
}

TEST(SimulatedRun, TheHighestPriorityComesFirst) {
  TaskTimes times;
  times.record("short", {}, {1});
  times.record("long", {}, {10});
  for (const int urgent : {0, 1}) {
    SimulatedRun run(free_engine(3), times);  // one of them inserts
    for (DataId k = 0; k < 20; ++k) {
      const Use own{k, Access::write};
      run.insert("short", {&own, 1}, none, {});
    }
    const Use own{20, Access::write};
    run.insert("long", {&own, 1}, none, {urgent});
    run.wait();
    // In order: 20 short ones on three workers, then the long one. Otherwise they run together.
    EXPECT_EQ(run.times().seconds, urgent != 0 ? 10 : 16);
  }
}

// A task of 2 + 24 seconds, in two phases with four pieces of 3 seconds each.
TEST(SimulatedRun, WorkersWithoutATaskTakePieces) {
  TaskTimes times;
  times.record("shared", {}, {26, 24, 2, 8});
  times.record("task", {}, {1});
  for (const auto& [workers, seconds] : {std::pair{1, 26}, {2, 14}, {3, 14}, {4, 8}, {64, 8}}) {
    SimulatedMachine m = free_engine(workers);
    m.share = 0;
    SimulatedRun run(m, times);
    const Use own{0, Access::write};
    run.insert("shared", {&own, 1}, none, {});
    run.wait();
    EXPECT_EQ(run.times().seconds, seconds) << workers;
    EXPECT_EQ(run.times().chain, workers == 1 ? 26 : 8);
    EXPECT_EQ(run.times().work, 26);
  }
  // Two workers: one takes the 13 tasks first, and then half of the 13 seconds that are left.
  SimulatedMachine m = free_engine(2);
  m.share = 0;
  SimulatedRun run(m, times);
  const Use own{0, Access::write};
  run.insert("shared", {&own, 1}, none, {1});
  for (DataId k = 1; k <= 13; ++k) {
    const Use other{k, Access::write};
    run.insert("task", {&other, 1}, none, {});
  }
  run.wait();
  EXPECT_EQ(run.times().seconds, 20);
}

TEST(SimulatedRun, InsertionAndMemoryLimitIt) {
  const TaskTimes times = seconds_each(1);
  SimulatedMachine m = free_engine(64);
  m.insert = 2;
  m.insert_use = 0.5;
  SimulatedRun slow(m, times);
  for (DataId k = 0; k < 10; ++k) {
    const Use own{k, Access::write};
    slow.insert("task", {&own, 1}, none, {});
  }
  slow.wait();
  EXPECT_EQ(slow.times().seconds, 26);  // the last task is inserted at 25
  EXPECT_EQ(slow.times().insertion, 25);

  m = free_engine(8);
  m.bandwidth = 100;
  SimulatedRun narrow(m, times);
  for (DataId k = 0; k < 8; ++k) {
    const Use own{k, Access::write};
    narrow.insert("task", {&own, 1}, {&hundred_bytes, 1}, {});
  }
  narrow.wait();
  EXPECT_EQ(narrow.times().memory, 8);
  EXPECT_GE(narrow.times().seconds, 8);  // as many seconds as the memory needs, at least
  EXPECT_LE(narrow.times().seconds, 9);
}

TEST(SimulatedRun, DataInTheCacheIsNotReadAgain) {
  const TaskTimes times = seconds_each(1);
  SimulatedMachine m = free_engine(1);
  m.bandwidth = 100;
  for (const double cache : {0.0, 250.0, 1000.0}) {
    m.cache = cache;
    SimulatedRun run(m, times);
    for (const DataId data : {0, 0, 1, 0, 2, 3, 0}) {
      const Use use{data, Access::read};
      run.insert("task", {&use, 1}, {&hundred_bytes, 1}, {});
    }
    run.wait();
    // Two pieces fit into the second cache: 0 is dropped for 3 and comes again.
    EXPECT_EQ(run.times().memory, cache == 0 ? 6 : cache == 250 ? 5 : 4) << cache;
  }
}

TEST(SimulatedRun, ReplaysAGraphInsteadOfRunningIt) {
  const Work never = [](Task&) { ADD_FAILURE() << "a task ran"; };
  TaskTimes times;
  SimulatedRun run(free_engine(2), times);
  GraphOptions options;
  options.run_by = RunBy::caller;
  options.simulated = &run;
  Graph graph(options);
  for (int k = 0; k < 5; ++k) insert(graph, never);
  graph.wait();
  EXPECT_EQ(run.times().tasks, 5);
}

TEST(SimulatedRun, TheTimesOfTasksAreMeasured) {
  TaskTimes times;
  GraphOptions options;
  options.run_by = RunBy::caller;
  options.measured = &times;
  Graph graph(options);
  int calls = 0, pieces = 0;
  const Work count = [&](Task& task) {
    ++calls;
    for (int phase = 0; phase < 2; ++phase) {
      core::run_pieces(task.sharing(), 3, task.scratch(),
                       [&](std::int64_t, std::byte*) { ++pieces; });
    }
  };
  for (int k = 0; k < 5; ++k) insert(graph, count);
  graph.wait();
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(pieces, 30);
  EXPECT_FALSE(times.empty());
}

}  // namespace
}  // namespace stepwell::engine::test
