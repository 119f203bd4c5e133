// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stepwell/error.hpp"

/// The ranks that work together, and what they say to each other. libstepwell itself knows no MPI:
/// src/engine/mpi implements this, in a library of its own.
namespace stepwell::engine {

/// One thread at a time may call it. Collective calls are made by all ranks in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Whether other threads of this process may use other communicators meanwhile.
  virtual bool many_threads() const = 0;

  /// A forked child is no rank: messages and connections stay with its parent.
  bool is_here() const { return process_ == getpid(); }

  // Collective.
  /// x <- the sum over ranks. The same bits on all ranks, and in every run with as many of them.
  virtual void sum(std::span<double> x) = 0;
  /// x <- the largest over ranks.
  virtual void largest(std::span<std::int64_t> x) = 0;
  virtual void broadcast(std::span<std::byte> x, int root) = 0;
  virtual void barrier() = 0;
  /// The sum over the ranks of this machine, which share its memory.
  virtual std::int64_t sum_on_machine(std::int64_t x) = 0;

  // Messages. One between the same two ranks with the same tag does not overtake another. Memory
  // stays the caller's and untouched until the request is done.
  using Request = std::int64_t;
  virtual Request start_send(std::span<const std::byte> x, int to, int tag) = 0;
  virtual Request start_receive(std::span<std::byte> x, int from, int tag) = 0;
  virtual void wait(Request request) = 0;
  /// Those that are done, of all that nobody waits for; each is reported once.
  virtual std::vector<Request> done() = 0;

  /// In messages, collective calls not counted.
  virtual std::int64_t bytes_sent() const = 0;
  virtual std::int64_t messages_sent() const = 0;

  /// Ends all ranks.
  [[noreturn]] virtual void abort(int code) = 0;

 private:
  friend class Hold;
  const pid_t process_ = getpid();
  bool held_ = false;
};

/// A call's hold on its ranks, from beginning to end. Which of two calls at once a message belongs
/// to nobody could tell.
class Hold {
 public:
  /// Throws Error(invalid_argument) if another thread has the same ranks, and Error(unsupported) if
  /// one has others and MPI is for one thread at a time. The other ranks do not hear of it.
  explicit Hold(Communicator& ranks);
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Communicator& ranks_;
};

/// Throws Error(unsupported) in a forked child of a rank. Inline: libstepwell_mpi calls it, too.
inline void require_own_process(bool own) {
  if (own) return;
  throw Error(
      ErrorCode::unsupported,
      "this process was forked by one of MPI's ranks and is none itself, for MPI stays with "
      "its parent; solve here without ranks and with one thread (threads = 1)");
}

/// The largest tag. MPI guarantees 32767 only; MPICH has 2^28 of them, Open MPI 2^31.
inline constexpr int kLargestTag = (1 << 27) - 1;

/// One that all ranks throw.
struct AgreedError : Error {
  using Error::Error;
};

/// An error on any rank becomes an AgreedError on all of them: the lowest rank's. Collective;
/// returns if there is none. 'code' is an ErrorCode as a number, -1: none here.
void agree_on_error(Communicator& ranks, int code, const std::string& message);

}  // namespace stepwell::engine
