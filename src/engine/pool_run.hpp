// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "engine/counter.hpp"
#include "engine/graph.hpp"
#include "engine/thread_pool.hpp"

namespace stepwell::engine {

/// Runs a small task graph on a thread pool: tasks are recorded with what they wait for, and then
/// run by all threads, the highest priority first. A task costs 1 to 2 us, and there is nothing to
/// start; StarPU, which is for large graphs and ranks, takes 20 us a task and 10 ms to start.
class PoolRun {
 public:
  /// Runs a task's body on a thread of the pool.
  using Runner = std::function<void(Body body, const void* arguments, const Piece* pieces,
                                    std::size_t thread)>;

  PoolRun(int threads, Runner runner);

  /// Records a task. 'pieces' are in the order of 'uses'; 'size' bytes of arguments are copied.
  void insert(Body body, const void* arguments, std::size_t size, std::span<const Use> uses,
              std::span<const Piece> pieces, int priority);
  /// Runs the recorded tasks.
  void run();
  /// Forgets the recorded tasks.
  void clear();

  std::size_t recorded() const { return nodes_.size(); }
  int threads() const { return pool_.requested(); }

 private:
  struct Node {
    Body body = nullptr;
    std::vector<std::byte> arguments;
    std::vector<Piece> pieces;
    std::vector<std::size_t> next;  ///< tasks that wait for this one
    int waits_for = 0;              ///< number of unfinished tasks
    int priority = 0;
  };
  /// The tasks that last used a piece of data.
  struct History {
    std::ptrdiff_t writer = -1;
    std::vector<std::size_t> readers;  ///< since it was written
  };
  struct Ready {
    int priority;
    std::size_t node;
    /// Among equal priorities, the task that was inserted first.
    bool operator<(const Ready& other) const {
      return priority != other.priority ? priority < other.priority : node > other.node;
    }
  };

  void wait_for(std::size_t earlier, std::size_t later);
  void make_ready(std::size_t node);
  void work(std::size_t thread);
  /// Marks a task as finished, and makes ready what waited only for it.
  void finish(std::size_t node);

  ThreadPool pool_;
  Runner runner_;
  std::vector<Node> nodes_;
  std::vector<History> history_;  ///< by DataId
  std::mutex mutex_;              ///< guards what follows
  std::vector<Ready> ready_;      ///< a heap, with room for all tasks: workers can't allocate
  std::size_t finished_ = 0;
  Counter changed_;  ///< more work, or the end of it
};

}  // namespace stepwell::engine
