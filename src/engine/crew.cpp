// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/crew.hpp"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

namespace stepwell::engine {

Crew::Crew(int workers) : process_(getpid()) {
  workers_.reserve(static_cast<std::size_t>(workers));  // or it throws before there are threads
  try {
    for (int t = 1; t <= workers; ++t) workers_.emplace_back([this, t] { work(t); });
  } catch (const std::system_error&) {
    // a limit on threads: those that are there do it
  }
}

Crew::~Crew() {
  if (!here()) {  // nobody is there to be waited for
    for (std::thread& worker : workers_) worker.detach();
    return;
  }
  job_ = nullptr;
  started_.add();
  for (std::thread& worker : workers_) worker.join();
}

bool Crew::here() const {
  return process_ == getpid();
}

void Crew::run(const std::function<void(int)>& job) {
  job_ = &job;
  const std::int64_t runs = started_.add();
  job(0);
  finished_.wait_for(runs * static_cast<std::int64_t>(workers_.size()));
}

void Crew::barrier() {
  const std::int64_t all = workers() + 1;
  const std::int64_t ticket = arrived_.add() - 1;
  arrived_.wait_for((ticket / all + 1) * all);
}

void Crew::work(int thread) {
  for (std::int64_t runs = 1;; ++runs) {
    started_.wait_for(runs);
    if (job_ == nullptr) return;
    (*job_)(thread);
    finished_.add();
  }
}

namespace {

struct Barracks {
  explicit Barracks(int of) : process(of) {}
  const int process;
  std::mutex mutex;
  std::unique_ptr<Crew> asleep;
  int at_work = 0;  ///< workers
};

/// This process's. Never destroyed: its threads sleep, and the process's end does not wait for
/// them. A child of fork() gets its own, because a thread of the parent may have held the mutex.
Barracks& barracks() {
  static std::atomic<Barracks*> current{nullptr};
  const int process = getpid();
  Barracks* here = current.load();
  while (here == nullptr || here->process != process) {
    auto fresh = std::make_unique<Barracks>(process);
    if (current.compare_exchange_strong(here, fresh.get())) here = fresh.release();
  }
  return *here;
}

}  // namespace

std::unique_ptr<Crew> hire(int workers) {
  if (workers <= 0) return nullptr;
  Barracks& here = barracks();
  std::unique_ptr<Crew> crew, other;  // of another size: joined after the lock is gone
  int free = 0;
  {
    const std::lock_guard lock(here.mutex);
    free = workers - here.at_work;
    if (free <= 0) return nullptr;
    here.at_work += free;
    if (here.asleep && here.asleep->workers() == free) crew = std::move(here.asleep);
    other = std::move(here.asleep);
  }
  other.reset();
  if (crew) return crew;
  try {
    crew = std::make_unique<Crew>(free);
  } catch (const std::bad_alloc&) {
    // no memory for threads: the caller works alone
  }
  const int started = crew ? crew->workers() : 0;
  if (started < free) {
    const std::lock_guard lock(here.mutex);
    here.at_work -= free - started;
  }
  return started > 0 ? std::move(crew) : nullptr;
}

void dismiss(std::unique_ptr<Crew> crew) {
  if (!crew || !crew->here()) return;
  Barracks& here = barracks();
  const std::lock_guard lock(here.mutex);
  here.at_work -= crew->workers();
  // One may have fallen asleep meanwhile: this one is joined when the lock is gone.
  if (!here.asleep) here.asleep = std::move(crew);
}

}  // namespace stepwell::engine
