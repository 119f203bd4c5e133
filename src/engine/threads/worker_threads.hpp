// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engine/threads/event_count.hpp"

namespace stepwell::engine {

/// The threads of a pool, except the caller's.
class WorkerThreads {
 public:
  explicit WorkerThreads(int count);
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  /// How many threads the system provided.
  int count() const { return static_cast<int>(threads_.size()); }
  /// False in a forked child: threads exist only in the process that started them.
  bool in_this_process() const;
  /// Lets up to 'most' threads call job(1), job(2), ..., in the order in which they come. A thread
  /// that has not begun when finish() is called never does: a busy machine may give it no core for
  /// milliseconds.
  void start(const std::function<void(int)>& job, int most);
  /// Waits for the threads that have begun.
  void finish();

 private:
  void begin_run(const std::function<void(int)>* job, int most);
  void work();
  int enter(std::uint32_t run);
  void leave();

  int process_;  ///< that started the threads
  std::vector<std::thread> threads_;
  const std::function<void(int)>* job_ = nullptr;  ///< null: exit
  std::atomic<int> most_{0};                       ///< threads of this run
  /// Number of the run, whether threads may still begin it, how many have, and how many are in it.
  std::atomic<std::uint64_t> state_{0};
  EventCount started_, left_;
};

/// At least 'count' worker threads, minus those that are busy in other pools; null if none are
/// left. Idle threads of the process are reused if there are enough of them.
std::unique_ptr<WorkerThreads> acquire_workers(int count);

/// Returns them to the process. One set is kept asleep: starting threads takes longer than solving
/// ten thousand systems of order 5.
void release_workers(std::unique_ptr<WorkerThreads> workers);

}  // namespace stepwell::engine
