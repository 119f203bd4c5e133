// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <numeric>

#include "engine/fixture.hpp"
#include "stepwell/error.hpp"

/// What tasks see of the data of a graph, on the workers and on the inserting thread.
namespace stepwell::engine::test {
namespace {

using DataTest = PerThreads;
INSTANTIATE_TEST_SUITE_P(Engine, DataTest, ::testing::Values(1, 2, 4),
                         [](const auto& p) { return "threads" + std::to_string(p.param); });

TEST_P(DataTest, GivesABlockOfAMatrixItsShape) {
  std::vector<double> memory(20 * 7);
  std::iota(memory.begin(), memory.end(), 0.0);
  const MatrixView<const double> a = view<const double>(memory.data(), 17, 7, 20);
  const MatrixView<const double> block = a.block(3, 2, 5, 4);
  std::atomic<int> right{0};
  const Work read = [&](Task& task) {
    const auto seen = task.matrix<const double>(1);
    if (seen.rows != 5 || seen.cols != 4 || seen.ld < 5) return;
    for (std::int64_t j = 0; j < 4; ++j) {
      for (std::int64_t i = 0; i < 5; ++i) right += seen(i, j) == block(i, j) ? 1 : 0;
    }
  };
  float other = 0;
  Graph graph(options_for(threads()));
  const DataId data = graph.add(block);
  const DataId plain = graph.add(&other, sizeof(other));
  for (int k = 0; k < 100; ++k) insert(graph, read, {{plain, Access::read}, {data, Access::read}});
  graph.wait();
  EXPECT_EQ(right, 100 * 20);
}

// Two blocks side by side in one matrix, whose columns alternate in memory.
TEST_P(DataTest, WritesToItsBlockOnly) {
  std::vector<float> memory(12 * 5, -1.0F);
  const MatrixView<float> a = view(memory.data(), 10, 5, 12);
  std::vector<Work> works;
  for (int half = 0; half < 2; ++half) {
    works.push_back([half](Task& task) {
      const auto x = task.matrix<float>(0);
      for (std::int64_t j = 0; j < x.cols; ++j) {
        for (std::int64_t i = 0; i < x.rows; ++i) x(i, j) += static_cast<float>(2 + half);
      }
    });
  }
  Graph graph(options_for(threads()));
  const DataId upper = graph.add(a.block(0, 0, 4, 5));
  const DataId lower = graph.add(a.block(4, 0, 6, 5));
  for (int k = 0; k < 50; ++k) {
    insert(graph, works[0], {{upper, Access::read_write}});
    insert(graph, works[1], {{lower, Access::read_write}});
  }
  graph.wait();
  for (std::int64_t j = 0; j < 5; ++j) {
    for (std::int64_t i = 0; i < 12; ++i) {
      EXPECT_EQ(memory[static_cast<std::size_t>(i + 12 * j)], i < 4 ? 99 : i < 10 ? 149 : -1);
    }
  }
}

TEST_P(DataTest, RejectsATaskThatWouldWriteToConstData) {
  const std::vector<double> memory(16, 1.0);
  std::atomic<int> ran{0};
  const Work work = [&](Task&) { ++ran; };
  Graph graph(options_for(threads()));
  for (const DataId data :
       {graph.add(memory.data(), 128), graph.add(view<const double>(memory.data(), 4, 4))}) {
    EXPECT_THROW(insert(graph, work, {{data, Access::write}}), Error);
    EXPECT_THROW(insert(graph, work, {{data, Access::read_write}}), Error);
    insert(graph, work, {{data, Access::read}});
  }
  graph.wait();
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(graph.times().tasks, 2);
}

TEST_P(DataTest, JoinsNeighbours) {
  std::vector<std::int64_t> memory(30);
  const Work count = [&](Task& task) {
    auto* const all = reinterpret_cast<std::int64_t*>(task.joined(1, 3));
    std::iota(all, all + 30, std::int64_t{0});
  };
  Graph graph(options_for(threads()));
  std::vector<Use> uses(4);
  uses[1] = {graph.add(memory.data(), 8 * 8), Access::write};  // a multiple of 64 bytes, and not
  uses[2] = {graph.add(memory.data() + 8, 8 * 5), Access::write};
  uses[3] = {graph.add(memory.data() + 13, 8 * 17), Access::write};
  double token = 0;
  uses[0] = {graph.add(&token, sizeof(token)), Access::read};
  insert(graph, count, uses);
  graph.wait();
  std::vector<std::int64_t> expected(30);
  std::iota(expected.begin(), expected.end(), std::int64_t{0});
  EXPECT_EQ(memory, expected);
}

TEST_P(DataTest, DoesNotJoinOthers) {
  std::vector<std::byte> memory(300);
  const Work join = [&](Task& task) { task.joined(0, 2); };
  Graph graph(options_for(threads()));
  const DataId first = graph.add(memory.data(), 100), third = graph.add(memory.data() + 200, 100);
  insert(graph, join, {{first, Access::read}, {third, Access::read}});
  EXPECT_THROW(graph.wait(), Error);
}

}  // namespace
}  // namespace stepwell::engine::test
