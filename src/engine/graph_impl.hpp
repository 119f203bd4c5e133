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
#include "core/first_error.hpp"
#include "core/machine/fp_scope.hpp"
#include "engine/graph.hpp"
#include "engine/messenger.hpp"

/// What a graph keeps, for the files that implement it.
namespace stepwell::engine {

/// Tasks that are inserted before the workers wake up: then there is one that can begin, and the
/// messages that the first of them wait for are asked for.
inline constexpr std::int64_t kBeforeWorkers = 64;

/// Tasks that may wait at StarPU: enough for any number of workers, little enough memory.
inline constexpr std::int64_t kMostPending = 4096;

/// What StarPU takes for those and for what it keeps of the data, at most and about.
inline constexpr std::int64_t kTaskMemory = std::int64_t{32} << 20;

struct Graph::Impl {
  explicit Impl(const GraphOptions& o) : options(o) {
    const bool ranks = options.ranks != nullptr && options.ranks->size() > 1;
    options.workers = options.workers || ranks;
    if (options.workers) {
      require_reserve(kTaskMemory);
      session.emplace(options.settings, Workers::asleep);
    }
    scratch.resize(options.workers ? static_cast<std::size_t>(session->ids()) : 1);
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

  /// Nothing that has not begun runs any more, here and on other ranks.
  void stop() {
    stopped = true;
    if (messenger) messenger->alarm();
  }

  bool cancelled() const {
    return options.progress != nullptr && options.progress->cancel.load(std::memory_order_relaxed);
  }

  /// Runs a body on this thread, unless the graph has been stopped.
  void run(Body body, const void* arguments, void* const* pointers, std::size_t worker) noexcept {
    if (!stopped && cancelled()) stop();
    if (!stopped && !options.dry) {
      const core::FpScope fp;  // a worker has the state of the thread that started it
      ++running;
      try {
        Task task(pointers, scratch[worker].data());
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
    lock.unlock();  // workers that wake up would wait for it
    session->wake();
    lock.lock();
    progressed.wait(lock, [&] { return pending <= most; });
  }

  GraphOptions options;
  SingleThreadedBlas blas;
  std::optional<Session> session;
  std::vector<core::Buffer<std::byte>> scratch;  ///< by worker
  std::vector<void*> memory;                     ///< by DataId
  std::vector<starpu_data_handle_t> handles;     ///< by DataId; with workers only
  std::atomic<bool> stopped{false};
  std::atomic<int> running{0};  ///< tasks
  std::array<std::atomic<std::int64_t>, kPhases> nanoseconds{};
  std::int64_t tasks = 0;
  std::mutex mutex;
  std::condition_variable progressed;
  std::int64_t pending = 0;  ///< tasks and messages
  core::FirstError failure;
  std::optional<Messenger> messenger;  ///< the last member: its thread uses the others
};

}  // namespace stepwell::engine
