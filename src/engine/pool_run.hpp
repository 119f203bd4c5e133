// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "engine/access_history.hpp"
#include "engine/graph.hpp"
#include "engine/ready_task.hpp"
#include "engine/threads/event_count.hpp"
#include "engine/threads/thread_pool.hpp"

namespace stepwell::engine {

/// Limit of tasks and messages that are pending: enough for any number of workers, at little
/// memory.
inline constexpr std::int64_t kMostPending = 4096;

/// Runs a task graph on a thread pool, while it is inserted: a task has a counter of the tasks it
/// waits for, and those that wait for nothing are run by the threads, the highest priority first.
/// Threads without a task sleep. A task costs 1 to 2 us, and there is nothing to start; StarPU,
/// which is for devices and ranks, takes 20 us a task and 10 ms to start.
class PoolRun {
 public:
  /// Runs a task's body on a thread of the pool. It must not throw.
  using Runner = std::function<void(Body body, const void* arguments, const engine::Piece* pieces,
                                    std::size_t thread)>;

  PoolRun(int threads, Runner runner);
  ~PoolRun() { wait(); }
  PoolRun(const PoolRun&) = delete;
  PoolRun& operator=(const PoolRun&) = delete;

  /// Inserts a task, from one thread. 'pieces' are in the order of 'uses'; 'size' bytes of
  /// arguments are copied. If many tasks are pending, the caller runs some of them.
  void insert(Body body, const void* arguments, std::size_t size, std::span<const Use> uses,
              std::span<const engine::Piece> pieces, int priority);
  /// Runs tasks until all have finished, and lets the threads sleep.
  void wait();
  /// To be called by a task, on its thread: calls piece(i, thread) for i = 0 .. count - 1 here and
  /// on threads that have no task. A piece must not throw.
  using Piece = std::function<void(std::int64_t i, std::size_t thread)>;
  void share(std::size_t thread, std::int64_t count, const Piece& piece);

  int threads() const { return pool_.requested(); }

 private:
  /// A slot for a pending task. It is used again, so that inserting need not allocate memory.
  struct Node {
    std::int64_t id = 0;  ///< position in the order of insertion, from 1; 0: the slot is free
    Body body = nullptr;
    std::vector<std::byte> arguments;
    std::vector<engine::Piece> pieces;
    std::vector<std::size_t> next;  ///< slots of tasks that wait for this one
    int waits_for = 0;              ///< number of unfinished tasks
    int priority = 0;
  };
  /// A task that may have finished: its slot is then free or has another id.
  struct Reference {
    std::size_t slot;
    std::int64_t id;
  };

  /// Pieces that a task shares, in a list.
  struct Shared {
    const Piece& piece;
    std::int64_t count;
    std::atomic<std::int64_t> next{0};
    std::atomic<int> helpers{0};
    Shared* other = nullptr;

    bool has_pieces() const { return next.load(std::memory_order_relaxed) < count; }
    void take(std::size_t thread) {
      for (std::int64_t i = next++; i < count; i = next++) piece(i, thread);
    }
  };
  /// The first one that has pieces left; null if there is none.
  Shared* shared_work() const;

  // All of these are called with the lock held.
  std::size_t free_slot();
  void record_uses(std::size_t slot, std::span<const Use> uses);
  void make_ready(std::size_t slot);
  /// Marks a task as finished, and makes ready what waited only for it.
  void finish(std::size_t slot);
  /// The number of threads that have to be woken for so many tasks.
  std::int64_t claim_idle(std::int64_t tasks);
  std::int64_t pending() const { return inserted_ - finished_; }

  /// Runs tasks on this thread until at most 'most' are pending and, on other threads, until no
  /// more will come.
  void work(std::size_t thread, std::int64_t most);

  ThreadPool pool_;
  std::function<void(int)> job_;  ///< of the pool's threads
  Runner runner_;
  std::mutex mutex_;  ///< guards what follows
  std::deque<Node> nodes_;
  std::vector<std::size_t> free_;  ///< slots, with room for all: workers can't allocate memory
  std::vector<ReadyTask> ready_;   ///< a heap, with room for all
  AccessHistory<Reference> history_;
  Shared* shared_ = nullptr;  ///< what tasks share now
  std::int64_t inserted_ = 0, finished_ = 0;
  std::int64_t idle_ = 0;    ///< threads that wait for an event
  std::int64_t waking_ = 0;  ///< those of them that have been notified
  bool started_ = false, complete_ = false;
  EventCount event_;  ///< more ready tasks, or the end
};

}  // namespace stepwell::engine
