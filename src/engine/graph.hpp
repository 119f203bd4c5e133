// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/communicator.hpp"
#include "engine/runtime.hpp"
#include "stepwell/progress.hpp"

/// A graph of tasks over pieces of data, inserted in the order in which one thread would run them;
/// what may run side by side follows from who reads and who writes what. The workers run it, or the
/// inserting thread itself, one task after the other: the results are the same bits.
///
/// Over ranks each has a graph of its own, of the tasks it does; what one needs of another's data
/// is sent and received in the order of insertion, like a task that reads or writes it. All insert
/// in the order of one algorithm, and so the earliest work that is not done can always go on.
namespace stepwell::engine {

enum class Access : unsigned char { read, write, read_write };

/// A piece of data of a graph, see Graph::add.
using DataId = std::int32_t;

struct Use {
  DataId data = 0;
  Access access = Access::read;
};

/// What the time of a task is booked on.
enum class Phase : unsigned char { load, update, diagonal, solve, reorder };
inline constexpr int kPhases = 5;

/// A task while it runs.
class Task {
 public:
  Task(void* const* data, std::byte* scratch);

  /// The i-th piece of data it uses. On a worker this need not be the caller's memory.
  std::byte* data(std::size_t i) const { return static_cast<std::byte*>(data_[i]); }
  /// The worker's own memory, as much as the graph was made with.
  std::byte* scratch() const { return scratch_; }
  /// Books the time since the last lap (or the start) on a phase.
  void lap(Phase phase);
  /// Nothing that has not begun runs any more.
  void stop() { stopped_ = true; }

  bool stopped() const { return stopped_; }
  std::int64_t nanoseconds(Phase phase) const { return spent_[static_cast<std::size_t>(phase)]; }

 private:
  void* const* data_;
  std::byte* scratch_;
  std::int64_t last_;
  std::array<std::int64_t, kPhases> spent_{};
  bool stopped_ = false;
};

using Body = void (*)(Task& task, const void* arguments);

/// A kind of task: one for each operation and precision signature, so that StarPU's performance
/// models do not mix them. Lives for ever once made: keep it in a function's static variable.
class Codelet {
 public:
  Codelet(const std::string& name, Body run);
  Body body() const { return body_; }

 private:
  friend class Graph;
  struct Model;
  Body body_;
  Model* model_;
};

struct Hints {
  int priority = 0;             ///< higher first among those that are ready
  double flops = 0;             ///< of the task, for StarPU's models
  std::uint32_t footprint = 0;  ///< tasks of a codelet with equal footprints take equally long
};

struct GraphOptions {
  bool workers = true;  ///< false: the inserting thread runs everything itself
  Settings settings;
  std::int64_t scratch_bytes = 0;
  Progress* progress = nullptr;
  /// Not null, and several: send() and receive() work, there are always workers, and a graph that
  /// stops on one rank stops on all. Making it and wait() are then collective, and nobody else may
  /// use the communicator in between.
  Communicator* ranks = nullptr;
  bool dry = false;  ///< tasks are scheduled and not run: what the engine itself costs
};

struct GraphTimes {
  std::array<double, kPhases> seconds{};  ///< summed over the workers
  std::int64_t tasks = 0;
  int workers = 1;
};

class Graph {
 public:
  explicit Graph(const GraphOptions& options);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Makes memory known. It stays the caller's, and must live until wait() has returned.
  DataId add(void* data, std::int64_t bytes);

  /// Inserts a task. Arguments is plain data and is copied. Uses name each piece of data once. It
  /// begins when it can, but the first 64 not before that many are inserted or somebody waits.
  template <class Arguments>
  void insert(const Codelet& codelet, const Arguments& arguments, std::span<const Use> uses,
              const Hints& hints) {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    insert(codelet, &arguments, sizeof(Arguments), uses, hints);
  }

  /// Sends the first 'bytes' of the data to another rank, when what was inserted before has written
  /// it; receives as many from one, when what was inserted before has done with the old contents.
  /// Tags from 0 to kLargestTag tell the messages between two ranks apart.
  void send(DataId data, std::int64_t bytes, int to, int tag, int priority);
  void receive(DataId data, std::int64_t bytes, int from, int tag);

  /// True once a task has called stop(), the caller has cancelled or a task has thrown: nothing
  /// more needs to be inserted. Over ranks everything has to be, because others wait for messages;
  /// tasks then end at once.
  bool stopped() const;

  /// Waits for all tasks. Throws what a task threw.
  void wait();
  /// After wait() more can be inserted. Over ranks this is collective, and until it is called the
  /// communicator is free.
  void go_on();

  /// Lets nothing more begin and waits for what runs.
  void abandon() noexcept;

  int workers() const;
  GraphTimes times() const;

 private:
  friend class Codelet;
  struct Impl;
  static void run_on_worker(void* buffers[], void* argument);
  void insert(const Codelet& codelet, const void* arguments, std::size_t size,
              std::span<const Use> uses, const Hints& hints);
  void message(DataId data, std::int64_t bytes, int peer, int tag, int priority, bool out);

  std::unique_ptr<Impl> impl_;
};

/// Stands after the memory that tasks use, so that it is still there if inserting them fails
/// half-way: at its end no task runs any more.
class TaskGuard {
 public:
  explicit TaskGuard(Graph& graph) : graph_(graph) {}
  ~TaskGuard() { graph_.abandon(); }
  TaskGuard(const TaskGuard&) = delete;
  TaskGuard& operator=(const TaskGuard&) = delete;

 private:
  Graph& graph_;
};

}  // namespace stepwell::engine
