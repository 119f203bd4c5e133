// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/pool_run.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stepwell::engine {

PoolRun::PoolRun(int threads, Runner runner) : pool_(threads), runner_(std::move(runner)) {}

void PoolRun::insert(Body body, const void* arguments, std::size_t size, std::span<const Use> uses,
                     std::span<const Piece> pieces, int priority) {
  const std::size_t self = nodes_.size();
  Node& node = nodes_.emplace_back();
  node.body = body;
  node.arguments.resize(size);
  std::memcpy(node.arguments.data(), arguments, size);
  node.pieces.assign(pieces.begin(), pieces.end());
  node.priority = priority;
  for (const Use& use : uses) {
    const auto data = static_cast<std::size_t>(use.data);
    if (data >= history_.size()) history_.resize(data + 1);
    History& history = history_[data];
    if (history.writer >= 0) wait_for(static_cast<std::size_t>(history.writer), self);
    if (use.access == Access::read) {
      history.readers.push_back(self);
      continue;
    }
    for (const std::size_t reader : history.readers) wait_for(reader, self);
    history.readers.clear();
    history.writer = static_cast<std::ptrdiff_t>(self);
  }
}

void PoolRun::wait_for(std::size_t earlier, std::size_t later) {
  nodes_[earlier].next.push_back(later);
  ++nodes_[later].waits_for;
}

void PoolRun::run() {
  if (nodes_.empty()) return;
  ready_.reserve(nodes_.size());
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    if (nodes_[k].waits_for == 0) make_ready(k);
  }
  finished_ = 0;
  pool_.run([this](int thread) { work(static_cast<std::size_t>(thread)); });
  clear();
}

void PoolRun::clear() {
  nodes_.clear();
  history_.clear();
  ready_.clear();
}

void PoolRun::make_ready(std::size_t node) {
  ready_.push_back({nodes_[node].priority, node});
  std::push_heap(ready_.begin(), ready_.end());
}

void PoolRun::work(std::size_t thread) {
  std::unique_lock lock(mutex_);
  while (finished_ < nodes_.size()) {
    if (ready_.empty()) {
      const std::int64_t seen = changed_.value();
      lock.unlock();
      changed_.wait_for(seen + 1);
      lock.lock();
      continue;
    }
    std::pop_heap(ready_.begin(), ready_.end());
    const std::size_t k = ready_.back().node;
    ready_.pop_back();
    lock.unlock();
    const Node& node = nodes_[k];
    runner_(node.body, node.arguments.data(), node.pieces.data(), thread);
    lock.lock();
    finish(k);
  }
}

void PoolRun::finish(std::size_t node) {
  for (const std::size_t later : nodes_[node].next) {
    if (--nodes_[later].waits_for == 0) make_ready(later);
  }
  ++finished_;
  // This thread takes the first of the ready tasks itself.
  if (ready_.size() > 1 || finished_ == nodes_.size()) changed_.add();
}

}  // namespace stepwell::engine
