// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "engine/graph.hpp"
#include "sanitized.hpp"

/// What the engine's tests share: tasks that are functions of the test's, on StarPU itself.
namespace stepwell::engine::test {

using stepwell::test::kSanitized;

/// What a task does. Must live until the graph has been waited for.
using Work = std::function<void(Task&)>;

inline const Codelet& call_codelet() {
  static const Codelet* const codelet =
      new Codelet("test_call", [](Task& task, const void* arguments) {
        (**static_cast<const Work* const*>(arguments))(task);
      });
  return *codelet;
}

inline void insert(Graph& graph, const Work& work, const std::vector<Use>& uses = {},
                   int priority = 0) {
  graph.insert(call_codelet(), &work, uses, {priority, 0, 0});
}

/// A graph for this many threads; 1: the inserting thread alone.
inline GraphOptions options_for(int threads, Progress* progress = nullptr) {
  GraphOptions options;
  options.workers = threads > 1;
  options.settings.threads = threads;
  options.progress = progress;
  return options;
}

/// Gives every other thread a chance; a data race that is possible becomes likely.
inline void linger() {
  for (int i = 0; i < 20; ++i) std::this_thread::yield();
}

/// Runs with each number of threads.
class PerThreads : public ::testing::TestWithParam<int> {
 protected:
  int threads() const { return GetParam(); }
};

/// The threads of this process.
int thread_count();

/// Ends whatever workers there are.
void stop_all_workers();

}  // namespace stepwell::engine::test
