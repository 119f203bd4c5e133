// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/access_history.hpp"
#include "engine/graph.hpp"
#include "engine/simulation/task_times.hpp"

namespace stepwell::engine {

/// A machine that a graph is simulated on.
struct SimulatedMachine {
  int workers = 1;
  /// Seconds of the inserting thread, a task and each piece of data that it uses; and of the
  /// worker, to take a task and to finish it. Measured on a pool of two threads with `stepwell
  /// bench graph`.
  double insert = 0.4e-6, insert_use = 0.05e-6, take = 0.6e-6;
  /// Bytes per second that all cores together read from memory; 0: no limit.
  double bandwidth = 0;
};

struct SimulatedTimes {
  double seconds = 0;    ///< from the first insertion to the end of the last task
  double work = 0;       ///< of all tasks, on one core
  double chain = 0;      ///< the longest chain of tasks that wait for each other
  double insertion = 0;  ///< of the inserting thread
  double memory = 0;     ///< seconds that the memory needs for what the tasks use
  std::int64_t tasks = 0;
};

/// Runs nothing: replays the tasks of a graph, inserted as for a real run, on a machine that need
/// not exist. Ready tasks start in the order of PoolRun, on the workers that are free; the
/// inserting thread is one of them when all tasks are inserted.
class SimulatedRun {
 public:
  SimulatedRun(const SimulatedMachine& machine, const TaskTimes& times)
      : machine_(machine), times_(times) {}

  /// 'bytes': what the task reads and writes in memory.
  void insert(const std::string& codelet, std::span<const Use> uses, const Hints& hints,
              double bytes);
  /// Replays the tasks inserted so far, and adds their time.
  void wait();

  int workers() const { return machine_.workers; }
  const SimulatedTimes& times() const { return total_; }

 private:
  struct Node {
    double seconds = 0;  ///< on a core that has the memory for itself
    double bytes = 0;
    double inserted = 0;  ///< when the inserting thread has inserted it
    double chain = 0;     ///< the longest chain that ends with it
    std::vector<std::size_t> next;
    int waits_for = 0;
    int priority = 0;
  };

  double replay();

  SimulatedMachine machine_;
  const TaskTimes& times_;
  std::vector<Node> nodes_;
  AccessHistory<std::size_t> history_;
  double inserting_ = 0;  ///< seconds of the inserting thread since wait()
  SimulatedTimes total_;
};

}  // namespace stepwell::engine
