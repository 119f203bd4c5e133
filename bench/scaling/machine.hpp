// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <queue>

#include "platform.hpp"

/// Something that takes simulated time for work and for messages.
namespace stepwell::scaling {

/// A message: a tile of L, or the inverse of a diagonal one, for a rank.
struct Message {
  std::int32_t from = 0, to = 0;
  std::int32_t i = 0, k = 0;  ///< i == k: the inverse
  std::int64_t bytes = 0;
  int priority = 0;                 ///< of those that wait at a rank the highest leaves first
  std::int32_t begin = 0, end = 0;  ///< those of the tile's readers whom 'to' passes it on to
};

/// The messages that wait at a rank: by priority, then first come, first served.
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

/// Who is told that something has ended.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void worked(std::int64_t task) = 0;
  virtual void arrived(const Message& message) = 0;
  /// All that ends at this moment has been told: time to start what comes next. Without it the
  /// order of things that end together would decide who waits.
  virtual void settled() = 0;
};

class Machine {
 public:
  virtual ~Machine() = default;
  /// One worker of a rank is busy for so long, if it has a core to itself.
  virtual void work(int rank, double seconds, std::int64_t task) = 0;
  virtual void send(const Message& message) = 0;
  /// Until nothing is left to do. Returns the simulated seconds.
  virtual double run(Listener& listener) = 0;
};

/// SimGrid: hosts with cores that their ranks share fairly, a link up and one down for each host to
/// a switch without contention, bandwidth shared max-min fairly by the messages in flight, at most
/// 'streams' for each sender.
std::unique_ptr<Machine> simgrid_machine(const Platform& platform, int ranks, int streams);

/// An event loop of our own, for graphs that SimGrid takes hours for: messages leave a node one
/// after the other at full bandwidth, and wait at the receiver for those that came before. Workers
/// have cores to themselves.
std::unique_ptr<Machine> event_machine(const Platform& platform, int ranks);

}  // namespace stepwell::scaling
