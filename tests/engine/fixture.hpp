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

/// Code shared by the engine's tests: tasks that call functions of the test, on StarPU itself.
namespace stepwell::engine::test {

using stepwell::test::kSanitized;

/// The function that a task calls. Must live until the graph has been waited for.
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
  graph.insert(call_codelet(), &work, uses, {priority});
}

/// A graph for this many threads; 1: only the inserting thread.
inline GraphOptions options_for(int threads, Progress* progress = nullptr) {
  GraphOptions options;
  options.run_by = threads > 1 ? RunBy::starpu : RunBy::caller;
  options.settings.threads = threads;
  options.progress = progress;
  return options;
}

/// Yields repeatedly, so that a possible data race becomes likely.
inline void linger() {
  for (int i = 0; i < 20; ++i) std::this_thread::yield();
}

/// Runs with each number of threads.
class PerThreads : public ::testing::TestWithParam<int> {
 protected:
  int threads() const { return GetParam(); }
};

/// The number of threads of this process.
int thread_count();

/// Stops all workers, if there are any.
void stop_all_workers();

}  // namespace stepwell::engine::test
