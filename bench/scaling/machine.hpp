// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "platform.hpp"

/// Something that takes simulated time for work and for messages.
namespace stepwell::scaling {

/// A message: a tile of L, or the inverse of a diagonal one, for a rank.
struct Message {
  std::int32_t from = 0, to = 0;
  std::int32_t i = 0, k = 0;  ///< i == k: the inverse
  std::int64_t bytes = 0;
};

/// Who is told that something has ended. It starts what comes next.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void worked(std::int64_t task) = 0;
  virtual void arrived(const Message& message) = 0;
};

class Machine {
 public:
  virtual ~Machine() = default;
  /// One worker of a rank is busy for so long, if it has a core to itself.
  virtual void work(int rank, double seconds, std::int64_t task) = 0;
  /// Messages of a rank leave in the order in which they were given.
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
