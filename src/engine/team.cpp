// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/team.hpp"

#include <unistd.h>

#include <system_error>

namespace stepwell::engine {

std::int64_t Counter::add() {
  const std::int64_t sum = value_.fetch_add(1, std::memory_order_acq_rel) + 1;
  value_.notify_all();
  return sum;
}

void Counter::wait_for(std::int64_t target) const {
  constexpr int spins = 2000;  // some hundred microseconds: a pause takes about 140 cycles
  for (int i = 0; i < spins; ++i) {
    if (value_.load(std::memory_order_acquire) >= target) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  for (;;) {
    const std::int64_t value = value_.load(std::memory_order_acquire);
    if (value >= target) return;
    value_.wait(value, std::memory_order_acquire);
  }
}

Team::Team(int threads) : owner_(getpid()) {
  try {
    for (int t = 1; t < threads; ++t) workers_.emplace_back([this, t] { work(t); });
  } catch (const std::system_error&) {
    // a limit on threads: those that are there do it
  }
}

Team::~Team() {
  if (alone()) {  // nobody is there to be waited for
    for (std::thread& worker : workers_) worker.detach();
    return;
  }
  job_ = nullptr;
  started_.add();
  for (std::thread& worker : workers_) worker.join();
}

bool Team::alone() const {
  return workers_.empty() || owner_ != getpid();
}

void Team::run(const std::function<void(int)>& job) {
  if (alone()) return job(0);
  job_ = &job;
  const std::int64_t runs = started_.add();
  job(0);
  finished_.wait_for(runs * static_cast<std::int64_t>(workers_.size()));
}

void Team::for_each(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  run([&](int) {
    for (std::int64_t i = next++; i < count; i = next++) body(i);
  });
}

void Team::barrier() {
  const std::int64_t ticket = arrived_.add() - 1;
  arrived_.wait_for((ticket / size() + 1) * size());
}

void Team::work(int thread) {
  for (std::int64_t runs = 1;; ++runs) {
    started_.wait_for(runs);
    if (job_ == nullptr) return;
    (*job_)(thread);
    finished_.add();
  }
}

}  // namespace stepwell::engine
