// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <queue>

#include "platform.hpp"

/// A simulated machine: work and messages take simulated time.
namespace stepwell::bench::scaling {

/// A message to a rank: a tile of L, or the inverse of a diagonal tile.
struct Message {
  std::int32_t from = 0, to = 0;
  std::int32_t i = 0, k = 0;  ///< i == k: the inverse
  std::int64_t bytes = 0;
  int priority = 0;                 ///< the highest of the messages waiting at a rank is sent first
  std::int32_t begin = 0, end = 0;  ///< the readers of the tile to which 'to' forwards it
};

/// The messages that wait at a rank, ordered by priority, then by arrival.
class Outbox {
 public:
  bool empty() const { return waiting_.empty(); }
  void push(const Message& message) { waiting_.push({message, order_++}); }
  Message pop() {
    const Message message = waiting_.top().message;
    waiting_.pop();
    return message;
  }

 private:
  struct Waiting {
    Message message;
    std::int64_t order = 0;
    bool operator<(const Waiting& other) const {
      return message.priority != other.message.priority ? message.priority < other.message.priority
                                                        : order > other.order;
    }
  };
  std::priority_queue<Waiting> waiting_;
  std::int64_t order_ = 0;
};

/// Is notified when work or a message has ended.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void worked(std::int64_t task) = 0;
  virtual void arrived(const Message& message) = 0;
  /// All events of this moment have been reported: the next tasks and messages may start. Without
  /// this call the order of simultaneous events would determine which task has to wait.
  virtual void settled() = 0;
};

class Machine {
 public:
  virtual ~Machine() = default;
  /// Occupies one worker of a rank for 'seconds', if the worker has a core to itself.
  virtual void work(int rank, double seconds, std::int64_t task) = 0;
  virtual void send(const Message& message) = 0;
  /// Runs until all work is done. Returns the simulated seconds.
  virtual double run(Listener& listener) = 0;
};

/// SimGrid: hosts with cores that their ranks share fairly, a link up and one down for each host to
/// a switch without contention, bandwidth shared max-min fairly by the messages in flight, at most
/// 'streams' for each sender.
std::unique_ptr<Machine> simgrid_machine(const Platform& platform, int ranks, int streams);

/// An event loop of our own, for graphs that take SimGrid hours: messages leave a node one after
/// the other at full bandwidth, and wait at the receiver for those that arrived before. Each worker
/// has a core to itself.
std::unique_ptr<Machine> event_machine(const Platform& platform, int ranks);

}  // namespace stepwell::bench::scaling
