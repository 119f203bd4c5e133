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

/// Sends and receives the messages of a graph on a separate thread, and notifies all ranks when a
/// rank gives up.
///
/// A rank may have a single core, which computes: the thread polls the pending messages when a task
/// has ended, and polls repeatedly only while a worker is idle. (StarPU-MPI's thread polls without
/// a pause while a message is expected, which is always the case.)
class Messenger {
 public:
  /// 'alarmed' is called once, on the messenger thread, when another rank has given up. 'busy' says
  /// whether all workers of this rank are busy: then polling is not urgent. Nothing else may use
  /// the communicator until finish() has returned.
  Messenger(Communicator& ranks, std::function<void()> alarmed, std::function<bool()> busy);
  ~Messenger();
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  /// Starts a message; 'done' is called on the messenger thread when it has been sent or received.
  /// Among messages that wait to be started, the one with the highest priority goes first. Tags
  /// from 0 to kLargestTag.
  void send(std::span<const std::byte> x, int to, int tag, int priority,
            std::function<void()> done);
  void receive(std::span<std::byte> x, int from, int tag, std::function<void()> done);

  /// To be called when a task has ended: a good moment to poll.
  void poll_now();

  /// Notifies all ranks that this one gives up.
  void alarm();

  /// Collective: returns when the other ranks have also reported that they have finished or given
  /// up, and all messages are done.
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
  void send_status(bool giving_up);

  Communicator& ranks_;
  std::function<void()> alarmed_;
  std::function<bool()> busy_;
  std::vector<int> successors_, predecessors_;  ///< ranks that status messages go to, and come from
  std::vector<std::byte> statuses_;             ///< status from each rank in predecessors_

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Job> queue_;
  bool give_up_ = false;
  bool finishing_ = false;
  bool poll_now_ = false;
  std::atomic<bool> asleep_{false};

  // Used by the messenger thread only.
  std::map<Communicator::Request, std::function<void()>> under_way_;
  bool status_sent_ = false;
  std::byte status_{};                 ///< the status that was sent
  std::size_t statuses_received_ = 0;  ///< ranks of predecessors_ whose status has arrived
  std::thread thread_;
};

}  // namespace stepwell::engine
