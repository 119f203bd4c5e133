// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "core/pieces.hpp"
#include "engine/communicator.hpp"
#include "engine/runtime.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/view.hpp"

/// A task graph over pieces of data. Tasks are inserted in the order in which one thread would run
/// them; what may run in parallel follows from which tasks read and write which data. StarPU's
/// workers run the tasks, or the threads of a pool once all are inserted, or the inserting thread
/// one after the other: the results are the same bits.
///
/// With several ranks, each rank has its own graph with the tasks that it runs; data that another
/// rank needs is sent and received in the order of insertion, like a task that reads or writes it.
/// All ranks insert in the order of one algorithm, so the earliest unfinished work can always
/// proceed.
namespace stepwell::engine {

enum class Access : unsigned char { read, write, read_write };

/// A piece of data of a graph, see Graph::add.
using DataId = std::int32_t;

struct Use {
  DataId data = 0;
  Access access = Access::read;
};

/// A piece of data in the memory where a task finds it: elements by columns. Memory without a shape
/// is one column of bytes.
struct Piece {
  std::byte* data = nullptr;
  std::int64_t rows = 0, cols = 1;
  std::int64_t ld = 0;       ///< leading dimension, in elements
  std::int64_t element = 1;  ///< bytes of an element
};

/// The phase that the time of a task is attributed to.
enum class Phase : unsigned char { load, update, diagonal, solve, reorder };
inline constexpr int kPhases = 5;

using core::PieceRunner;
using core::SharedPiece;

/// A task while it runs.
class Task {
 public:
  /// 'share': how its thread shares work with others; null: it does not.
  Task(const Piece* pieces, std::byte* scratch, int worker = 0, const PieceRunner* share = nullptr);

  /// The i-th piece of data that the task uses. On a worker this need not be the caller's memory.
  std::byte* data(std::size_t i) const { return pieces_[i].data; }
  /// The same as an array, or as a matrix if it was added as one. T is the type of its elements.
  template <class T>
  T* array(std::size_t i) const {
    return reinterpret_cast<T*>(data(i));
  }
  template <class T>
  MatrixView<T> matrix(std::size_t i) const {
    return {array<T>(i), pieces_[i].rows, pieces_[i].cols, pieces_[i].ld};
  }
  /// Pieces first .. first + count - 1 as one, for a task that can only run in the memory where
  /// they were added as neighbours. Throws Error(unsupported) if they are not neighbours here.
  std::byte* joined(std::size_t first, std::size_t count) const;
  /// The worker's scratch memory, of the size given in GraphOptions.
  std::byte* scratch() const { return scratch_; }
  /// The worker that runs it, from 0.
  int worker() const { return worker_; }
  /// Runs pieces on this thread and on those that have nothing else to do; empty if there are none.
  /// For pieces of at least some microseconds.
  PieceRunner sharing() const { return runner_ == nullptr ? PieceRunner{} : *runner_; }
  /// Adds the time since the last lap (or the start) to a phase.
  void lap(Phase phase);
  /// No further task of the graph starts.
  void stop() { stopped_ = true; }

  bool stopped() const { return stopped_; }
  std::int64_t nanoseconds(Phase phase) const { return spent_[static_cast<std::size_t>(phase)]; }

 private:
  const Piece* pieces_;
  std::byte* scratch_;
  int worker_;
  const PieceRunner* runner_;
  std::int64_t last_;
  std::array<std::int64_t, kPhases> spent_{};
  bool stopped_ = false;
};

using Body = void (*)(Task& task, const void* arguments);

/// A kind of task: one for each operation and precision signature, so that StarPU's performance
/// models do not mix them. It is never destroyed: keep it in a function's static variable.
class Codelet {
 public:
  Codelet(const std::string& name, Body run);
  Body body() const { return body_; }
  const std::string& name() const;

