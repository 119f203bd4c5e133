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
#include "engine/simulation/cache_model.hpp"
#include "engine/simulation/replay.hpp"
#include "engine/simulation/task_times.hpp"

namespace stepwell::engine {

/// A machine that a graph is simulated on.
struct SimulatedMachine {
  int workers = 1;
  /// Seconds of the inserting thread, a task and each piece of data that it uses; and of the
  /// worker, to take a task and to finish it. Measured on a pool of two threads with `stepwell
  /// bench graph`.
  double insert = 0.4e-6, insert_use = 0.05e-6, take = 0.6e-6;
  /// Seconds of a task to offer pieces to other threads, and to wait for the last of them.
  double share = 2e-6;
  double bandwidth = 0;  ///< bytes per second from memory, of all cores together; 0: no limit
  /// The same of one core: a task can't have read more in its time, whatever it is said to use.
  double core_bandwidth = 12e9;
  double cache = 0;  ///< bytes of the last level of cache, which all cores share

  /// One socket of a server: eight channels of memory, and the cache of the machine that Stepwell
  /// was developed on.
  static SimulatedMachine server(int workers) {
    SimulatedMachine m;
    m.workers = workers;
    m.bandwidth = 300e9;
    m.cache = 105e6;
    return m;
  }
};

struct SimulatedTimes {
  double seconds = 0;    ///< from the first insertion to the end of the last task
  double work = 0;       ///< of all tasks, on one core
  double chain = 0;      ///< the longest chain of tasks that wait for each other
  double insertion = 0;  ///< of the inserting thread
  double memory = 0;     ///< seconds that the memory needs for what is not in the cache
  std::int64_t tasks = 0;
};

/// Runs nothing: replays the tasks of a graph, inserted as for a real run, on a machine that need
/// not exist.
class SimulatedRun {
 public:
  SimulatedRun(const SimulatedMachine& machine, const TaskTimes& times)
      : machine_(machine), times_(times), cache_(machine.cache) {}

  /// 'pieces' are in the order of 'uses'.
  void insert(const std::string& codelet, std::span<const Use> uses, std::span<const Piece> pieces,
              const Hints& hints);
  /// Replays the tasks inserted so far, and adds their time.
  void wait();

  int workers() const { return machine_.workers; }
  const SimulatedTimes& times() const { return total_; }

 private:
  double replay();
  double from_memory(std::size_t task);

  SimulatedMachine machine_;
  const TaskTimes& times_;
  std::vector<SimulatedTask> tasks_;
  std::vector<double> seconds_,
      chain_;  ///< of each task: alone; the longest chain that ends with it
  std::vector<std::vector<DataId>> uses_;
  AccessHistory<std::size_t> history_;
  CacheModel cache_;
  std::vector<double> bytes_;  ///< of each piece of data
  double inserting_ = 0;       ///< seconds of the inserting thread since wait()
  SimulatedTimes total_;
};

}  // namespace stepwell::engine
