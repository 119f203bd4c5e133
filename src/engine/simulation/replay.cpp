// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/simulation/replay.hpp"

#include <algorithm>

namespace stepwell::engine {

Replay::Replay(std::span<SimulatedTask> tasks, int workers, Memory memory)
    : tasks_(tasks), memory_(std::move(memory)), running_(tasks.size()), free_(workers - 1) {}

double Replay::run() {
  while (inserted_ < tasks_.size() || !ready_.empty() || !events_.empty()) {
    use_free_workers();
    const bool insert_next = inserted_ < tasks_.size() &&
                             (events_.empty() || tasks_[inserted_].inserted <= events_.top().time);
    if (insert_next) {
      insert_one();
      continue;
    }
    if (events_.empty()) continue;
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    handle(event);
  }
  return now_;
}

void Replay::insert_one() {
  const SimulatedTask& task = tasks_[inserted_];
  now_ = std::max(now_, task.inserted);
  const auto id = static_cast<std::int64_t>(inserted_);
  if (task.waits_for == 0) ready_.push({task.priority, id, inserted_});
  if (++inserted_ == tasks_.size()) ++free_;
}

void Replay::use_free_workers() {
  while (free_ > 0 && !ready_.empty()) {
    const std::size_t task = ready_.top().slot;
    ready_.pop();
    --free_;
    begin(task);
  }
  while (free_ > 0 && !shared_.empty()) {
    const std::size_t task = shared_.top().slot;
    if (running_[task].left == 0) {
      shared_.pop();
      continue;
    }
    --free_;
    begin_piece(task, Event::Kind::helpers_piece);
  }
}

void Replay::begin(std::size_t task) {
  running_[task].slower = memory_.slower ? memory_.slower(task) : 1;
  begin_own_work(task);
}

void Replay::begin_own_work(std::size_t task) {
  const auto parts = static_cast<double>(std::max<std::int64_t>(1, tasks_[task].phases));
  schedule(tasks_[task].own / parts, task, Event::Kind::own_work);
}

void Replay::begin_piece(std::size_t task, Event::Kind by) {
  Running& r = running_[task];
  --r.left;
  ++r.active;
  schedule(tasks_[task].piece, task, by);
}

void Replay::schedule(double seconds, std::size_t task, Event::Kind kind) {
  events_.push({now_ + seconds * running_[task].slower, task, kind});
}

void Replay::handle(const Event& event) {
  if (event.kind != Event::Kind::own_work) return end_piece(event);
  const SimulatedTask& task = tasks_[event.task];
  if (task.phases == 0) return end(event.task);
  running_[event.task].left = task.pieces;
  begin_piece(event.task, Event::Kind::owners_piece);
  if (running_[event.task].left > 0) shared_.push({task.priority, 0, event.task});
}

void Replay::end_piece(const Event& event) {
  Running& r = running_[event.task];
  --r.active;
  if (r.left > 0) return begin_piece(event.task, event.kind);
  if (event.kind == Event::Kind::helpers_piece) ++free_;
  if (r.active > 0) return;  // the owner waits for the others
  if (++r.phase == tasks_[event.task].phases) return end(event.task);
  begin_own_work(event.task);
}

void Replay::end(std::size_t task) {
  ++free_;
  if (memory_.ended) memory_.ended(task);
  for (const std::size_t later : tasks_[task].next) {
    if (--tasks_[later].waits_for > 0 || later >= inserted_) continue;
    ready_.push({tasks_[later].priority, static_cast<std::int64_t>(later), later});
  }
}

}  // namespace stepwell::engine
