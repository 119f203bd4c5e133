// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <mutex>
#include <set>

#include "engine/fixture.hpp"
#include "engine/threads/thread_pool.hpp"
#include "stepwell/context.hpp"
#include "stepwell/error.hpp"

/// Workers are started when they are needed, in the requested number, and end with their context;
/// and the order in which they take ready tasks.
namespace stepwell::engine::test {
namespace {

/// Runs one task on the workers.
int use_workers(const Settings& settings) {
  GraphOptions options;
  options.settings = settings;
  const Work nothing = [](Task&) {};
  Graph graph(options);
  insert(graph, nothing);
  graph.wait();
  return graph.times().workers;
}

class RuntimeTest : public ::testing::Test {
 protected:
  RuntimeTest() {
    stop_all_workers();
    idle_ = thread_count();
  }
  int started() const { return thread_count() - idle_; }

 private:
  int idle_ = 0;
};

TEST_F(RuntimeTest, StartsNothingBeforeItIsNeeded) {
  const Context context(4);
  EXPECT_EQ(started(), 0);
  EXPECT_EQ(context.threads(), 4);
  const Work nothing = [](Task&) {};
  Graph graph(options_for(1));
  insert(graph, nothing);
  graph.wait();
  EXPECT_EQ(started(), 0);
}

TEST_F(RuntimeTest, StartsAsManyWorkersAsWereAskedFor) {
  for (const int threads : {2, 4, 3, 1}) {
    EXPECT_EQ(use_workers({threads, 0}), threads);
    EXPECT_GE(started(), threads);
    EXPECT_LT(started(), threads + 3);  // StarPU may have one or two threads of its own
  }
  stop_workers({1, 0});
  EXPECT_EQ(started(), 0);
}

TEST_F(RuntimeTest, StartsAsManyAsAllowedByDefault) {
  EXPECT_EQ(use_workers({0, 0}), std::min(threads_of(nullptr), worker_limit()));
  EXPECT_GE(threads_of(nullptr), 1);
  EXPECT_EQ(Context().threads(), threads_of(nullptr));
  EXPECT_EQ(Context(1000).threads(), 1000);  // StarPU's limit is not that of the thread pool
  stop_workers({0, 0});
  EXPECT_EQ(started(), 0);
}

TEST_F(RuntimeTest, KeepsTheWorkersBetweenCalls) {
  use_workers({2, 0});
  const int workers = started();
  for (int call = 0; call < 10; ++call) use_workers({2, 0});
  EXPECT_EQ(started(), workers);
}

TEST_F(RuntimeTest, SharesBusyWorkersWhateverTheirNumber) {
  const Session busy({2, 0});
  EXPECT_EQ(use_workers({3, 0}), 2);
  stop_workers({2, 0});  // has no effect while a session lives
  EXPECT_EQ(use_workers({2, 0}), 2);
}

TEST_F(RuntimeTest, EndsTheWorkersWithTheirContext) {
  {
    const Context context(3);
    use_workers({context.threads(), 0});
    EXPECT_GE(started(), 3);
    { const Context another(2); }
    EXPECT_GE(started(), 3);
  }
  EXPECT_EQ(started(), 0);
}

// Idle workers must use hardly any processor time of this process.
TEST_F(RuntimeTest, LetsWorkersSleepBetweenCalls) {
  use_workers({4, 0});
  const auto used = [] {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const double before = used();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_LT(used() - before, 0.2);  // one worker that polls for work all the time takes 0.4
}

TEST_F(RuntimeTest, WakesWorkersWhenTheyHaveSomethingToDo) {
  constexpr int kTasks = 200;
  std::atomic<int> begun{0};
  const Work work = [&](Task&) { ++begun; };
  Graph graph(options_for(2));
  for (int i = 0; i < 10; ++i) insert(graph, work);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(begun, 0) << "workers must sleep while few tasks are inserted";
  for (int i = 10; i < kTasks; ++i) insert(graph, work);
  while (begun == 0) std::this_thread::yield();  // many tasks start before wait()
  graph.wait();
  EXPECT_EQ(begun, kTasks);
}

// ---- the order of ready tasks

/// The order in which one worker runs 40 independent tasks that are all ready when it looks for
/// work; task i has priority priorities[i].
std::vector<int> order_of(const Settings& settings, const std::vector<int>& priorities) {
  GraphOptions options;
  options.settings = settings;
  std::atomic<bool> release{false}, began{false};
  const Work block = [&](Task&) {
    began = true;
    while (!release) std::this_thread::yield();
  };
  std::vector<int> order;  // one worker: no lock
  std::vector<Work> works;
  for (int i = 0; i < 40; ++i) works.push_back([&order, i](Task&) { order.push_back(i); });
  const Session awake(settings);
  Graph graph(options);
  insert(graph, block);
  while (!began) std::this_thread::yield();
  for (std::size_t i = 0; i < works.size(); ++i) insert(graph, works[i], {}, priorities[i]);
  release = true;
  graph.wait();
  return order;
}

TEST_F(RuntimeTest, TakesWhatHasPriorityFirst) {
  std::vector<int> priorities(40), expected(40);
  for (int i = 0; i < 40; ++i) {
    priorities[i] = i * 17 % 40;
    expected[39 - priorities[i]] = i;
  }
  EXPECT_EQ(order_of({1, 0}, priorities), expected);
}

// Two random orders of 40 tasks are equal by chance once in 1e47.
TEST_F(RuntimeTest, ShufflesIndependentTasksDifferentlyForEachSeed) {
  const std::vector<int> priorities(40);
  std::set<std::vector<int>> orders = {order_of({1, 0}, priorities)};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::vector<int> order = order_of({1, seed}, priorities);
    EXPECT_TRUE(orders.insert(order).second) << seed;
    std::sort(order.begin(), order.end());
    for (int i = 0; i < 40; ++i) ASSERT_EQ(order.at(i), i) << seed;
  }
}

TEST_F(RuntimeTest, ShufflesNoDependentTasks) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    GraphOptions options;
    options.settings = {3, seed};
    std::vector<std::vector<int>> order(8);
    std::vector<double> token(8);
    std::vector<Work> works;
    for (int i = 0; i < 400; ++i) {
      works.push_back([&order, i](Task&) { order[i % 8].push_back(i); });
    }
    Graph graph(options);
    std::vector<DataId> data;
    for (double& t : token) data.push_back(graph.add(&t, sizeof(t)));
    for (int i = 0; i < 400; ++i) insert(graph, works[i], {{data[i % 8], Access::read_write}});
    graph.wait();
    for (const std::vector<int>& chain : order) {
      EXPECT_EQ(chain.size(), 50U);
      EXPECT_TRUE(std::is_sorted(chain.begin(), chain.end())) << seed;
    }
  }
}

TEST(ContextTest, RefusesANegativeNumber) {
  try {
    const Context context(-2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("-2"), std::string::npos);
  }
}

}  // namespace
}  // namespace stepwell::engine::test
