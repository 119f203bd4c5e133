// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace stepwell::engine {

/// A number that only grows and that threads wait for: they spin a while, because what they wait
/// for comes within microseconds as a rule, then sleep.
class Counter {
 public:
  /// Adds one and returns the sum.
  std::int64_t add();
  void wait_for(std::int64_t target) const;

 private:
  std::atomic<std::int64_t> value_{0};
};

/// A few threads that live as long as the team and all run the same function. The caller is thread
/// 0. Between runs they spin before they sleep: waking up takes longer than a kernel. For work that
/// comes in pieces of microseconds and is bound by memory, as refinement is, where a graph of tasks
/// costs more than the pieces. Jobs must not throw.
class Team {
 public:
  /// Has fewer threads where the system gives no more.
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// The caller included. One in a forked child, which has none of its parent's threads.
  int size() const { return alone() ? 1 : static_cast<int>(workers_.size()) + 1; }

  /// Calls job(thread) on every thread and returns when all are done.
  void run(const std::function<void(int)>& job);

  /// Calls body(i) for i = 0 .. count - 1, begun in this order, each on whichever thread is free.
  /// body(i) may wait for what an earlier i does: that has begun.
  void for_each(std::int64_t count, const std::function<void(std::int64_t)>& body);

  /// Within a job: waits until all threads have come here. Each thread calls it equally often.
  void barrier();

 private:
  void work(int thread);
  bool alone() const;

  int owner_;  ///< the process that started the threads
  std::vector<std::thread> workers_;
  const std::function<void(int)>* job_ = nullptr;  ///< null: go home
  Counter started_;                                ///< runs begun
  Counter finished_;                               ///< workers done, over all runs
  Counter arrived_;                                ///< at barriers, over all of them
};

}  // namespace stepwell::engine
