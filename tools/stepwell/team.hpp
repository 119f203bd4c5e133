// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace stepwell::tool {

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

/// A few threads that stay for the benchmark's life and all run the same function. The caller is
/// thread 0. Between runs they spin before they sleep: waking up takes longer than a kernel.
class Team {
 public:
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls job(thread) on every thread and returns when all are done.
  void run(const std::function<void(int)>& job);

  /// Within a job: waits until all threads have come here. Each thread calls it equally often.
  void barrier();

 private:
  void work(int thread);

  std::vector<std::thread> workers_;
  const std::function<void(int)>* job_ = nullptr;  ///< null: go home
  Counter started_;                                ///< runs begun
  Counter finished_;                               ///< workers done, over all runs
  Counter arrived_;                                ///< at barriers, over all of them
};

}  // namespace stepwell::tool
