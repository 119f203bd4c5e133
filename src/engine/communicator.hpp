// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stepwell/distributed.hpp"
#include "stepwell/error.hpp"

/// The ranks of a computation and the communication between them. libstepwell itself does not
/// depend on MPI: src/engine/mpi implements this interface in a separate library.
namespace stepwell::engine {

/// One thread at a time may use it. Collective calls are made by all ranks in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Whether other threads of this process may use other communicators at the same time.
  virtual bool many_threads() const = 0;

  /// False in a forked child, which is not a rank: messages and connections stay with its parent.
  bool is_here() const { return process_ == getpid(); }

  // Collective.
  /// x <- the sum over the ranks: the same bits on all ranks, and in every run with the same number
  /// of ranks.
  virtual void sum(std::span<double> x) = 0;
  /// x <- the element-wise maximum over the ranks.
  virtual void largest(std::span<std::int64_t> x) = 0;
  virtual void broadcast(std::span<std::byte> x, int root) = 0;
  virtual void barrier() = 0;
  /// The sum over the ranks of this machine, which share its memory.
  virtual std::int64_t sum_on_machine(std::int64_t x) = 0;

  // Messages. Messages between the same two ranks with the same tag do not overtake each other. The
  // memory stays the caller's and must not be touched until the request is done.
  using Request = std::int64_t;
  virtual Request start_send(std::span<const std::byte> x, int to, int tag) = 0;
  virtual Request start_receive(std::span<std::byte> x, int from, int tag) = 0;
  virtual void wait(Request request) = 0;
  /// The requests that have completed, except those completed by wait(); each is reported once.
  virtual std::vector<Request> done() = 0;

  /// Totals of the messages sent; collective calls are not counted.
  virtual std::int64_t bytes_sent() const = 0;
  virtual std::int64_t messages_sent() const = 0;

  /// Ends all ranks.
  [[noreturn]] virtual void abort(int code) = 0;

 private:
  friend class CommunicatorLock;
  const pid_t process_ = getpid();
  bool locked_ = false;
};

/// A call's exclusive use of its ranks, from beginning to end: messages of two concurrent calls
/// could not be told apart.
class CommunicatorLock {
 public:
  /// Throws Error(invalid_argument) if another thread uses the same ranks, and Error(unsupported)
  /// if another thread uses other ranks and MPI supports only one thread at a time. The other ranks
  /// are not notified.
  explicit CommunicatorLock(Communicator& ranks);
  ~CommunicatorLock();
  CommunicatorLock(const CommunicatorLock&) = delete;
  CommunicatorLock& operator=(const CommunicatorLock&) = delete;

 private:
  Communicator& ranks_;
};

/// Throws Error(unsupported) in a forked child of a rank. Inline, because libstepwell_mpi calls it,
/// too.
inline void require_own_process(bool own) {
  if (own) return;
  throw Error(
      ErrorCode::unsupported,
      "this process was forked by an MPI rank and is not a rank itself, because MPI stays with "
      "the parent process; solve here without ranks and with one thread (threads = 1)");
}

/// The largest tag. MPI guarantees only 32767; MPICH supports 2^28 tags, Open MPI 2^31.
inline constexpr int kLargestTag = (1 << 27) - 1;

/// An error that all ranks throw.
struct AgreedError : Error {
  using Error::Error;
};

/// Collective. If any rank has an error, all ranks throw that of the lowest such rank as an
/// AgreedError; otherwise returns. 'code' is an ErrorCode as an integer; -1: no error on this rank.
void agree_on_error(Communicator& ranks, int code, const std::string& message);

}  // namespace stepwell::engine

namespace stepwell {

/// The implementation of Ranks.
struct RanksData {
  std::unique_ptr<engine::Communicator> communicator;

  static engine::Communicator& of(const Ranks& ranks) { return *ranks.data_->communicator; }
  static Ranks make(std::unique_ptr<engine::Communicator> communicator) {
    return Ranks(std::make_shared<RanksData>(RanksData{std::move(communicator)}));
  }
};

}  // namespace stepwell
