// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stepwell/export.hpp"

namespace stepwell {

/// The worker threads that large calls run on. They start at the first call that needs them and
/// sleep between calls. A process has one set of workers: calls from several threads share them,
/// and each call waits only for its own work. Most programs need no context: a call without one
/// uses as many workers as the process may use CPUs (by affinity and cgroup quota, read when the
/// workers start), and the workers stay until the process ends.
///
/// A program that wants a different number of workers, or wants to stop them, creates a context and
/// passes it to its calls. If the workers were started for another context, a call restarts them
/// with its own number when they are idle, and shares them when they are busy.
///
/// Workers do not survive fork(): a child that needs them gets Error(unsupported) at once. The
/// child can use one thread (threads = 1), or be forked before the workers start.
class STEPWELL_API Context {
 public:
  /// Starts no threads. threads: 0: as many as allowed; 1: only the caller's thread, no workers.
  /// Throws Error(invalid_argument) if it is negative.
  explicit Context(int threads = 0);
  /// Stops the workers if they run for this context and no call is using them.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The number of threads requested, or the number that 0 means now; at most the number that
  /// StarPU was built for.
  int threads() const;

 private:
  int threads_;
};

}  // namespace stepwell