 private:
  friend class Graph;
  struct Model;
  Body body_;
  Model* model_;
};

/// Tasks of a codelet with the same footprint take equally long.
struct Footprint {
  std::uint32_t depth = 0;    ///< what the time grows with, such as the number of products
  std::uint32_t variant = 0;  ///< other differences; below 8
  friend auto operator<=>(const Footprint&, const Footprint&) = default;
};

struct Hints {
  int priority = 0;  ///< among ready tasks, the highest priority runs first
  double flops = 0;  ///< flops of the task, for StarPU's performance models
  Footprint footprint = {};
};

class SimulatedRun;
class TaskTimes;

/// Who runs the tasks of a graph.
enum class RunBy : unsigned char {
  caller,       ///< the inserting thread, at once
  thread_pool,  ///< a thread pool, when wait() is called: for graphs of a few hundred tasks
  starpu        ///< StarPU's workers
};

struct GraphOptions {
  RunBy run_by = RunBy::starpu;
  Settings settings;
  std::int64_t scratch_bytes = 0;
  Progress* progress = nullptr;
  /// If not null and more than one rank: send() and receive() work, StarPU runs the tasks, and a
  /// graph that stops on one rank stops on all. The constructor and wait() are then collective, and
  /// nothing else may use the communicator in between.
  Communicator* ranks = nullptr;
  bool dry = false;  ///< tasks are scheduled but not run, to measure the overhead of the engine
  /// Run by the caller: how long each task took is recorded here. workers() is then
  /// settings.threads, so that the tasks are those for as many.
  TaskTimes* measured = nullptr;
  /// If not null, nothing runs: the tasks are replayed on a simulated machine.
  SimulatedRun* simulated = nullptr;
  /// Run by the caller: tasks run on copies of their data, as they would on a device (tests).
  bool copied_data = false;
};

struct GraphTimes {
  std::array<double, kPhases> seconds{};  ///< summed over the workers
  std::int64_t tasks = 0;
  std::int64_t uses = 0;  ///< pieces of data that they use, in total
  int workers = 1;
};

class Graph {
 public:
  explicit Graph(const GraphOptions& options);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Registers memory, or a matrix in it; neither may be empty. It stays the caller's, and must
  /// exist until wait() has returned. What is added as const can only be used with Access::read.
  DataId add(void* data, std::int64_t bytes) { return add({data, bytes, 1, bytes, 1, false}); }
  DataId add(const void* data, std::int64_t bytes) { return add({data, bytes, 1, bytes, 1, true}); }
  template <class T>
  DataId add(MatrixView<T> m) {
    return add({m.data, m.rows, m.cols, m.ld, sizeof(T), std::is_const_v<T>});
  }

  /// Inserts a task. The arguments are plain data and are copied; 'uses' names each piece of data
  /// once. The task begins as soon as it can, but the workers wake up only when 64 tasks have been
  /// inserted or a thread waits for the graph.
  template <class Arguments>
  void insert(const Codelet& codelet, const Arguments& arguments, std::span<const Use> uses,
              const Hints& hints) {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    insert(codelet, &arguments, sizeof(Arguments), uses, hints);
  }

  /// Sends the first 'bytes' of the data to another rank, once the tasks inserted before have
  /// written it; receives as many from another rank, once the tasks inserted before no longer need
  /// the old contents. Tags from 0 to kLargestTag distinguish the messages between two ranks.
  void send(DataId data, std::int64_t bytes, int to, int tag, int priority);
  void receive(DataId data, std::int64_t bytes, int from, int tag);

  /// True once a task has called stop(), the caller has cancelled or a task has thrown: no more
  /// tasks need to be inserted. With several ranks all tasks must still be inserted, because other
  /// ranks wait for messages; these tasks then end at once.
  bool stopped() const;

  /// Waits for all tasks. Rethrows the exception of a task.
  void wait();
  /// Allows more tasks to be inserted after wait(). With several ranks this is collective, and
  /// until it is called the communicator is free.
  void go_on();

  /// Lets no further task start and waits for those that run.
  void abandon() noexcept;

  int workers() const;
  GraphTimes times() const;

 private:
  friend class Codelet;
  struct Impl;
  struct Memory {
    const void* data;
    std::int64_t rows, cols, ld, element;  ///< as in Piece
    bool read_only;
  };
  DataId add(const Memory& memory);
  static void run_on_worker(void* buffers[], void* argument);
  void insert(const Codelet& codelet, const void* arguments, std::size_t size,
              std::span<const Use> uses, const Hints& hints);
  void message(DataId data, std::int64_t bytes, int peer, int tag, int priority, bool out);

  std::unique_ptr<Impl> impl_;
};

/// Declared after the memory that tasks use, so that this memory still exists if inserting the
/// tasks fails half-way: when the guard is destroyed, no task runs any more.
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
