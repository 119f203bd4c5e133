// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/thread_pool.hpp"

#include <atomic>

#include "core/first_error.hpp"
#include "core/machine/threads.hpp"
#include "engine/worker_threads.hpp"

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
  return workers_ ? workers_->count() + 1 : 1;
}

void ThreadPool::run(const std::function<void(int)>& job) {
  acquire();
  if (!workers_) return job(0);
  core::FirstError error;
  workers_->run([&](int thread) { error.attempt([&] { job(thread); }); });
  error.rethrow();
}

void ThreadPool::for_each(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  run([&](int) {
    for (std::int64_t i = next++; i < count; i = next++) body(i);
  });
}

void ThreadPool::barrier() {
  if (workers_) workers_->barrier();
}

int pool_threads(const Context* context) {
  return context == nullptr ? core::default_threads() : context->threads();
}

}  // namespace stepwell::engine
