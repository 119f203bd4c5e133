// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/worker_threads.hpp"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

namespace stepwell::engine {

WorkerThreads::WorkerThreads(int count) : process_(getpid()) {
  threads_.reserve(static_cast<std::size_t>(count));  // if this throws, no thread has started
  try {
    for (int t = 1; t <= count; ++t) threads_.emplace_back([this, t] { work(t); });
  } catch (const std::system_error&) {
    // The system limits the number of threads; those that started do the work.
  }
}

WorkerThreads::~WorkerThreads() {
  if (!in_this_process()) {  // there is nothing to join
    for (std::thread& thread : threads_) thread.detach();
    return;
  }
  job_ = nullptr;
  started_.add();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerThreads::in_this_process() const {
  return process_ == getpid();
}

void WorkerThreads::run(const std::function<void(int)>& job) {
  job_ = &job;
  const std::int64_t runs = started_.add();
  job(0);
  finished_.wait_for(runs * static_cast<std::int64_t>(threads_.size()));
}

void WorkerThreads::barrier() {
  const std::int64_t all = count() + 1;
  const std::int64_t ticket = arrived_.add() - 1;
  arrived_.wait_for((ticket / all + 1) * all);
}

void WorkerThreads::work(int thread) {
  for (std::int64_t runs = 1;; ++runs) {
    started_.wait_for(runs);
    if (job_ == nullptr) return;
    (*job_)(thread);
    finished_.add();
  }
}

namespace {

/// The worker threads of a process that no pool is using, and the number of those in use.
struct ProcessThreads {
  explicit ProcessThreads(int pid) : process(pid) {}
  const int process;
  std::mutex mutex;
  std::unique_ptr<WorkerThreads> idle;
  int busy = 0;
};

/// Those of this process. Never destroyed: idle threads sleep, and the end of the process does not
/// wait for them. A child of fork() gets its own, because a thread of the parent may have held the
/// mutex.
ProcessThreads& process_threads() {
  static std::atomic<ProcessThreads*> current{nullptr};
  const int process = getpid();
  ProcessThreads* found = current.load();
  while (found == nullptr || found->process != process) {
    auto fresh = std::make_unique<ProcessThreads>(process);
    if (current.compare_exchange_strong(found, fresh.get())) found = fresh.release();
  }
  return *found;
}

}  // namespace

std::unique_ptr<WorkerThreads> acquire_workers(int count) {
  if (count <= 0) return nullptr;
  ProcessThreads& process = process_threads();
  std::unique_ptr<WorkerThreads> workers;
  std::unique_ptr<WorkerThreads> wrong_size;  // joined after the lock is released
  int free = 0;
  {
    const std::lock_guard lock(process.mutex);
    free = count - process.busy;
    if (free <= 0) return nullptr;
    process.busy += free;
    if (process.idle && process.idle->count() == free) workers = std::move(process.idle);
    wrong_size = std::move(process.idle);
  }
  wrong_size.reset();
  if (workers) return workers;
  try {
    workers = std::make_unique<WorkerThreads>(free);
  } catch (const std::bad_alloc&) {
    // Without memory for threads the caller works alone.
  }
  const int started = workers ? workers->count() : 0;
  if (started < free) {
    const std::lock_guard lock(process.mutex);
    process.busy -= free - started;
  }
  return started > 0 ? std::move(workers) : nullptr;
}

void release_workers(std::unique_ptr<WorkerThreads> workers) {
  if (!workers || !workers->in_this_process()) return;
  ProcessThreads& process = process_threads();
  const std::lock_guard lock(process.mutex);
  process.busy -= workers->count();
  // If another set is idle already, this one is joined by its destructor after the lock is
  // released.
  if (!process.idle) process.idle = std::move(workers);
}

}  // namespace stepwell::engine
