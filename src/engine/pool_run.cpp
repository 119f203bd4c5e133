// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/pool_run.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "engine/threads/spin.hpp"

namespace stepwell::engine {
namespace {

/// Tasks that are inserted before the threads start: fewer are run by the caller alone.
constexpr std::int64_t kBeforeThreads = 4;

}  // namespace

PoolRun::PoolRun(int threads, Runner runner)
    : pool_(threads),
      job_([this](int thread) { work(static_cast<std::size_t>(thread), 0); }),
      runner_(std::move(runner)) {}

void PoolRun::insert(Body body, const void* arguments, std::size_t size, std::span<const Use> uses,
                     std::span<const engine::Piece> pieces, int priority) {
  if (!started_ && inserted_ == kBeforeThreads) {
    pool_.start(job_);
    started_ = true;
  }
  std::unique_lock lock(mutex_);
  if (pending() >= kMostPending) {
    lock.unlock();
    work(0, kMostPending / 2);
    lock.lock();
  }
  const std::size_t slot = free_slot();
  Node& node = nodes_[slot];
  node.arguments.resize(size);
  std::memcpy(node.arguments.data(), arguments, size);
  node.pieces.assign(pieces.begin(), pieces.end());
  node.body = body;
  node.priority = priority;
  node.waits_for = 0;
  free_.pop_back();  // from here on the slot is in use
  node.id = ++inserted_;
  try {
    record_uses(slot, uses);
  } catch (...) {
    node.body = nullptr;  // no later task knows of it, and it does nothing
    if (node.waits_for == 0) make_ready(slot);
    throw;
  }
  if (node.waits_for > 0) return;
  make_ready(slot);
  const std::int64_t wake = claim_idle(static_cast<std::int64_t>(ready_.size()));
  lock.unlock();
  if (wake > 0) event_.notify(wake);
}

std::size_t PoolRun::free_slot() {
  if (free_.empty()) {
    const std::size_t count = nodes_.size() + 1;
    if (ready_.capacity() < count) ready_.reserve(2 * count);
    if (free_.capacity() < count) free_.reserve(2 * count);
    nodes_.emplace_back();
    free_.push_back(count - 1);
  }
  return free_.back();
}

void PoolRun::record_uses(std::size_t slot, std::span<const Use> uses) {
  history_.record(
      {slot, nodes_[slot].id}, uses,
      [&](Reference earlier) {
        nodes_[earlier.slot].next.push_back(slot);
        ++nodes_[slot].waits_for;
      },
      [this](Reference task) { return nodes_[task.slot].id != task.id; });
}

void PoolRun::make_ready(std::size_t slot) {
  ready_.push_back({nodes_[slot].priority, nodes_[slot].id, slot});
  std::push_heap(ready_.begin(), ready_.end());
}

void PoolRun::wait() {
  {
    const std::lock_guard lock(mutex_);
    complete_ = true;
    event_.notify_all();
  }
  work(0, 0);
  if (started_) pool_.finish();
  started_ = complete_ = false;
  inserted_ = finished_ = 0;
  history_.clear();
}

void PoolRun::work(std::size_t thread, std::int64_t most) {
  const bool caller = thread == 0;
  std::int64_t wake = 0;  // threads to be woken as soon as the lock is released
  std::unique_lock lock(mutex_);
  const auto unlock = [&] {
    lock.unlock();
    if (wake > 0) event_.notify(std::exchange(wake, 0));
  };
  while (pending() > most || !(caller || complete_)) {
    if (ready_.empty()) {
      if (Shared* const shared = shared_work()) {
        ++shared->helpers;
        unlock();
        shared->take(thread);
        --shared->helpers;  // from here on it may not exist
        lock.lock();
        continue;
      }
      ++idle_;
      const std::uint32_t seen = event_.now();
      unlock();
      event_.wait(seen);
      lock.lock();
      --idle_;
      waking_ = std::max<std::int64_t>(0, waking_ - 1);
      continue;
    }
    std::pop_heap(ready_.begin(), ready_.end());
    const std::size_t slot = ready_.back().slot;
    ready_.pop_back();
    const Node& node = nodes_[slot];
    unlock();
    if (node.body != nullptr) {
      runner_(node.body, node.arguments.data(), node.pieces.data(), thread);
    }
    lock.lock();
    finish(slot);
    if (pending() == 0 || pending() == kMostPending / 2) event_.notify_all();
    // This thread takes the first of the ready tasks itself.
    wake = claim_idle(static_cast<std::int64_t>(ready_.size()) - 1);
  }
  unlock();
}

PoolRun::Shared* PoolRun::shared_work() const {
  for (Shared* shared = shared_; shared != nullptr; shared = shared->other) {
    if (shared->has_pieces()) return shared;
  }
  return nullptr;
}

void PoolRun::share(std::size_t thread, std::int64_t count, const Piece& piece) {
  Shared shared{piece, count};
  std::int64_t wake = 0;
  {
    const std::lock_guard lock(mutex_);
    shared.other = std::exchange(shared_, &shared);
    wake = claim_idle(count - 1);
  }
  if (wake > 0) event_.notify(wake);
  shared.take(thread);
  {
    const std::lock_guard lock(mutex_);
    Shared** at = &shared_;
    while (*at != &shared) at = &(*at)->other;
    *at = shared.other;
  }
  while (!spin_until([&] { return shared.helpers == 0; })) std::this_thread::yield();
}

std::int64_t PoolRun::claim_idle(std::int64_t tasks) {
  const std::int64_t wake = std::max<std::int64_t>(0, std::min(tasks, idle_) - waking_);
  waking_ += wake;
  return wake;
}

void PoolRun::finish(std::size_t slot) {
  Node& node = nodes_[slot];
  for (const std::size_t later : node.next) {
    if (--nodes_[later].waits_for == 0) make_ready(later);
  }
  node.next.clear();
  node.id = 0;
  free_.push_back(slot);
  ++finished_;
}

}  // namespace stepwell::engine
