// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

#include "engine/fixture.hpp"
#include "stepwell/error.hpp"

/// A graph gives the results of running its tasks in the order of insertion, on any number of
/// threads, and ends early when it is stopped.
namespace stepwell::engine::test {
namespace {

struct Runner {
  RunBy run_by;
  int threads;
};

class GraphTest : public ::testing::TestWithParam<Runner> {
 protected:
  int threads() const { return GetParam().threads; }
  GraphOptions options(Progress* progress = nullptr) const {
    GraphOptions o = options_for(threads(), progress);
    o.run_by = GetParam().run_by;
    return o;
  }
};
INSTANTIATE_TEST_SUITE_P(Engine, GraphTest,
                         ::testing::Values(Runner{RunBy::caller, 1}, Runner{RunBy::starpu, 2},
                                           Runner{RunBy::starpu, 4}, Runner{RunBy::thread_pool, 2},
                                           Runner{RunBy::thread_pool, 4},
                                           Runner{RunBy::thread_pool, 16}),
                         [](const auto& p) {
                           return (p.param.run_by == RunBy::thread_pool ? "pool" : "threads") +
                                  std::to_string(p.param.threads);
                         });

TEST_P(GraphTest, RunsAChainInOrder) {
  std::vector<int> order;  // no lock: the shared data orders the tasks
  double token = 0;
  std::vector<Work> works;
  for (int i = 0; i < 300; ++i) works.push_back([&order, i](Task&) { order.push_back(i); });
  Graph graph(options());
  const DataId data = graph.add(&token, sizeof(token));
  for (const Work& work : works) insert(graph, work, {{data, Access::read_write}});
  graph.wait();
  std::vector<int> expected(300);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
  EXPECT_EQ(graph.times().tasks, 300);
  EXPECT_EQ(graph.times().workers, threads());
}

TEST_P(GraphTest, KeepsAWriterAfterTheReadersBeforeIt) {
  std::int64_t value = 0;
  std::atomic<int> wrong{0}, reads{0};
  const auto at = [](Task& task) { return reinterpret_cast<std::int64_t*>(task.data(0)); };
  const Work write = [&](Task& task) { ++*at(task); };
  std::vector<Work> readers;
  for (int round = 1; round <= 30; ++round) {
    readers.push_back([&, round](Task& task) {
      for (int repeat = 0; repeat < 5; ++repeat) {
        if (*at(task) != round) ++wrong;
        linger();
      }
      ++reads;
    });
  }
  Graph graph(options());
  const DataId data = graph.add(&value, sizeof(value));
  for (const Work& read : readers) {
    insert(graph, write, {{data, Access::read_write}});
    for (int i = 0; i < 8; ++i) insert(graph, read, {{data, Access::read}});
  }
  graph.wait();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(reads, 30 * 8);
  EXPECT_EQ(value, 30);
}

/// Random tasks on eight values: each writes one value from up to three others. The result shows if
/// any two dependent tasks ran in the wrong order.
std::vector<std::uint64_t> random_program(const GraphOptions& options, std::uint64_t seed) {
  std::vector<std::uint64_t> values(8);
  std::iota(values.begin(), values.end(), std::uint64_t{1});
  std::mt19937_64 random(seed);
  const Work mix = [](Task& task) {
    auto& target = *reinterpret_cast<std::uint64_t*>(task.data(0));
    const auto first = *reinterpret_cast<const std::uint64_t*>(task.data(1));
    const auto second = *reinterpret_cast<const std::uint64_t*>(task.data(2));
    target = (target ^ first) * 0x9e3779b97f4a7c15U + second;
  };
  const Work replace = [](Task& task) {  // the target's old value is not used
    const auto from = *reinterpret_cast<const std::uint64_t*>(task.data(1));
    *reinterpret_cast<std::uint64_t*>(task.data(0)) = from * 3 + 1;
  };
  Graph graph(options);
  std::vector<DataId> data;
  for (std::uint64_t& number : values) data.push_back(graph.add(&number, sizeof(number)));
  for (int i = 0; i < 500; ++i) {
    std::shuffle(data.begin(), data.end(), random);
    if (random() % 4 == 0) {
      insert(graph, replace, {{data[0], Access::write}, {data[1], Access::read}});
    } else {
      insert(graph, mix,
             {{data[0], Access::read_write}, {data[1], Access::read}, {data[2], Access::read}});
    }
  }
  graph.wait();
  return values;
}

TEST_P(GraphTest, GivesWhatOneThreadWouldForRandomPrograms) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_EQ(random_program(options(), seed), random_program(options_for(1), seed)) << seed;
  }
}

