// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "engine/ready_task.hpp"

namespace stepwell::engine {

/// A task of a simulated graph. It alternates between work of its own and pieces that threads
/// without a task may share: 'phases' times each, all of equal length.
struct SimulatedTask {
  double own = 0;           ///< seconds of its own work, in all phases
  double piece = 0;         ///< seconds of a piece
  std::int64_t phases = 0;  ///< 0: it shares nothing
  std::int64_t pieces = 0;  ///< of a phase
  double inserted = 0;      ///< when the inserting thread has inserted it
  std::vector<std::size_t> next;
  int waits_for = 0;
  int priority = 0;
};

/// Runs the tasks of a simulated graph on a number of workers, as PoolRun would: free workers take
/// the ready task of the highest priority, or pieces of a task that runs. The inserting thread is a
/// worker when all tasks are inserted.
class Replay {
 public:
  /// 'slower': by which factor a task that begins now is slower than alone; called once for each.
  /// 'ended': called when it ends.
  struct Memory {
    std::function<double(std::size_t task)> slower;
    std::function<void(std::size_t task)> ended;
  };
  Replay(std::span<SimulatedTask> tasks, int workers, Memory memory);

  /// Returns when the last task ends.
  double run();

 private:
  struct Running {
    double slower = 1;
    std::int64_t phase = 0;
    std::int64_t left = 0;    ///< pieces of this phase that nobody has begun
    std::int64_t active = 0;  ///< pieces that are running
  };
  struct Event {
    double time;
    std::size_t task;
    enum class Kind : unsigned char { own_work, owners_piece, helpers_piece } kind;
    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : task > other.task;
    }
  };

  void insert_one();
  void use_free_workers();
  void begin(std::size_t task);
  void begin_own_work(std::size_t task);
  void begin_piece(std::size_t task, Event::Kind by);
  void handle(const Event& event);
  void end_piece(const Event& event);
  void end(std::size_t task);
  void schedule(double seconds, std::size_t task, Event::Kind kind);

  std::span<SimulatedTask> tasks_;
  Memory memory_;
  std::vector<Running> running_;  ///< by task
  std::priority_queue<ReadyTask> ready_;
  std::priority_queue<ReadyTask> shared_;  ///< running tasks that have pieces left
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::size_t inserted_ = 0;
  int free_;
  double now_ = 0;
};

}  // namespace stepwell::engine
