// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "stepwell/context.hpp"

namespace stepwell::engine {

class WorkerThreads;

/// A few threads that run the same function; the caller is thread 0. It is for work that comes in
/// pieces of microseconds and is limited by memory bandwidth, such as refinement, where a task
/// graph would cost more than the pieces themselves. Between runs the threads spin for a while
/// before they sleep, because waking a thread takes longer than a kernel.
///
/// A job takes its pieces of work from a counter that the threads share: a thread that gets no core
/// in time takes none, and is not waited for.
///
/// An exception in a job ends that thread's part of the run; the other threads finish, and the
/// caller then gets the first exception. A job that other threads wait for must therefore not
/// throw.
///
/// The worker threads belong to the process. A pool acquires them at its first run and keeps them
/// until release() or its destruction; then the next pool of the same size reuses them. The process
/// never has more of them than the asking pool wants: threads of other active pools are counted,
/// and a pool that comes later works with fewer threads or with the caller alone.
class ThreadPool {
 public:
  /// Starts nothing. The pool has fewer threads if the system does not provide as many.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The number of threads, including the caller. It does not change before release(). It is 1 in a
  /// forked child, which has none of its parent's threads.
  int size();

  /// The number of threads it was made for.
  int requested() const { return threads_; }

  /// Calls job(0), and job(thread) on the threads that begin before it returns; waits for these.
  void run(const std::function<void(int)>& job);

  /// Lets the other threads call job(1), job(2), ... and returns; finish() waits for those that
  /// have begun. In between the pool can't be used otherwise, and 'job', which must not throw, must
  /// exist.
  void start(const std::function<void(int)>& job);
  void finish();

  /// Calls body(i) for i = 0 .. count - 1, started in this order, each on the next free thread.
  /// body(i) may wait for an earlier i, which has already started.
  void for_each(std::int64_t count, const std::function<void(std::int64_t)>& body);

  /// Gives the threads back to the process, for a pool that lives longer than one call.
  void release();

 private:
  void acquire();

  int threads_;
  bool acquired_ = false;
  std::unique_ptr<WorkerThreads> workers_;  ///< null: the caller alone
};

/// Releases the threads of a pool at the end of a scope.
class ThreadPoolGuard {
 public:
  explicit ThreadPoolGuard(ThreadPool& pool) : pool_(pool) {}
  ~ThreadPoolGuard() { pool_.release(); }
  ThreadPoolGuard(const ThreadPoolGuard&) = delete;
  ThreadPoolGuard& operator=(const ThreadPoolGuard&) = delete;

 private:
  ThreadPool& pool_;
};

/// The number of threads of a context; without one, as many as the process may use.
int threads_of(const Context* context);

/// The same for pools with pieces of microseconds: at most one for each CPU that the process may
/// use. Threads that have to share a CPU make each other wait: 64 on two CPUs took seven times as
/// long as two, n = 2048.
int pool_threads(const Context* context);

}  // namespace stepwell::engine
