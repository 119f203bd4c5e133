// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/communicator.hpp"

namespace stepwell::engine {

/// The messages of a graph, on a thread of their own, and the news that a rank gives up.
///
/// A rank may have one core, which computes: the thread looks at what is under way when a task has
/// ended, and again and again only while a worker has nothing to do. (StarPU-MPI's thread asks
/// without a pause while a message is expected, which is always.)
class Messenger {
 public:
  /// 'alarmed' is called on the thread, once, when another rank has given up. 'busy' says whether
  /// everybody here has something to do: then there is no hurry. While the messenger lives nobody
  /// else uses the communicator.
  Messenger(Communicator& ranks, std::function<void()> alarmed, std::function<bool()> busy);
  ~Messenger();
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  /// Starts a message; 'done' is called on the thread when it has gone or come. Of several that
  /// wait to be started the one with the highest priority goes first. Tags from 0 to kLargestTag.
  void send(std::span<const std::byte> x, int to, int tag, int priority,
            std::function<void()> done);
  void receive(std::span<std::byte> x, int from, int tag, std::function<void()> done);

  /// A task has ended: this is a good moment to look.
  void poll_now();

  /// Tells all ranks that this one gives up.
  void alarm();

  /// Collective: returns when the other ranks have said, too, that they are through or give up, and
  /// all messages are done.
  void finish();
  bool finished() const { return !thread_.joinable(); }

 private:
  struct Job {
    std::span<const std::byte> out;
    std::span<std::byte> in;
    int peer = 0;
    int tag = 0;
    int priority = 0;
    std::function<void()> done;
  };
  void run() noexcept;
  void pass_messages();
  bool start_jobs();
  bool poll();
  void tell(bool giving_up);

  Communicator& ranks_;
  std::function<void()> alarmed_;
  std::function<bool()> busy_;
  std::vector<int> next_, before_;  ///< the ranks that news is passed on to, and comes from
  std::vector<std::byte> news_;     ///< from each of those

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Job> queue_;
  bool give_up_ = false;
  bool finishing_ = false;
  bool poll_now_ = false;
  std::atomic<bool> asleep_{false};

  // The thread's own.
  std::map<Communicator::Request, std::function<void()>> under_way_;
  bool told_ = false;
  std::byte word_{};       ///< what was told
  std::size_t heard_ = 0;  ///< ranks of before_ that have said how they end
  std::thread thread_;
};

}  // namespace stepwell::engine
