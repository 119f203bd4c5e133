// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/threads/thread_pool.hpp"

#include <algorithm>
#include <atomic>

#include "core/first_error.hpp"
#include "core/machine/threads.hpp"
#include "engine/threads/worker_threads.hpp"

namespace stepwell::engine {

ThreadPool::ThreadPool(int threads) : threads_(threads) {}

ThreadPool::~ThreadPool() {
  release();
}

void ThreadPool::acquire() {
  if (!acquired_) workers_ = acquire_workers(threads_ - 1);
  acquired_ = true;
  if (workers_ && !workers_->in_this_process()) workers_.reset();
}

void ThreadPool::release() {
  release_workers(std::move(workers_));
  acquired_ = false;
}

int ThreadPool::size() {
  acquire();
  return workers_ ? std::min(threads_, workers_->count() + 1) : 1;
}

void ThreadPool::run(const std::function<void(int)>& job) {
  acquire();
  if (!workers_) return job(0);
  core::FirstError error;
  const std::function<void(int)> attempt = [&](int thread) { error.attempt([&] { job(thread); }); };
  workers_->start(attempt, threads_ - 1);
  attempt(0);
  workers_->finish();
  error.rethrow();
}

void ThreadPool::start(const std::function<void(int)>& job) {
  acquire();
  if (workers_) workers_->start(job, threads_ - 1);
}

void ThreadPool::finish() {
  if (workers_) workers_->finish();
}

void ThreadPool::for_each(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  if (count == 1) return body(0);  // nothing to wake a thread for
  std::atomic<std::int64_t> next{0};
  run([&](int) {
    for (std::int64_t i = next++; i < count; i = next++) body(i);
  });
}

int threads_of(const Context* context) {
  return context == nullptr ? core::default_threads() : context->threads();
}

int pool_threads(const Context* context) {
  return std::min(threads_of(context), core::usable_cpus());
}

}  // namespace stepwell::engine
