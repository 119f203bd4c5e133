// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "core/buffer.hpp"
#include "core/clock.hpp"
#include "core/first_error.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/machine/threads.hpp"
#include "engine/graph.hpp"
#include "engine/messenger.hpp"
#include "engine/pool_run.hpp"
#include "engine/simulation/task_times.hpp"

/// The internals of Graph, for the files that implement it.
namespace stepwell::engine {

/// Number of tasks inserted before the workers wake up: by then a task can begin, and the messages
/// that the first tasks wait for have been requested.
inline constexpr std::int64_t kBeforeWorkers = 64;

/// Approximate upper bound of the memory that StarPU uses for them and for its bookkeeping of data.
inline constexpr std::int64_t kTaskMemory = std::int64_t{32} << 20;

struct Graph::Impl {
  explicit Impl(const GraphOptions& o) : options(o) {
    const bool ranks = options.ranks != nullptr && options.ranks->size() > 1;
    if (ranks) options.run_by = RunBy::starpu;
    if (options.run_by == RunBy::thread_pool) {
      const int threads = options.settings.threads;
      pool.emplace(threads > 0 ? threads : core::default_threads(),
                   [this](Body body, const void* arguments, const Piece* pieces,
                          std::size_t thread) { run(body, arguments, pieces, thread); });
    } else if (options.run_by == RunBy::starpu) {
      require_reserve(kTaskMemory);
      session.emplace(options.settings, Workers::asleep);
    }
    scratch.resize(static_cast<std::size_t>(session ? session->ids() : pool ? pool->threads() : 1));
    for (auto& s : scratch) {
      s = core::Buffer<std::byte>(options.scratch_bytes, core::Contents::any);
    }
    if (ranks) start_messenger();
  }

  void start_messenger() {
    messenger.emplace(
        *options.ranks, [this] { stopped = true; },
        [this] { return running.load() >= session->workers(); });
  }

  /// No further task starts, on this rank and on the others.
  void stop() {
    stopped = true;
    if (messenger) messenger->alarm();
  }

  bool cancelled() const {
    return options.progress != nullptr && options.progress->cancel.load(std::memory_order_relaxed);
  }

  /// Runs a body on this thread, unless the graph has been stopped.
  void run(Body body, const void* arguments, const Piece* pieces, std::size_t worker) noexcept {
    if (!stopped && cancelled()) stop();
    if (!stopped && !options.dry) {
      const core::FpScope fp;  // a worker inherits the FP state of the thread that started it
      ++running;
      const PieceRunner share = [this, worker](std::int64_t count, const SharedPiece& piece) {
        if (!pool) return measure_pieces(count, piece);
        pool->share(worker, count, [&](std::int64_t i, std::size_t thread) {
          const core::FpScope own;
          piece(i, scratch[thread].data());
        });
      };
      try {
        const bool shares = pool || options.measured != nullptr;
        Task task(pieces, scratch[worker].data(), static_cast<int>(worker),
                  shares ? &share : nullptr);
        body(task, arguments);
        for (int p = 0; p < kPhases; ++p) {
          nanoseconds[static_cast<std::size_t>(p)] += task.nanoseconds(static_cast<Phase>(p));
        }
        if (task.stopped()) stop();
      } catch (...) {
        failure.keep(std::current_exception());
        stop();
      }
      --running;
      if (messenger) messenger->poll_now();
    }
    if (options.progress != nullptr) ++options.progress->done;
  }

  /// Runs the pieces that a task would share with others.
  void measure_pieces(std::int64_t count, const SharedPiece& piece) {
    const auto start = core::Clock::now();
    for (std::int64_t i = 0; i < count; ++i) piece(i, scratch[0].data());
    measuring.shared += core::seconds_since(start);
    measuring.phases += 1;
    measuring.pieces += static_cast<double>(count);
  }

  void began_one() {
    const std::lock_guard lock(mutex);
    ++pending;
  }

  void finished_one() {
    const std::lock_guard lock(mutex);
    --pending;
    if (pending == 0 || pending == kMostPending / 2) progressed.notify_all();
  }

  void wait_until_pending(std::int64_t most) {
    std::unique_lock lock(mutex);
    if (pending <= most) return;
    lock.unlock();  // workers need the mutex as they wake up
    session->wake();
    lock.lock();
    progressed.wait(lock, [&] { return pending <= most; });
  }

  GraphOptions options;
  SingleThreadedBlas blas;
  std::optional<Session> session;
  std::optional<PoolRun> pool;
  std::vector<core::Buffer<std::byte>> scratch;  ///< by worker
  std::vector<Piece> home;                       ///< where the caller has the data, by DataId
  std::vector<Piece> inserting;                  ///< data of the task that is being inserted
  std::vector<bool> read_only;                   ///< by DataId
  std::vector<starpu_data_handle_t> handles;     ///< by DataId; with StarPU only
  std::atomic<bool> stopped{false};
  std::atomic<int> running{0};  ///< tasks that run now
  std::array<std::atomic<std::int64_t>, kPhases> nanoseconds{};
  std::int64_t tasks = 0, uses = 0;
  TaskCost measuring;  ///< of the task that runs, if they are measured
  std::mutex mutex;
  std::condition_variable progressed;
  std::int64_t pending = 0;  ///< tasks and messages
  core::FirstError failure;
  std::optional<Messenger> messenger;  ///< the last member: its thread uses the others
};

}  // namespace stepwell::engine
