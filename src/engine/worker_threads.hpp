// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engine/counter.hpp"

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
  void run(const std::function<void(int)>& job);
  void barrier();

 private:
  void work(int thread);

  int process_;  ///< that started the threads
  std::vector<std::thread> threads_;
  const std::function<void(int)>* job_ = nullptr;  ///< null: exit
  Counter started_;                                ///< runs
  Counter finished_;                               ///< threads that finished a run, over all runs
  Counter arrived_;                                ///< threads at a barrier, over all barriers
};

/// Worker threads for a pool that asks for 'count', minus those that are busy in other pools; null
/// if none are left. Idle threads of the process are reused if their number is right.
std::unique_ptr<WorkerThreads> acquire_workers(int count);

/// Returns them to the process. One set is kept asleep: starting threads takes longer than solving
/// ten thousand systems of order 5.
void release_workers(std::unique_ptr<WorkerThreads> workers);

}  // namespace stepwell::engine