TEST_P(GraphTest, GivesEachTaskAScratchOfItsOwn) {
  constexpr std::int64_t kBytes = 10'000;
  std::atomic<int> wrong{0}, next{0};
  const Work work = [&](Task& task) {
    const int own = next++ % 251;
    std::memset(task.scratch(), own, kBytes);
    linger();
    for (std::int64_t i = 0; i < kBytes; ++i) {
      if (task.scratch()[i] != static_cast<std::byte>(own)) ++wrong;
    }
    if (reinterpret_cast<std::uintptr_t>(task.scratch()) % 64 != 0) ++wrong;
  };
  GraphOptions with_scratch = options();
  with_scratch.scratch_bytes = kBytes;
  Graph graph(with_scratch);
  for (int i = 0; i < 200; ++i) insert(graph, work);
  graph.wait();
  EXPECT_EQ(next, 200);
  EXPECT_EQ(wrong, 0);
}

TEST_P(GraphTest, SharesThePiecesOfATask) {
  // Several tasks at a time, pieces of different lengths, and other tasks between them.
  constexpr int kTasks = 40, kPieces = 50;
  std::vector<std::atomic<int>> calls(kTasks * kPieces);
  std::atomic<int> wrong{0}, others{0};
  std::vector<Work> works;
  for (int t = 0; t < kTasks; ++t) {
    works.push_back([&, t](Task& task) {
      const std::int64_t count = t % 5 == 0 ? t % 3 : kPieces;
      for (int round = 0; round < 3; ++round) {
        const auto piece = [&](std::int64_t i, std::byte* scratch) {
          *scratch = static_cast<std::byte>(i);
          if (i % 7 == 0) linger();
          if (*scratch != static_cast<std::byte>(i))
            ++wrong;  // another thread has the same scratch
          ++calls[static_cast<std::size_t>(t * kPieces + i)];
        };
        core::run_pieces(task.sharing(), count, task.scratch(), piece);
        for (std::int64_t i = 0; i < count; ++i) {
          if (calls[static_cast<std::size_t>(t * kPieces + i)] != round + 1) ++wrong;
        }
      }
    });
  }
  const Work other = [&](Task&) { ++others; };
  GraphOptions o = options();
  o.scratch_bytes = 64;
  Graph graph(o);
  for (const Work& work : works) {
    insert(graph, work, {}, 1);
    insert(graph, other);
  }
  graph.wait();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(others, kTasks);
}

TEST_P(GraphTest, CopiesArguments) {
  struct Arguments {
    std::atomic<std::int64_t>* sum;
    std::int64_t value;
    char padding[100];
  };
  static const auto* const add = new Codelet("test_add", [](Task&, const void* arguments) {
    const auto* const a = static_cast<const Arguments*>(arguments);
    *a->sum += a->value;
  });
  std::atomic<std::int64_t> sum{0};
  Graph graph(options());
  for (std::int64_t i = 1; i <= 100; ++i) {
    Arguments arguments{&sum, i, {}};
    graph.insert(*add, arguments, {}, {});
    arguments.value = 1'000'000;
  }
  graph.wait();
  EXPECT_EQ(sum, 5050);
}

