// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "stepwell/context.hpp"

namespace stepwell::engine {

class Crew;

/// A few threads that all run the same function. The caller is thread 0. Between runs they spin
/// before they sleep: waking up takes longer than a kernel. For work that comes in pieces of
/// microseconds and is bound by memory, as refinement is, where a graph of tasks costs more than
/// the pieces.
///
/// What a job throws ends its own part of the run; the others go on, and the caller gets the first
/// of it at the end. So one that others wait for, in barrier() or otherwise, must not throw.
///
/// The other threads come with the first run and stay until rest() or the team's end; then they
/// are kept for the next team that wants as many. There are never more of them in a process than
/// the team that asks wants: those of the teams at work are counted, and who comes late works with
/// fewer or alone.
class Team {
 public:
  /// Starts nothing. Has fewer threads where the system gives no more.
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// The caller included; the same until rest(). One in a forked child, which has none of its
  /// parent's threads.
  int size();

  /// Calls job(thread) on every thread and returns when all are done.
  void run(const std::function<void(int)>& job);

  /// Calls body(i) for i = 0 .. count - 1, begun in this order, each on whichever thread is free.
  /// body(i) may wait for what an earlier i does: that has begun.
  void for_each(std::int64_t count, const std::function<void(std::int64_t)>& body);

  /// Within a job: waits until all threads have come here. Each thread calls it equally often.
  void barrier();

  /// Lets others have the threads, for a team that lives longer than a call.
  void rest();

 private:
  void engage();

  int threads_;
  bool engaged_ = false;
  std::unique_ptr<Crew> crew_;  ///< null: the caller alone
};

/// A team at rest at the end of a scope.
class Shift {
 public:
  explicit Shift(Team& team) : team_(team) {}
  ~Shift() { team_.rest(); }
  Shift(const Shift&) = delete;
  Shift& operator=(const Shift&) = delete;

 private:
  Team& team_;
};

/// How many threads a call's team should have: the context's; without one, as many as the process
/// may have. Teams have no StarPU, so that its limit is none of theirs.
int team_threads(const Context* context);

}  // namespace stepwell::engine
