// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/threads/worker_threads.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

namespace stepwell::engine {
namespace {

// The state: the number of the run in the upper half, then a bit, 15 bits for the threads that have
// begun the run, and 16 for those that are in it.
constexpr std::uint64_t kOpen = std::uint64_t{1} << 31;
constexpr std::uint64_t kOneBegun = std::uint64_t{1} << 16;
constexpr std::uint64_t kInside = kOneBegun - 1;
constexpr int kMostThreads = 0x7fff;

std::uint32_t run_of(std::uint64_t state) {
  return static_cast<std::uint32_t>(state >> 32);
}

int begun(std::uint64_t state) {
  return static_cast<int>(state / kOneBegun & kMostThreads);
}

}  // namespace

WorkerThreads::WorkerThreads(int count) : process_(getpid()) {
  count = std::min(count, kMostThreads);
  threads_.reserve(static_cast<std::size_t>(count));  // if this throws, no thread has started
  try {
    for (int t = 1; t <= count; ++t) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // The system limits the number of threads; those that started do the work.
  }
}

WorkerThreads::~WorkerThreads() {
  if (!in_this_process()) {  // there is nothing to join
    for (std::thread& thread : threads_) thread.detach();
    return;
  }
  begin_run(nullptr, count());
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerThreads::in_this_process() const {
  return process_ == getpid();
}

void WorkerThreads::start(const std::function<void(int)>& job, int most) {
  begin_run(&job, std::min(most, count()));
}

void WorkerThreads::begin_run(const std::function<void(int)>* job, int most) {
  job_ = job;
  most_.store(most, std::memory_order_relaxed);
  const std::uint64_t next = run_of(state_.load(std::memory_order_relaxed)) + std::uint64_t{1};
  state_.store(next << 32 | kOpen, std::memory_order_release);
  most < count() ? started_.notify(most) : started_.notify_all();
}

void WorkerThreads::finish() {
  state_.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (;;) {
    const std::uint32_t seen = left_.now();
    if ((state_.load(std::memory_order_acquire) & kInside) == 0) return;
    left_.wait(seen);
  }
}

/// The thread's number in the run; 0: it is not needed any more.
int WorkerThreads::enter(std::uint32_t run) {
  std::uint64_t state = state_.load(std::memory_order_acquire);
  while (run_of(state) == run && (state & kOpen) != 0 &&
         begun(state) < most_.load(std::memory_order_relaxed)) {
    if (state_.compare_exchange_weak(state, state + kOneBegun + 1, std::memory_order_acq_rel)) {
      return begun(state) + 1;
    }
  }
  return 0;
}

void WorkerThreads::leave() {
  const std::uint64_t state = state_.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if ((state & (kOpen | kInside)) == 0) left_.notify_all();  // the caller waits for this one
}

void WorkerThreads::work() {
  for (std::uint32_t last = 0;;) {
    const std::uint32_t seen = started_.now();
    const std::uint32_t run = run_of(state_.load(std::memory_order_acquire));
    if (run == last) {
      started_.wait(seen);
      continue;
    }
    last = run;
    const int thread = enter(run);
    if (thread == 0) continue;
    const std::function<void(int)>* const job = job_;
    if (job != nullptr) (*job)(thread);
    leave();
    if (job == nullptr) return;
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
  std::unique_ptr<WorkerThreads> too_few;  // joined after the lock is released
  int free = 0;
  {
    const std::lock_guard lock(process.mutex);
    free = count - process.busy;
    if (free <= 0) return nullptr;
    process.busy += free;
    if (process.idle && process.idle->count() >= free) {
      workers = std::move(process.idle);
      process.busy += workers->count() - free;
      return workers;
    }
    too_few = std::move(process.idle);
  }
  too_few.reset();
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
  // The larger set is kept; the other is joined by its destructor after the lock is released.
  if (!process.idle || process.idle->count() < workers->count()) std::swap(process.idle, workers);
}

}  // namespace stepwell::engine