TEST_P(GraphTest, TakesMoreTasksThanMayWait) {
  std::atomic<int> ran{0};
  const Work work = [&](Task&) { ++ran; };
  Progress progress;
  double token = 0;
  Graph graph(options(&progress));
  const DataId data = graph.add(&token, sizeof(token));
  for (int i = 0; i < 10'000; ++i) {
    insert(graph, work, {{data, i % 100 == 0 ? Access::read_write : Access::read}});
  }
  graph.wait();
  EXPECT_EQ(ran, 10'000);
  EXPECT_EQ(progress.done, 10'000);
}

TEST_P(GraphTest, BooksTimeOnPhases) {
  const Work work = [](Task& task) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    task.lap(Phase::solve);
  };
  Graph graph(options());
  for (int i = 0; i < 5; ++i) insert(graph, work);
  graph.wait();
  const GraphTimes times = graph.times();
  EXPECT_GE(times.seconds[static_cast<std::size_t>(Phase::solve)], 5 * 0.002);
  EXPECT_EQ(times.seconds[static_cast<std::size_t>(Phase::update)], 0);
}

// ---- stopping

TEST_P(GraphTest, RethrowsWhatATaskThrewAndRunsNothingAfterIt) {
  std::atomic<int> ran{0};
  const Work work = [&](Task&) { ++ran; };
  const Work fail = [](Task&) { throw std::out_of_range("the ninth"); };
  double token = 0;
  Graph graph(options());
  const DataId data = graph.add(&token, sizeof(token));
  for (int i = 0; i < 8; ++i) insert(graph, work, {{data, Access::read_write}});
  insert(graph, fail, {{data, Access::read_write}});
  for (int i = 0; i < 100; ++i) insert(graph, work, {{data, Access::read_write}});
  EXPECT_THROW(graph.wait(), std::out_of_range);
  EXPECT_TRUE(graph.stopped());
  EXPECT_EQ(ran, 8);
  for (int i = 0; i < 100; ++i) insert(graph, work);  // no dependency, but still not run
  EXPECT_THROW(graph.wait(), std::out_of_range);
  EXPECT_EQ(ran, 8);
}

TEST_P(GraphTest, MayBeDroppedAfterATaskThrew) {
  const Work fail = [](Task&) { throw Error(ErrorCode::internal, "unseen"); };
  Graph graph(options());
  for (int i = 0; i < 10; ++i) insert(graph, fail);
}

TEST_P(GraphTest, RunsNothingAfterStop) {
  std::atomic<int> ran{0};
  const Work work = [&](Task&) { ++ran; };
  const Work stop = [](Task& task) { task.stop(); };
  double token = 0;
  Graph graph(options());
  EXPECT_FALSE(graph.stopped());
  const DataId data = graph.add(&token, sizeof(token));
  for (int i = 0; i < 5; ++i) insert(graph, work, {{data, Access::read_write}});
  insert(graph, stop, {{data, Access::read_write}});
  for (int i = 0; i < 100; ++i) insert(graph, work, {{data, Access::read}});
  graph.wait();
  EXPECT_TRUE(graph.stopped());
  EXPECT_EQ(ran, 5);
}

// After cancellation, at most one task per worker may still begin: one that had already passed the
// check.
TEST_P(GraphTest, GivesUpAtOnceWhenCancelled) {
  Progress progress;
  std::atomic<int> ran{0}, late{0};
  const Work work = [&](Task&) {
    if (progress.cancel) ++late;
    if (++ran == 20) progress.cancel = true;
    linger();
  };
  Graph graph(options(&progress));
  for (int i = 0; i < 500; ++i) insert(graph, work);
  graph.wait();
  EXPECT_TRUE(graph.stopped());
  EXPECT_GE(ran, 20);
  EXPECT_LE(late, threads());
  EXPECT_EQ(progress.done, 500);
}

// After the guard's destructor no task runs, so the memory that tasks use may be freed.
TEST_P(GraphTest, RunsNothingOnceItIsAbandoned) {
  std::atomic<int> ran{0};
  std::atomic<bool> gone{false}, late{false};
  const Work work = [&](Task&) {
    linger();
    if (gone) late = true;
    ++ran;
  };
  Graph graph(options());
  {
    const TaskGuard guard(graph);
    for (int i = 0; i < 200; ++i) insert(graph, work);
  }
  gone = true;
  const int before = ran;
  linger();
  EXPECT_EQ(ran, before);
  EXPECT_FALSE(late);
  EXPECT_LE(threads() == 1 ? 200 : 0, before);
}

TEST_P(GraphTest, WaitsForWhatRunsWhenItIsDropped) {
  std::atomic<int> inside{0};
  const Work work = [&](Task&) {
    ++inside;
    linger();
    --inside;
  };
  for (int round = 0; round < 20; ++round) {
    {
      Graph graph(options());
      for (int i = 0; i < 50; ++i) insert(graph, work);
    }
    ASSERT_EQ(inside, 0);
  }
}

TEST_P(GraphTest, SchedulesAndRunsNothingWhenDry) {
  std::atomic<int> ran{0};
  const Work work = [&](Task&) { ++ran; };
  Progress progress;
  GraphOptions dry = options(&progress);
  dry.dry = true;
  Graph graph(dry);
  for (int i = 0; i < 50; ++i) insert(graph, work);
  graph.wait();
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(progress.done, 50);
  EXPECT_EQ(graph.workers(), threads());
}

// ---- several graphs

// The first graph can't end before the second one has: waiting for both would never end.
TEST(ConcurrentGraphs, WaitsForItsOwnTasksOnly) {
  std::atomic<bool> release{false}, began{false};
  const Work block = [&](Task&) {
    began = true;
    while (!release) std::this_thread::yield();
  };
  const Session awake({2, 0});
  Graph first(options_for(2));
  insert(first, block);
  while (!began) std::this_thread::yield();
  std::atomic<int> ran{0};
  const Work work = [&](Task&) { ++ran; };
  std::thread other([&] {
    Graph second(options_for(2));
    for (int i = 0; i < 100; ++i) insert(second, work);
    second.wait();
    EXPECT_EQ(ran, 100);
  });
  other.join();
  release = true;
  first.wait();
}

TEST(ConcurrentGraphs, RunsManyGraphsFromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int round = 0; round < 10; ++round) {
        const auto seed = static_cast<std::uint64_t>(10 * t + round);
        GraphOptions two = options_for(2);
        if (t % 2 == 0) two.run_by = RunBy::thread_pool;
        EXPECT_EQ(random_program(two, seed), random_program(options_for(1), seed)) << seed;
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(ConcurrentGraphs, KeepsFailuresApart) {
  const Work fail = [](Task&) { throw std::runtime_error("mine"); };
  std::atomic<int> ran{0};
  const Work work = [&](Task&) { ++ran; };
  Graph bad(options_for(2)), good(options_for(2));
  insert(bad, fail);
  EXPECT_THROW(bad.wait(), std::runtime_error);
  for (int i = 0; i < 100; ++i) insert(good, work);
  good.wait();
  EXPECT_EQ(ran, 100);
  EXPECT_FALSE(good.stopped());
}

}  // namespace
}  // namespace stepwell::engine::test
